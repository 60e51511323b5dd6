//go:build !linux

package watcher

import (
	"errors"
	"syscall"
)

// advice returns how to raise the limit of descriptors, of which each file of a watched folder takes one.
func advice(err error) string {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return "file descriptors are used up; raise the limit with: ulimit -n"
	}
	return ""
}
