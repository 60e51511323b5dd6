//go:build unix && !linux

package rpc

import "errors"

// reopen is for systems on which opening a descriptor's file makes a new one. Here it would not.
func reopen(int, int) (int, error) { return 0, errors.ErrUnsupported }
