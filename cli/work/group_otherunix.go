//go:build unix && !linux

package work

import "syscall"

// endWithParent does nothing: this system cannot end a process with its parent.
func endWithParent(*syscall.SysProcAttr) {}
