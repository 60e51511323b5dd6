//go:build unix

package wire

import (
	"errors"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Stdio takes stdin and stdout over for a conversation, and must be called once, before anything else
// can read or write them. It gives them on descriptors of their own, which no child inherits. What the
// program itself prints to stdout from here on goes to stderr, and what it reads from stdin is empty.
// Writing to a host that is gone is an error from here on, not a signal.
//
// A pipe or socket can be interrupted by Close and by deadlines; a terminal or a file cannot.
func Stdio() (in, out *os.File, err error) {
	// To be notified of the signal, and not to listen, is better than to ignore it: that would be
	// inherited by every program that is started from here.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	if in, err = private(unix.Stdin, unix.O_RDONLY, "stdin"); err != nil {
		return nil, nil, err
	}
	if out, err = private(unix.Stdout, unix.O_WRONLY, "stdout"); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	if err = vacate(); err != nil {
		return nil, nil, errors.Join(err, in.Close(), out.Close())
	}
	return in, out, nil
}

// vacate puts something harmless in the place of stdin and stdout.
func vacate() error {
	nowhere, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("vacate stdin: %w", err)
	}
	defer func() { _ = nowhere.Close() }()
	if err := unix.Dup2(int(nowhere.Fd()), unix.Stdin); err != nil {
		return fmt.Errorf("vacate stdin: %w", err)
	}
	if err := unix.Dup2(unix.Stderr, unix.Stdout); err != nil {
		return fmt.Errorf("vacate stdout: %w", err)
	}
	return nil
}

// private gives a descriptor a second number that is not one of the first three.
func private(fd, mode int, name string) (*os.File, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	kind := st.Mode & unix.S_IFMT
	if kind == unix.S_IFIFO {
		if again, err := reopen(fd, mode); err == nil {
			return os.NewFile(uintptr(again), name), nil
		}
	}
	second, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("duplicate %s: %w", name, err)
	}
	if kind == unix.S_IFIFO || kind == unix.S_IFSOCK {
		if err := unix.SetNonblock(second, true); err != nil {
			return nil, errors.Join(fmt.Errorf("unblock %s: %w", name, err), unix.Close(second))
		}
	}
	return os.NewFile(uintptr(second), name), nil
}
