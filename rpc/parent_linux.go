package rpc

import "golang.org/x/sys/unix"

// A process is held by a descriptor, so that another one which gets its id later is not mistaken for it.
type process struct {
	id int
	fd int // -1 where the kernel gives none
}

// findProcess gives nil if there is no such process.
func findProcess(id int) *process {
	if fd, err := unix.PidfdOpen(id, 0); err == nil {
		return &process{id: id, fd: fd}
	}
	if !exists(id) {
		return nil
	}
	return &process{id: id, fd: -1}
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
