package workspace

import (
	"fmt"
	"net/url"
	"strings"
)

// folderPath turns a path or a file URI into a path of the system goos. Hosts do not follow the URI standard, so "#"
// and "?" belong to the path, and an invalid "%" stays as it is.
func folderPath(text, goos string) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("contains a NUL character")
	}
	scheme, rest, ok := strings.Cut(text, ":")
	switch {
	case ok && strings.EqualFold(scheme, "file"):
	case ok && len(scheme) > 1 && strings.HasPrefix(rest, "//"):
		return "", fmt.Errorf("is a %s: address; only file: can be opened", scheme)
	default:
		return text, nil
	}
	host, path := "", rest
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, path = after, ""
		if i := strings.IndexByte(after, '/'); i >= 0 {
			host, path = after[:i], after[i:]
		}
	}
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	if strings.EqualFold(host, "localhost") {
		host = ""
	}
	if strings.ContainsRune(path, 0) || !strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("is not an absolute file: address, such as file:///home/you/project")
	}
	if goos == "windows" {
		return windowsPath(host, path), nil
	}
	if host != "" {
		return "", fmt.Errorf("names a file on another computer, %q", host)
	}
	return path, nil
}

// windowsPath returns the path of a URI with its drive or server.
func windowsPath(host, path string) string {
	backslashed := strings.ReplaceAll(path, "/", `\`)
	if host != "" {
		return `\\` + host + backslashed
	}
	if len(path) > 2 && path[2] == ':' {
		drive := upperDrive(backslashed[1:])
		if len(drive) == 2 {
			drive += `\`
		}
		return drive
	}
	return backslashed
}
