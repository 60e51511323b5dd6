//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// apart has a program run in a session of its own, so that what is typed at this terminal does not reach it.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
