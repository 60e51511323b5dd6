//go:build unix

package wire

import (
	"errors"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Stdio takes over stdin and stdout for a connection. It must be called once, before anything else reads or writes
// them. It returns separate descriptors, which no child inherits. Afterwards, output that the program prints to stdout
// goes to stderr, and its stdin is empty. Writing to a closed connection is an error instead of a signal.
//
// Close and deadlines interrupt a pipe or socket, but not a terminal or a file.
func Stdio() (in, out *os.File, err error) {
	// Notify without a reader is better than Ignore, which every child process would inherit.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	if in, err = ownDescriptor(unix.Stdin, unix.O_RDONLY, "stdin"); err != nil {
		return nil, nil, err
	}
	if out, err = ownDescriptor(unix.Stdout, unix.O_WRONLY, "stdout"); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	if err = replaceStdio(); err != nil {
		return nil, nil, errors.Join(err, in.Close(), out.Close())
	}
	return in, out, nil
}

// replaceStdio points stdin at the null device and stdout at stderr.
func replaceStdio() error {
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

// ownDescriptor returns a second descriptor for the same file, with a number above 2.
func ownDescriptor(fd, mode int, name string) (*os.File, error) {
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
