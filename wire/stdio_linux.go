package wire

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// reopen opens a pipe once more. A duplicate would share the non-blocking mode with every other process that holds the
// pipe, such as a shell.
func reopen(fd, mode int) (int, error) {
	again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), mode|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("reopen descriptor %d: %w", fd, err)
	}
	return again, nil
}
