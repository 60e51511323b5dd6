// Package examples holds the example workspace, so that the demo can play with a copy of it wherever
// the binary is. It refuses to hold code: what runs in the folders beside it are programs of hosts.
package examples

import (
	"embed"
	"io/fs"
)

//go:embed all:workspace
var files embed.FS

// Workspace is the example workspace, read-only.
func Workspace() (fs.FS, error) { return fs.Sub(files, "workspace") }
