package workspace

import "golang.org/x/sys/unix"

// fileSystem returns the file system of path if it is remote. known is false if the system did not say. All FUSE file
// systems count as remote, because most are.
func fileSystem(path string) (kind string, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return "", false
	}
	return remoteKind(uint32(st.Type)), true
}

// remoteKind returns the name of a remote file system by its magic number. The type of st.Type differs between
// architectures, but the numbers have 32 bits.
func remoteKind(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "smb"
	case unix.CIFS_SUPER_MAGIC:
		return "cifs"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	case 0x786f4256: // not in the system's headers: VirtualBox brings its own driver
		return "vboxsf"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	case unix.NCP_SUPER_MAGIC:
		return "ncp"
	}
	return ""
}
