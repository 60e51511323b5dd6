//go:build unix

package sqlite_test

import "syscall"

// clearUmask makes the mask of this process take nothing from the modes of its files.
func clearUmask() { syscall.Umask(0) }
