package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// This file replaces a plan file as a whole. It writes the new text to a temporary file in the same folder, which then
// takes the plan's name. A reader sees the complete old text or the complete new one.
//
// An editor can save at the same moment. The check before the exchange detects most such saves. The check of the
// replaced file after an atomic exchange detects the rest. The writer then restores the saved text and returns a
// conflict.

const (
	// A temporary name begins with a dot, so that no pattern of Search and no shell glob matches it. It ends in a
	// suffix that editors and their watchers ignore.
	tempPrefix = ".waybill-"
	tempSuffix = ".tmp"
	// savedSuffix ends the name of a file with a text that a person saved. Waybill never removes it.
	savedSuffix = ".saved"
	// abandoned is the age at which a temporary file counts as a leftover of a killed writer, even if no lock file
	// lists it.
	abandoned = time.Minute
	// maxSwaps limits how often one write exchanges the names.
	maxSwaps = 8
)

// Rewrite replaces the text of the plan rel by the result of edit, and returns the resulting plan. In a folder plan,
// edit may change one file, and only that file is replaced. Other processes with the same Options.LockPath wait. hash,
// if not empty, is the required SHA-256 of the old text. If edit returns the same text, Rewrite writes no file.
//
// The file keeps its mode, its links, and its owner where the system allows that. A returned file is durable. Rewrite
// returns an error of edit unchanged; other errors are an *Error, a *WriteError or a *ConflictError. The plan did not
// change unless Swapped is set. If another program saves over the new text, Rewrite calls edit again. The write
// succeeded if edit then changes nothing.
func (r *Root) Rewrite(rel, hash string, edit func(File) (string, error)) (File, error) {
	t, err := r.takeTurn()
	if err != nil {
		return File{}, writeError(rel, err)
	}
	defer t.end()
	old, err := r.Read(rel, nil)
	if err != nil {
		return File{}, err
	}
	if old.Unstable {
		return File{}, &ConflictError{Path: rel, Expected: hash}
	}
	if found := hashOf(old.Text); hash != "" && hash != found {
		return File{}, &ConflictError{Path: rel, Expected: hash, Found: found}
	}
	text, err := edit(old)
	if err != nil || text == old.Text {
		return old, err
	}
	return r.write(t, rel, old, text, edit)
}

// errSaved means that another program saved the file after it was read.
var errSaved = errors.New("another program saved the file")

func (r *Root) replaceError(rel string, old File, kept string, err error) error {
	if errors.Is(err, errSaved) {
		c := r.conflict(rel, old)
		c.Kept = kept
		return c
	}
	if e, ok := errors.AsType[*WriteError](err); ok {
		e.Kept = kept
	}
	if e, ok := errors.AsType[*Error](err); ok { // the file is no longer as Read found it
		e.Path = rel
		return e
	}
	return writeError(rel, err)
}

// conflict returns the error for a file that changed after it was read.
func (r *Root) conflict(rel string, old File) *ConflictError {
	c := &ConflictError{Path: rel, Expected: hashOf(old.Text)}
	if now, err := r.Read(rel, nil); err == nil && !now.Unstable {
		c.Found = hashOf(now.Text)
	}
	return c
}

// confirm reads the plan again after the write. If another program saved over it, the write still counts if edit has
// no further change.
func (r *Root) confirm(rel string, old File, written, text string, edit func(File) (string, error)) (File, error) {
	file, err := r.Read(rel, nil)
	if e, ok := errors.AsType[*Error](err); ok {
		return File{}, &WriteError{Path: rel, Reason: writeReason(err), Swapped: true, Err: e.Err}
	}
	if file.textOf(written) == text {
		return file, nil
	}
	if !file.Unstable {
		if again, err := edit(file); err == nil && again == file.Text {
			return file, nil
		}
	}
	c := r.conflict(rel, old)
	c.Swapped = true
	return File{}, c
}

// replace writes text to the file old. kept is the path of a file with a text that another program saved meanwhile, or
// "".
func (r *Root) replace(t *turn, old File, text string) (kept string, _ error) {
	if err := r.refresh(); err != nil {
		return "", err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.root == nil {
		return "", os.ErrClosed
	}
	s, err := r.findSite(old.Path)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.dir.Close() }()
	info, err := s.writable()
	if err != nil {
		return "", err
	}
	beside := filepath.Join(r.real, filepath.FromSlash(s.path))
	for _, name := range s.sweep(r.opts.Now()) {
		r.tellKept(filepath.Join(beside, name))
	}
	temp := tempName(old.Text, text)
	t.announce(filepath.Join(beside, draftOf(temp)), filepath.Join(beside, temp), filepath.Join(beside, spareOf(temp)))
	if err := s.stage(temp, text, info); err != nil {
		return "", err
	}
	if r.beforeSwap != nil {
		r.beforeSwap()
	}
	if now, err := s.read(s.base); err != nil || now != old.Text {
		return "", errors.Join(errSaved, err, s.dir.Remove(temp))
	}
	if r.afterCheck != nil {
		r.afterCheck()
	}
	s.exchanged = r.afterExchange
	kept, err = s.swap(temp, old.Text, text)
	if kept != "" {
		kept = path.Join(s.path, kept)
	}
	if e, ok := errors.AsType[*WriteError](err); err != nil && !(ok && e.Swapped) {
		return kept, err
	}
	if err := s.sync(); err != nil {
		return kept, swapped("", err)
	}
	return kept, err
}

// A site is the folder that contains a file after all links are resolved, and the file's name in it.
type site struct {
	dir   *os.Root
	path  string // of dir, relative to the workspace
	base  string
	limit int64 // in bytes; read returns at most one byte more
	// exchanged, if not nil, runs after each exchange of the names. Only tests set it.
	exchanged func()
}

// findSite follows the links of name to the file itself, so that a link stays a link.
func (r *Root) findSite(name string) (s site, err error) {
	s.limit = r.opts.MaxBytes
	for range maxLinks {
		dir, base := path.Split(strings.TrimRight(name, "/"))
		if base == "." || base == ".." {
			return s, notRegular(fs.ModeDir)
		}
		err := r.follow(path.Join(".", strings.TrimSuffix(dir, "/")), func(dir string) (err error) {
			s.dir, err = r.root.OpenRoot(dir)
			s.path = dir
			return err
		})
		if err != nil {
			return s, err
		}
		s.base = base
		target, err := s.link()
		if err == nil && target == "" {
			return s, nil
		}
		_ = s.dir.Close()
		if err != nil {
			return s, err
		}
		head, ok := r.inside(target, strings.Split(strings.TrimSuffix(dir, "/"), "/"))
		if !ok {
			return s, &Error{Reason: OutsideWorkspace, Err: fmt.Errorf("the link %q leads out of the workspace", name)}
		}
		name = strings.TrimPrefix(strings.Join(head, "/"), "/")
	}
	return s, &Error{Reason: SymlinkLoop, Err: fmt.Errorf("more than %d links", maxLinks)}
}

// link returns the target of a link, or "" if the file is not a link.
func (s site) link() (string, error) {
	info, err := s.dir.Lstat(s.base)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	return s.dir.Readlink(s.base)
}

// writable returns an error for a file that the user must not write, even if its folder would allow replacing it.
func (s site) writable() (fs.FileInfo, error) {
	info, err := s.dir.Lstat(s.base)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, notRegular(info.Mode())
	case info.Mode().Perm()&0o222 == 0:
		return nil, &WriteError{Reason: Denied, Err: errors.New("the file is read-only for everyone")}
	case names(info) > 1:
		return nil, &WriteError{Reason: HardLinked, Err: errors.New("the file has another hard link, which would keep the old content")}
	}
	f, err := s.dir.OpenFile(s.base, writeFlags, 0)
	if err != nil {
		return nil, err
	}
	return info, f.Close()
}

// sweep settles abandoned temporary files in the folder, and returns the names of those that it kept. A file that it
// cannot settle stays.
func (s site) sweep(now time.Time) (saved []string) {
	d, err := s.dir.Open(".")
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(maxEntries)
	for _, name := range names {
		if !ours().MatchString(name) {
			continue
		}
		if info, err := s.dir.Lstat(name); err == nil && now.Sub(info.ModTime()) > abandoned {
			if kept, err := s.settle(name); err == nil && kept != "" {
				saved = append(saved, kept)
			}
		}
	}
	return saved
}

// stage writes text durably to a new file with the mode and owner of the old one. The file has a draft name until it
// is complete, and then the name temp.
func (s site) stage(temp, text string, like fs.FileInfo) error {
	draft := draftOf(temp)
	f, err := s.dir.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	keepOwner(f, like)
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(like.Mode().Perm()) // after keepOwner, because a change of the owner may change the mode
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.dir.Rename(draft, temp)
	}
	if err != nil {
		return errors.Join(err, s.dir.Remove(draft))
	}
	return nil
}

func (s site) read(name string) (string, error) {
	info, err := s.dir.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", notRegular(info.Mode())
	}
	f, err := s.dir.OpenFile(name, openFlags, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	return readText(f, min(info.Size(), s.limit)+1)
}
