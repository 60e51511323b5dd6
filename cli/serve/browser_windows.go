package serve

import (
	"os/exec"
	"syscall"
)

// apart starts a program in a new process group, so that it gets no key signals of this console.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
