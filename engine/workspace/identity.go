package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Identity is the folder that a state folder belongs to, as it was last seen.
type Identity struct {
	Root string `json:"root"`
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
}

const identityFile = "workspace.json"

// Remember records in the state folder, which must exist, which folder it belongs to.
// It returns the earlier record if that was another folder: one that was deleted and
// made again, or replaced, so that the stored state may be about other files. The
// device alone does not count, because it is numbered anew at every boot on some
// systems. Nothing is written when nothing changed.
func (w Workspace) Remember() (replaced *Identity, err error) {
	now := Identity{Root: w.Root, Dev: w.Dev, Ino: w.Ino}
	path := filepath.Join(w.StateDir, identityFile)
	before, err := readIdentity(path)
	if err != nil {
		return nil, fmt.Errorf("read the identity of the workspace: %w", err)
	}
	if before != nil && before.Ino != now.Ino {
		replaced = before
	}
	if before == nil || *before != now {
		if err := writeIdentity(path, now); err != nil {
			return nil, fmt.Errorf("record the identity of the workspace: %w", err)
		}
	}
	return replaced, nil
}

// Former gives the folder that the state belongs to, if that is another one than this, as Remember would, and changes
// nothing.
func (w Workspace) Former() *Identity {
	before, err := readIdentity(filepath.Join(w.StateDir, identityFile))
	if err != nil || before == nil || before.Ino == w.Ino {
		return nil
	}
	return before
}

// remembered reports whether the folder at the canonical path dir has been a workspace:
// its state folder is there and names this very folder, not another one that was at
// the path before. It looks at one file, and only that of dir's own state.
func (s Sources) remembered(dir string) bool {
	if s.StateBase == "" {
		return false
	}
	id, err := readIdentity(filepath.Join(s.StateBase, idOf(identityPath(dir)), identityFile))
	if err != nil || id == nil || id.Root != dir {
		return false
	}
	_, ino, err := inodeOf(dir)
	return err == nil && ino == id.Ino
}

// readIdentity returns nil when there is no record, or none that can be understood:
// the record only serves a warning, so a damaged one is replaced.
func readIdentity(path string) (*Identity, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var id Identity
	if json.Unmarshal(text, &id) != nil || id.Root == "" {
		return nil, nil
	}
	return &id, nil
}

// writeIdentity replaces the record as a whole, so that a process which reads it at
// the same time sees the old or the new one.
func writeIdentity(path string, id Identity) error {
	text, err := json.Marshal(id)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), identityFile+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
