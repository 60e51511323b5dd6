// Package resultfile reads results that agents leave in files. It refuses every file outside the folders that the host names.
package resultfile

import (
	"path/filepath"

	planfile "waybill/plan/file"
)

// MaxBytes bounds the size of a result in bytes. A larger file is not read.
const MaxBytes = 8 << 20

// Folders are those that results are read from: the workspace, and one more that the host may name. No link is followed
// out of them. The zero value reads nothing.
type Folders struct {
	Workspace string // relative paths start here
	Other     string // "" for none
}

// Read returns the text of a file by a relative path in the workspace, or by an absolute path in either folder. An
// error is a *planfile.Error, or says that the folder cannot be read.
func (f Folders) Read(path string) (string, error) {
	if !filepath.IsAbs(path) && f.Workspace != "" { // otherwise the path would start in the folder of the process
		return read(f.Workspace, path)
	}
	for _, dir := range []string{f.Workspace, f.Other} {
		for _, name := range spellings(dir) {
			if rel, err := filepath.Rel(name, path); err == nil && filepath.IsLocal(rel) {
				return read(dir, filepath.ToSlash(rel))
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

// read opens the folder for each file, because a result is read once.
func read(dir, rel string) (string, error) {
	if filepath.Clean(rel) == "." {
		return "", &planfile.Error{Path: rel, Reason: planfile.NotRegular}
	}
	root, err := planfile.Open(dir, planfile.Options{MaxBytes: MaxBytes})
	if err != nil {
		return "", &planfile.Error{Path: rel, Reason: planfile.Unreadable, Err: err}
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	file, err := root.Read(rel, nil)
	return file.Text, err
}
