package workspace

import (
	"path/filepath"
	"strings"
)

// Synced is the kind that RemoteFS reports for a folder that a program copies to other computers. It can be watched,
// but a database in it may be damaged.
const Synced = "synced"

// RemoteFS reports whether path is on a file system whose files change without the system's knowledge, or whose locks
// are unreliable. Such are network and FUSE file systems, and the folders of sync programs such as Dropbox, which are
// known by name only. A missing path counts as its nearest parent. If the system cannot tell, the answer is no.
func RemoteFS(path string) (kind string, remote bool) {
	for dir := path; ; dir = filepath.Dir(dir) {
		kind, known := fileSystem(dir)
		if kind != "" {
			return kind, true
		}
		if known || filepath.Dir(dir) == dir {
			break
		}
	}
	if syncedName(path) {
		return Synced, true
	}
	return "", false
}

// syncedName reports whether a folder of the path has the name of a sync program's folder.
func syncedName(path string) bool {
	names := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '\\' })
	for i, name := range names {
		switch name {
		case "Dropbox", "OneDrive", "iCloudDrive", "iCloud Drive", "Google Drive", "GoogleDrive":
			return true
		case "Mobile Documents", "CloudStorage": // where macOS keeps iCloud and the others
			if i > 0 && names[i-1] == "Library" {
				return true
			}
		}
		if strings.HasPrefix(name, "OneDrive - ") || strings.HasPrefix(name, "Dropbox (") {
			return true
		}
	}
	return false
}
