package workspace

import (
	"path/filepath"
	"strings"
)

// Synced is the kind that RemoteFS gives a folder which a program copies to other
// computers. Its files are local: it can be watched, but is no place for a database.
const Synced = "synced"

// RemoteFS reports whether path, or the nearest folder above it that exists, is on a
// file system whose files change without this system's knowledge or whose locks cannot
// be relied on: nfs, smb, cifs, 9p, fuse, vboxsf and their kin, or a folder of
// Dropbox, iCloud, OneDrive or Google Drive (kind Synced), which is told by its name
// only. Kind names what was found. An answer that the system refuses to give is no.
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

// syncedName reports whether a folder on the way has the name that a sync program
// gives its own.
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
