//go:build unix

package work

import (
	"os/exec"
	"syscall"
)

// group starts a command in a process group of its own. The command gets no key signals of this process, and its
// children can be ended with it.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// ask asks the processes of the group to end.
func ask(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// end kills the remaining processes of the group, if any.
func end(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
