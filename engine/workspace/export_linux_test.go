package workspace

// RemoteKind is tested from inside because most of these file systems cannot be
// mounted in a test.
var RemoteKind = remoteKind

// MountedNames is tested from inside because a test cannot choose the mounts of its
// machine.
func MountedNames(mountinfo, path string) []string {
	return mountedNames(parseMounts(mountinfo), path)
}
