package workspace

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// fileSystem returns "smb" for network drives and for paths of the form \\server\share.
func fileSystem(path string) (kind string, known bool) {
	volume := filepath.VolumeName(path)
	if strings.HasPrefix(volume, `\\`) {
		return "smb", true
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err != nil {
		return "", false
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "smb", true
	}
	return "", true
}
