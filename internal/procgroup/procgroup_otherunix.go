//go:build unix && !linux

package procgroup

import "syscall"

// endWithParent does nothing: this system cannot end a process with its parent.
func endWithParent(*syscall.SysProcAttr) {}
