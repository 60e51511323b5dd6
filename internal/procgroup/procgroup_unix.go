//go:build unix

// Package procgroup starts a command in a process group of its own, so that its processes can be ended with it.
package procgroup

import (
	"os/exec"
	"syscall"
)

// Set makes a command that is not started yet the leader of a process group. It gets no key signals of this process. On
// Linux it is killed when the thread that starts it ends; the caller locks its goroutine to its thread.
func Set(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// Detach is Set for a command that also must not reach the terminal of this process.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	endWithParent(cmd.SysProcAttr)
}

// Terminate asks the processes of the group to end.
func Terminate(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// Kill kills the remaining processes of the group, if any.
func Kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
