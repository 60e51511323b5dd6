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
	"sync"
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

// Root is one workspace folder, identified by its path. It is safe for concurrent use. If the folder is deleted and
// created again, or replaced by another, the next Read uses the new one.
type Root struct {
	dir  string
	opts Options

	// betweenStats runs after a file is read and before the check for a concurrent change. Only tests set it.
	betweenStats func()
	// beforeSwap runs when the new text is in a temporary file. afterCheck runs after the last check of the old text,
	// and afterExchange after each exchange of the two names. Only tests set them.
	beforeSwap, afterCheck, afterExchange func()
	// busy is the function busy, which only tests replace.
	busy func(error) bool
	// maxEntries and maxFiles are the constants, which only tests lower.
	maxEntries, maxFiles int

	writing sync.Mutex // held while a file is being replaced; taken before mu

	mu     sync.RWMutex // guards the fields below; a reader of a file holds it shared
	root   *os.Root     // nil while the folder is missing
	info   fs.FileInfo  // the folder that root was opened on
	real   string       // dir with its links resolved
	closed bool
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
	r := &Root{busy: busy, maxEntries: maxEntries, maxFiles: maxFiles, dir: abs, opts: o}
	if err := r.refresh(); err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", dir, err)
	}
	r.tellKept(RemoveLeftovers(o.LockPath)...)
	return r, nil
}

// Dir returns the absolute path of the folder. Links in it are not resolved.
func (r *Root) Dir() string { return r.dir }

// Close releases the folder. It waits for running reads; later reads return Unreadable.
func (r *Root) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.drop()
}

func (r *Root) tellKept(paths ...string) {
	for _, path := range paths {
		if r.opts.Kept != nil {
			r.opts.Kept(path)
		}
	}
}

// refresh reopens the folder if dir now names another one. An os.Root alone would keep reading a folder that was
// deleted or moved away.
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

// drop closes the open folder. The caller holds mu.
func (r *Root) drop() error {
	if r.root == nil {
		return nil
	}
	err := r.root.Close()
	r.root, r.info, r.real = nil, nil, ""
	return err
}

// reopen opens the folder. The caller holds mu. The identity comes from the opened folder, not from its name, because
// the name can change in between.
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
