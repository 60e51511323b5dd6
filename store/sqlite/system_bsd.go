//go:build darwin || freebsd

package sqlite

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func volumeOf(dir string) (volume, error) {
	var st unix.Statfs_t
	if err := ignoringEINTR(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return volume{}, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	v := volume{free: uint64(st.Bavail) * uint64(st.Bsize), size: int64(st.Blocks) * int64(st.Bsize), name: unix.ByteSliceToString(fileSystemName(&st))}
	switch v.name {
	case "nfs", "smbfs", "afpfs", "webdav", "ftp", "macfuse", "osxfuse", "fusefs":
		v.remote = true
	case "tmpfs":
		v.volatile = true
	}
	return v, nil
}

func fileSystemName(st *unix.Statfs_t) []byte {
	name := make([]byte, 0, len(st.Fstypename))
	for _, c := range st.Fstypename {
		name = append(name, byte(c))
	}
	return name
}

func allocate(f *os.File, size int64) error { return fill(f, size) }
