//go:build unix && !linux

package wire

import "errors"

// reopen is for systems on which opening a descriptor's file makes a new one. Here it would not.
func reopen(int, int) (int, error) { return 0, errors.ErrUnsupported }
