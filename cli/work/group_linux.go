package work

import "syscall"

// bound has a command end when this process does, however that ends: an attempt that nobody holds a lease of is begun
// again, and two agents would be at the same work.
func bound(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
