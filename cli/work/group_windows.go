package work

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// group starts a command in a process group of its own, so that it gets no key signals of this process.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// ask asks the command to end, like the interrupt key.
func ask(cmd *exec.Cmd) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(cmd.Process.Pid))
}

// end kills the command, if WaitDelay has not done it yet.
func end(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
