// Package planfile reads and replaces the plan files of one workspace, and folders of them, safely: whole,
// bounded, never outside the workspace, without reading again what has not changed,
// and without taking anything from whoever else writes them.
// It refuses to parse, to write a part of a file, to follow a link out of the workspace,
// to open anything that is not a regular file, and to believe a watcher.
package planfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// defaultMaxBytes is far above any plan that a person can read, and far below
// what would hurt the process.
const defaultMaxBytes = 8 << 20

// Options tunes a Root. The zero value works.
type Options struct {
	// MaxBytes is the size above which a file is refused as TooLarge; 0 means 8 MiB.
	MaxBytes int64
	// Now tells the time; nil means time.Now. It decides only how long ago a file
	// was touched, so a jumping clock costs a needless read and nothing else.
	Now func() time.Time
	// LockPath is the file whose lock makes the writers of all processes take turns. It
	// is made when somebody writes, in a folder that must exist, outside the workspace.
	// With "", only the writers of this Root take turns.
	LockPath string
	// Folders makes a path name a plan also if it is that of a folder, which is then read as one text.
	Folders bool
}

func (o Options) filled() (Options, error) {
	if o.MaxBytes < 0 {
		return o, fmt.Errorf("planfile: MaxBytes is %d; it must not be negative", o.MaxBytes)
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}

// Root is one workspace folder. It is safe for concurrent use. It follows the
// folder's name: when the folder is deleted and made again, or another is moved
// to its place, the next Read sees the new one.
type Root struct {
	dir  string
	opts Options

	// betweenStats runs after a file's bytes are read and before they are checked
	// for a concurrent change. Only tests set it.
	betweenStats func()
	// beforeSwap runs when the new text lies beside the file, and afterCheck after the
	// last look at the old one. Only tests set them.
	beforeSwap, afterCheck func()
	// busy is the function of that name; only tests set another.
	busy func(error) bool
	// maxEntries and maxFiles are the limits of those names; only tests set lower ones.
	maxEntries, maxFiles int

	writing sync.Mutex // held while a file is being replaced; taken before mu

	mu     sync.RWMutex // guards all below; held shared while a file is being read
	root   *os.Root     // nil while the folder is gone
	info   fs.FileInfo  // the folder that root was opened on
	real   string       // dir with its links resolved
	closed bool
}

// Open opens the workspace folder dir, which must exist. The caller closes it.
func Open(dir string, o Options) (*Root, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	r := &Root{busy: busy, maxEntries: maxEntries, maxFiles: maxFiles, dir: abs, opts: o}
	if err := r.refresh(); err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	return r, nil
}

// Dir gives the absolute path of the folder, which may lead through links.
func (r *Root) Dir() string { return r.dir }

// Close releases the folder. Reads that are under way finish first; later ones
// fail as Unreadable.
func (r *Root) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.drop()
}

// refresh makes root the folder that dir names now. An os.Root alone would stay
// with a folder that was deleted or moved away, and report old files for ever.
func (r *Root) refresh() error {
	info, err := os.Stat(r.dir)
	if err == nil && r.holds(info) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return os.ErrClosed
	}
	return errors.Join(r.drop(), r.reopen())
}

func (r *Root) holds(info fs.FileInfo) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.root != nil && os.SameFile(r.info, info)
}

// drop forgets the open folder; the caller holds mu.
func (r *Root) drop() error {
	if r.root == nil {
		return nil
	}
	err := r.root.Close()
	r.root, r.info, r.real = nil, nil, ""
	return err
}

// reopen opens the folder; the caller holds mu. The identity is taken from the
// opened folder, not from the name, so that a swap in between cannot mix the two.
func (r *Root) reopen() error {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return err
	}
	info, err := root.Stat(".")
	if err != nil {
		return errors.Join(err, root.Close())
	}
	real, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		return errors.Join(err, root.Close())
	}
	r.root, r.info, r.real = root, info, real
	return nil
}
