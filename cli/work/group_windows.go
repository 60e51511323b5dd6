package work

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// group gives a command a process group of its own, so that a key that is pressed for this process is not meant for it.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// ask asks the command to end, as the key does that interrupts a program.
func ask(cmd *exec.Cmd) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(cmd.Process.Pid))
}

// end kills the command, which is what the delay of its end has done already.
func end(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
