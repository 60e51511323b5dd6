package wire

import "golang.org/x/sys/unix"

// A process holds a descriptor, so that a later process with the same id is not mistaken for it.
type process struct {
	id int
	fd int // -1 if the kernel does not support pidfd
}

// findProcess returns the process with this id and whether it exists.
func findProcess(id int) (p *process, there bool) {
	if fd, err := unix.PidfdOpen(id, 0); err == nil {
		return &process{id: id, fd: fd}, true
	}
	if !exists(id) {
		return nil, false
	}
	return &process{id: id, fd: -1}, true
}

// gone reports whether the process has ended, even if its parent has not waited for it.
func (p *process) gone() bool {
	if p.fd < 0 {
		return !exists(p.id)
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

func (p *process) close() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
	}
}
