//go:build !linux

package watcher

import (
	"errors"
	"syscall"
)

// advice says what uses up descriptors: each file of a watched folder takes one.
func advice(err error) string {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return "file descriptors are used up; raise the limit with: ulimit -n"
	}
	return ""
}
