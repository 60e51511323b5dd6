// Package examples holds the example workspace and the example plan, so that the demo can play with copies wherever
// the binary is. It refuses to hold code: what runs in the folders beside it are programs of hosts.
package examples

import (
	"embed"
	"io/fs"
)

//go:embed all:workspace all:clock
var files embed.FS

// Workspace is the example workspace, read-only.
func Workspace() (fs.FS, error) { return fs.Sub(files, "workspace") }

// Clock is a plan of six items, its requirements, and a script for the fake agents that work on it; read-only.
func Clock() (fs.FS, error) { return fs.Sub(files, "clock") }
