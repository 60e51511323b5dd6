//go:build unix

package conn

import (
	"errors"
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// immediate returns a function that writes as much as out accepts without blocking, or nil if out may block. Writing
// nothing is not an error.
func immediate(out io.Writer) func(text []byte) (int, error) {
	file, ok := out.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	flags := 0
	if raw.Control(func(fd uintptr) { flags, err = unix.FcntlInt(fd, unix.F_GETFL, 0) }) != nil || err != nil || flags&unix.O_NONBLOCK == 0 {
		return nil
	}
	return func(text []byte) (n int, err error) {
		outer := raw.Write(func(fd uintptr) bool {
			n, err = unix.Write(int(fd), text)
			return true
		})
		if outer != nil {
			return 0, outer
		}
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
			err = nil
		}
		return max(n, 0), err
	}
}
