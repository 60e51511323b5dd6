package engine

import (
	"path/filepath"

	planfile "waybill/plan/file"
)

// MaxOutput bounds the size of a result in bytes. A larger file is not read.
const MaxOutput = 8 << 20

// Outputs reads result files from the workspace and from one more folder that the host may name. It follows no link
// out of them. The zero value reads nothing.
type Outputs struct {
	Workspace string // relative paths start here
	Other     string // "" for none
}

// Read returns the text of a file by a relative path in the workspace, or by an absolute path in either folder. An
// error is a *planfile.Error, or says that the folder cannot be read.
func (o Outputs) Read(path string) (string, error) {
	if !filepath.IsAbs(path) && o.Workspace != "" { // otherwise the path would start in the folder of the process
		return readOutput(o.Workspace, path)
	}
	for _, dir := range []string{o.Workspace, o.Other} {
		for _, name := range spellings(dir) {
			if rel, err := filepath.Rel(name, path); err == nil && filepath.IsLocal(rel) {
				return readOutput(dir, filepath.ToSlash(rel))
			}
		}
	}
	return "", &planfile.Error{Path: path, Reason: planfile.OutsideWorkspace}
}

// spellings returns the absolute names of a folder, with and without links.
func spellings(dir string) []string {
	if dir == "" {
		return nil
	}
	var names []string
	if abs, err := filepath.Abs(dir); err == nil {
		names = append(names, abs)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		names = append(names, real)
	}
	return names
}

// readOutput opens the folder for each file, because a result is read once.
func readOutput(dir, rel string) (string, error) {
	if filepath.Clean(rel) == "." {
		return "", &planfile.Error{Path: rel, Reason: planfile.NotRegular}
	}
	root, err := planfile.Open(dir, planfile.Options{MaxBytes: MaxOutput})
	if err != nil {
		return "", &planfile.Error{Path: rel, Reason: planfile.Unreadable, Err: err}
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	file, err := root.Read(rel, nil)
	return file.Text, err
}
