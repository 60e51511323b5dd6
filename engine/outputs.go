package engine

import (
	"path/filepath"

	"waybill/engine/planfile"
)

// MaxOutput is the size in bytes above which a result is refused. A file that is larger is not read.
const MaxOutput = 8 << 20

// Outputs reads the files in which agents leave their results: those of the workspace, and those of one more
// folder, if the host has named one. It reads nothing that lies elsewhere, whatever links say. The zero value
// reads nothing.
type Outputs struct {
	Workspace string // to which relative paths belong
	Other     string // "" for none
}

// Read gives the text of a file, by a path relative to the workspace or by an absolute one into either
// folder. An error is a *planfile.Error, or says that the folder itself cannot be read.
func (o Outputs) Read(path string) (string, error) {
	if !filepath.IsAbs(path) && o.Workspace != "" { // else it would be a path into the folder of the process
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

// spellings gives the absolute names of a folder: as it was given, and without links.
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

// readOutput opens the folder each time: a result is read once, and nothing else is kept open for it.
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
