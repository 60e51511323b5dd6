package workspace

import (
	"strings"

	"golang.org/x/sys/unix"
)

// fileSystem returns the file system of path if it is remote. known is false if the system did not say. FUSE file
// systems report themselves as local.
func fileSystem(path string) (kind string, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return "", false
	}
	name := unix.ByteSliceToString(st.Fstypename[:])
	if st.Flags&unix.MNT_LOCAL == 0 || strings.Contains(name, "fuse") {
		return name, true
	}
	return "", true
}
