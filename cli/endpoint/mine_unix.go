//go:build unix

package endpoint

import (
	"io/fs"
	"os"
	"syscall"
)

// Mine reports whether a file belongs to this user.
func Mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
