//go:build unix

package serve

import (
	"os/exec"
	"syscall"
)

// apart starts a program in a new session, so that it gets no key signals of this terminal.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
