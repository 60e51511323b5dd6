package workspace

// RemoteKind is exported for tests because most of these file systems cannot be mounted in a test.
var RemoteKind = remoteKind

// MountedNames is exported for tests because a test cannot choose the mounts of its machine.
func MountedNames(mountinfo, path string) []string {
	return mountedNames(parseMounts(mountinfo), path)
}
