package sqlite

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// remote names the file systems on which SQLite's locks and shared memory do not work between machines.
func remoteName(magic int64) (name string, remote bool) {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "NFS", true
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB", true
	case unix.V9FS_MAGIC:
		return "9p", true
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE", true
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS", true
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph", true
	case unix.CODA_SUPER_MAGIC:
		return "Coda", true
	case 0x786f4256:
		return "vboxsf", true
	case 0x0bd00bd0:
		return "Lustre", true
	}
	return "", false
}

func volumeOf(dir string) (volume, error) {
	var st unix.Statfs_t
	if err := ignoringEINTR(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return volume{}, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	v := volume{free: st.Bavail * uint64(st.Bsize), size: int64(st.Blocks) * st.Bsize}
	v.name, v.remote = remoteName(int64(st.Type))
	if st.Type == unix.TMPFS_MAGIC || st.Type == unix.RAMFS_MAGIC {
		v.name, v.volatile = "tmpfs", true
	}
	return v, nil
}

// allocate returns the file that many bytes of the disk.
func allocate(f *os.File, size int64) error {
	err := ignoringEINTR(func() error { return unix.Fallocate(int(f.Fd()), 0, 0, size) })
	if errors.Is(err, unix.EOPNOTSUPP) {
		return fill(f, size)
	}
	return described(err, "allocate", f)
}
