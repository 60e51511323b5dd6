//go:build unix && !linux

package wire

import "errors"

// reopen fails: on this system, opening the file of a descriptor makes no new description.
func reopen(int, int) (int, error) { return 0, errors.ErrUnsupported }
