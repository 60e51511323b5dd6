// Package file finds, reads and replaces the plan files of one workspace. A plan is a file, or a folder of files.
// Reads and writes cover a whole file, have a size limit, and never leave the workspace. A write never discards the
// change of another writer. Only regular files are opened. The package does not parse plans.
package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// defaultMaxBytes is far larger than any plan that a person reads, and too small to exhaust memory.
const defaultMaxBytes = 8 << 20

// Options tunes a Root. The zero value works.
type Options struct {
	// MaxBytes is the size above which a file is refused as TooLarge; 0 means 8 MiB.
	MaxBytes int64
	// Now returns the current time; nil means time.Now. It decides whether a file changed recently, and whether a
	// temporary file is abandoned.
	Now func() time.Time
	// LockPath is a lock file that serializes the writers of all processes. The first write creates it. Its folder
	// must exist and be outside the workspace. With "", only the writers of this Root are serialized.
	LockPath string
	// Folders allows folders as plans. All files of such a folder are read as one text.
	Folders bool
	// Kept, if not nil, is called with the path of a file next to a plan that a cleanup kept. Another program saved
	// its text while a waybill process that was killed replaced the plan. Several goroutines may call Kept at once.
	Kept func(path string)
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

func (o Options) tellKept(paths ...string) {
	for _, path := range paths {
		if o.Kept != nil {
			o.Kept(path)
		}
	}
}

// Root is one workspace folder, identified by its path. It is safe for concurrent use. If the folder is deleted and
// created again, or replaced by another, the next Read uses the new one.
type Root struct {
	opts Options
	tree *tree
	lock *lock

	// betweenStats runs after a file is read and before the check for a concurrent change. Only tests set it.
	betweenStats func()
	// beforeSwap runs when the new text is in a temporary file. afterCheck runs after the last check of the old text,
	// and afterExchange after each exchange of the two names. Only tests set them.
	beforeSwap, afterCheck, afterExchange func()
	// busy is the function busy, which only tests replace.
	busy func(error) bool
	// maxFiles is the constant, which only tests lower.
	maxFiles int
}

// Open opens the workspace folder dir, which must exist, and removes what a killed writer with the same lock file left. The
// caller closes it.
func Open(dir string, o Options) (*Root, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	t := &tree{dir: abs, maxEntries: maxEntries}
	if err := t.refresh(); err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	r := &Root{opts: o, tree: t, lock: &lock{path: o.LockPath, kept: o.tellKept}, busy: busy, maxFiles: maxFiles}
	r.lock.tidy()
	return r, nil
}

// Dir returns the absolute path of the folder. Links in it are not resolved.
func (r *Root) Dir() string { return r.tree.dir }

// Close releases the folder. It waits for running reads; later reads return Unreadable.
func (r *Root) Close() error { return r.tree.close() }

// Absent reports whether no file or folder has the name rel. It costs one lstat. False proves nothing: the caller must
// Read the file. An invalid path is not absent, because Read reports its error.
func (r *Root) Absent(rel string) bool {
	name, err := cleanPath(rel)
	if err != nil {
		return false
	}
	_, err = os.Lstat(r.tree.plain(name))
	return errors.Is(err, fs.ErrNotExist)
}
