package endpoint

import (
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A redirect is a file that leads a browser to the page. Only this user can read it, but every user can read the
// arguments of a program. It stays until its code has expired: the next writer removes it then, or the server when it
// ends.

// redirectTime is how long the code in a redirect is valid.
const redirectTime = time.Minute

// redirectName is the name pattern of a redirect to a process, with "*" for the random part.
const redirectName = "waybill-open-%d-%s.html"

// WriteRedirect writes a redirect to a link into the folder of the endpoint file.
func WriteRedirect(door *Endpoint, link string) (path string, err error) {
	if door.path == "" {
		return "", errors.New("there is no state folder for a file that leads there")
	}
	folder := filepath.Dir(door.path)
	late := time.Now().Add(-redirectTime)
	removeRedirects(folder, func(_ int, written time.Time) bool { return written.Before(late) })
	f, err := os.CreateTemp(folder, fmt.Sprintf(redirectName, door.PID, "*")) // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(redirectPage(link))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func redirectPage(link string) string {
	to := html.EscapeString(link)
	return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=` + to + `">
<title>waybill</title>
<p><a href="` + to + `">Open the page of waybill</a></p>
`
}

// removeRedirects removes those that fit.
func removeRedirects(folder string, fits func(pid int, written time.Time) bool) {
	entries, _ := os.ReadDir(folder) // a folder that is not there has none
	for _, entry := range entries {
		var pid int
		var drawn uint64
		_, err := fmt.Sscanf(entry.Name(), "waybill-open-%d-%d.html", &pid, &drawn)
		if err != nil || entry.Name() != fmt.Sprintf(redirectName, pid, fmt.Sprint(drawn)) {
			continue
		}
		if info, err := entry.Info(); err == nil && fits(pid, info.ModTime()) {
			_ = os.Remove(filepath.Join(folder, entry.Name())) // the code in it counts no more
		}
	}
}

// FileURL returns the address of a file.
func FileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // as a drive has it
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
