//go:build unix

package output

import (
	"os"
	"syscall"
)

// Enduring returns the streams with other descriptors for output and errors. Go ends a process that writes to a closed pipe with
// descriptor 1 or 2; with another, writing returns an error. A stream without another descriptor stays as it is.
//
// CatchClosedPipe does the same with a signal handler, which costs a thread.
func Enduring(s Streams) Streams {
	s.Out, s.Err = duplicate(s.Out), duplicate(s.Err)
	return s
}

func duplicate(f *os.File) *os.File {
	syscall.ForkLock.RLock() // a child between the two calls would keep the pipe open
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return f
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), f.Name())
}
