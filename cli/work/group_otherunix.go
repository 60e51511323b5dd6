//go:build unix && !linux

package work

import "syscall"

// bound can do nothing here: the system does not end a process with the one that has started it.
func bound(*syscall.SysProcAttr) {}
