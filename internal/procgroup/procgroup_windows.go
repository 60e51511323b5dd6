// Package procgroup starts a command in a process group of its own, so that its processes can be ended with it.
package procgroup

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Set makes a command that is not started yet the leader of a process group, so that it gets no key signals of this
// process.
func Set(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// Detach is Set: this system has no terminals that a command could open.
func Detach(cmd *exec.Cmd) { Set(cmd) }

// Terminate asks the command to end, like the interrupt key.
func Terminate(cmd *exec.Cmd) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(cmd.Process.Pid))
}

// Kill kills the command, if WaitDelay has not done it yet.
func Kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
