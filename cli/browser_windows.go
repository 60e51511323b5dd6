package cli

import (
	"os/exec"
	"syscall"
)

// apart has a program run in a process group of its own, so that what is typed at this console does not reach it.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
