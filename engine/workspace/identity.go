package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"waybill/internal/atomicfile"
)

// Identity is the last seen workspace folder of a state folder.
type Identity struct {
	Root string `json:"root"`
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
}

const identityFile = "workspace.json"

// Remember records the workspace folder in its state folder, which must exist. It returns the earlier record if that
// names another folder, because the state may then be about other files. Only the inode is compared, since some
// systems renumber devices at every boot. Remember writes only changes.
func (w Workspace) Remember() (replaced *Identity, err error) {
	now := Identity{Root: w.Root, Dev: w.Dev, Ino: w.Ino}
	path := filepath.Join(w.StateDir, identityFile)
	before, err := readIdentity(path)
	if err != nil && !errors.Is(err, errDamaged) { // the record only serves a warning, so a damaged one is replaced
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

// Former returns the earlier folder of the state, as Remember does, and writes nothing.
func (w Workspace) Former() *Identity {
	before, err := readIdentity(filepath.Join(w.StateDir, identityFile))
	if err != nil || before == nil || before.Ino == w.Ino {
		return nil
	}
	return before
}

// remembered reports whether the folder at the canonical path dir was a workspace: its state folder exists and names
// this very folder.
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

// errDamaged is the error of a record that names no folder.
var errDamaged = errors.New("it names no folder; waybill status in the right folder records it anew")

// readIdentity returns nil without a record.
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
		return nil, fmt.Errorf("%s: %w", path, errDamaged)
	}
	return &id, nil
}

// writeIdentity replaces the record atomically, because other processes may read it.
func writeIdentity(path string, id Identity) error {
	text, err := json.Marshal(id)
	if err != nil {
		return err
	}
	return atomicfile.Replace(path, append(text, '\n'))
}
