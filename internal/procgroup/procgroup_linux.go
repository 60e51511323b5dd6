package procgroup

import "syscall"

// endWithParent makes a command end with this process, because its attempt starts again after the lease, and two agents would
// then do the same work.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
