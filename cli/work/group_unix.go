//go:build unix

package work

import (
	"os/exec"
	"syscall"
)

// group gives a command a process group of its own, so that a key that is pressed for this process is not meant for it,
// and so that what it starts can be ended with it.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	bound(cmd.SysProcAttr)
}

// ask asks the command to end, and all that it has started.
func ask(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// end kills what is left of them. There may be nothing left.
func end(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
