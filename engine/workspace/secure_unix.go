//go:build unix

package workspace

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// secure checks and repairs the owner and the mode through one open handle, so that dir cannot be replaced in
// between.
func secure(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		if refused := refuseOther(dir); refused != nil {
			return refused
		}
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "fstat", Path: dir, Err: err}
	}
	if me := os.Geteuid(); int(st.Uid) != me {
		return unsafeDir(dir, fmt.Sprintf("belongs to user %d, and this is user %d", st.Uid, me))
	}
	if st.Mode&0o777 == 0o700 {
		return nil
	}
	if err := unix.Fchmod(fd, 0o700); err != nil {
		return &os.PathError{Op: "chmod", Path: dir, Err: err}
	}
	return nil
}
