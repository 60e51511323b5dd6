package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"waybill/internal/ownfile"
)

// A sharedFile is a database file that this process has open, with the descriptor of waybill itself. Closing any
// descriptor of a file drops all locks of the process on it, also those of SQLite. So the descriptor stays open until the
// last connection to the file is closed.
type sharedFile struct {
	id    fileID
	users int // connections
	files []*os.File
	kept  []*os.File // other descriptors of the files of that store
}

// sharedFiles has the files of the process, because POSIX locks belong to the process.
var sharedFiles = struct {
	mu sync.Mutex // guards all that can be reached from of
	of map[fileID]*sharedFile
}{of: make(map[fileID]*sharedFile)}

// openShared counts a connection that is about to be opened.
func openShared(path string) (*sharedFile, error) {
	id, err := idOf(path)
	if err != nil {
		return nil, err
	}
	sharedFiles.mu.Lock()
	defer sharedFiles.mu.Unlock()
	g := sharedFiles.of[id]
	if g == nil {
		g = &sharedFile{id: id}
		sharedFiles.of[id] = g
	}
	g.users++
	return g, nil
}

// release ends the use by a connection that is closed.
func (g *sharedFile) release() error {
	if g == nil {
		return nil
	}
	sharedFiles.mu.Lock()
	defer sharedFiles.mu.Unlock()
	if g.users--; g.users > 0 {
		return nil
	}
	delete(sharedFiles.of, g.id)
	var errs []error
	for _, f := range append(g.files, g.kept...) {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// file returns the descriptor, which it opens at the first call. The path must lead to the file.
func (g *sharedFile) file(path string) (*os.File, error) {
	sharedFiles.mu.Lock()
	defer sharedFiles.mu.Unlock()
	if len(g.files) > 0 {
		return g.files[0], nil
	}
	f, err := ownfile.OpenUnfollowed(path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	id, err := idOfFile(f)
	if err == nil && id == g.id {
		g.files = append(g.files, f)
		return f, nil
	}
	if other := sharedFiles.of[id]; err == nil && other != nil {
		other.files = append(other.files, f)
		return nil, os.ErrNotExist
	}
	return nil, errors.Join(os.ErrNotExist, f.Close())
}

// keep opens a file of the store and returns it if info still describes it. The file stays open until the last
// connection closes.
func (g *sharedFile) keep(path string, info fs.FileInfo, flags int) (*os.File, error) {
	f, err := ownfile.OpenUnfollowed(path, flags)
	if err != nil {
		return nil, err
	}
	sharedFiles.mu.Lock()
	defer sharedFiles.mu.Unlock()
	g.kept = append(g.kept, f)
	now, err := f.Stat()
	if err == nil && !os.SameFile(info, now) {
		err = fmt.Errorf("%s was replaced meanwhile", path)
	}
	return f, err
}
