package cli

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

// A signpost is a file that leads a browser to the page: only this user can read it, whereas everybody can read what a
// program is started with. Nobody can tell when a browser has read it, so it stays until it leads nowhere: whoever
// writes the next one removes it then, or the process that serves the page when it leaves.

// signpostTime is how long a signpost leads anywhere: the code in it counts for a minute.
const signpostTime = time.Minute

// signpostName is the name of one that leads to the process: with "*" for the part that is drawn.
const signpostName = "waybill-open-%d-%s.html"

// writeSignpost writes a signpost to a link, beside the file that says where the door is.
func writeSignpost(door *knock, link string) (path string, err error) {
	if door.path == "" {
		return "", errors.New("there is no state folder for a file that leads there")
	}
	folder := filepath.Dir(door.path)
	late := time.Now().Add(-signpostTime)
	removeSignposts(folder, func(_ int, written time.Time) bool { return written.Before(late) })
	f, err := os.CreateTemp(folder, fmt.Sprintf(signpostName, door.PID, "*")) // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(signpost(link))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func signpost(link string) string {
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

// removeSignposts removes those that fit.
func removeSignposts(folder string, fits func(pid int, written time.Time) bool) {
	entries, _ := os.ReadDir(folder) // a folder that is not there has none
	for _, entry := range entries {
		var pid int
		var drawn uint64
		_, err := fmt.Sscanf(entry.Name(), "waybill-open-%d-%d.html", &pid, &drawn)
		if err != nil || entry.Name() != fmt.Sprintf(signpostName, pid, fmt.Sprint(drawn)) {
			continue
		}
		if info, err := entry.Info(); err == nil && fits(pid, info.ModTime()) {
			_ = os.Remove(filepath.Join(folder, entry.Name())) // the code in it counts no more
		}
	}
}

// fileURL gives the address of a file.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // as a drive has it
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
