package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Known is a workspace that a state folder below a StateBase remembers.
type Known struct {
	ID       string
	Root     string // as it was last seen, or "" with Err
	StateDir string
	Err      error // why the state folder does not say which workspace it belongs to
}

// Every returns the workspaces that have a state folder below the base, by Root. It leaves out files, and folders without
// a record of a workspace. A base that does not exist has none.
func Every(base string) ([]Known, error) {
	entries, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the workspaces of this user: %w", err)
	}
	var all []Known
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		k := Known{ID: entry.Name(), StateDir: filepath.Join(base, entry.Name())}
		var id *Identity
		switch id, k.Err = readIdentity(filepath.Join(k.StateDir, identityFile)); {
		case k.Err != nil:
		case id == nil:
			continue
		default:
			k.Root = id.Root
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b Known) int { return cmp.Or(cmp.Compare(a.Root, b.Root), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

// Gone returns why the folder cannot be used any more, or "". It waits for the disk of the folder.
func (k Known) Gone() string {
	info, err := os.Stat(k.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the folder was moved or deleted, or its disk is away"
	case err != nil:
		return "the folder cannot be entered"
	case !info.IsDir():
		return "a file has its place"
	}
	return ""
}
