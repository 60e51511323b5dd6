package workspace

import "golang.org/x/sys/unix"

// fileSystem names the file system of path if it is a remote one; known is false when
// the system did not say. FUSE covers sshfs, virtual machine shares and containers on
// desktops; the few local ones lose little by being counted.
func fileSystem(path string) (kind string, known bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return "", false
	}
	return remoteKind(uint32(st.Type)), true
}

// remoteKind knows the numbers of remote file systems. The type of st.Type differs
// between architectures, and is signed on most; the numbers have 32 bits.
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
