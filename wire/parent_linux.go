package wire

import "golang.org/x/sys/unix"

// A process is held by a descriptor, so that another one which gets its id later is not mistaken for it.
type process struct {
	id int
	fd int // -1 where the kernel gives none
}

// findProcess reports whether there is such a process.
func findProcess(id int) (p *process, there bool) {
	if fd, err := unix.PidfdOpen(id, 0); err == nil {
		return &process{id: id, fd: fd}, true
	}
	if !exists(id) {
		return nil, false
	}
	return &process{id: id, fd: -1}, true
}

// gone reports whether the process ended, even if nobody has asked how yet.
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
