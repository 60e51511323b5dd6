package planfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// This file replaces a plan file as a whole. The new text is written to a file beside it, which then
// takes its name, so that whoever opens the plan finds the old text or the new one and never a part.
//
// Nobody can keep an editor from saving at the same moment. What it has saved is found before the
// names are changed, or, where the system exchanges two names in one step, in the file that comes out
// of the exchange; then its text is put back, and the writer is told that there is a conflict.

const (
	// A temporary name begins with a dot, so that no pattern of Search and no glob of a shell has it,
	// and ends in what editors and their watchers ignore.
	tempPrefix = ".waybill-"
	tempSuffix = ".tmp"
	// abandoned is the age at which a temporary file belongs to nobody any more: its writer has died.
	abandoned = time.Minute
	// maxSwaps bounds how often a text is put back that somebody saved in between.
	maxSwaps = 8
)

// Rewrite replaces the text of the plan rel by what edit makes of it, and returns the plan as it is then.
// Of a folder, edit changes the text of one file and nothing else, and only that file is replaced. Other
// processes with the same Options.LockPath wait meanwhile. hash, if not empty, is the SHA-256 that the text
// must have before. If edit returns the same text, nothing is written.
//
// Mode and, where the system allows it, the owner of the file stay, and a link to it stays a link. When
// Rewrite returns a file, it is on the disk. An error of edit is returned as it is; the others are an
// *Error, a *WriteError or a *ConflictError, and with all but one whose Applied is set nothing was
// written.
func (r *Root) Rewrite(rel, hash string, edit func(File) (string, error)) (File, error) {
	unlock, err := r.lock()
	if err != nil {
		return File{}, writeError(rel, err)
	}
	defer unlock()
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
	return r.write(rel, old, text)
}

// errSaved says that somebody saved the file after it was read.
var errSaved = errors.New("somebody else saved the file")

func (r *Root) replaceError(rel string, old File, err error) error {
	if errors.Is(err, errSaved) {
		return r.conflict(rel, old)
	}
	if e, ok := errors.AsType[*Error](err); ok { // the file is not any more what Read found
		e.Path = rel
		return e
	}
	return writeError(rel, err)
}

// conflict describes a file that is not what was read.
func (r *Root) conflict(rel string, old File) error {
	c := &ConflictError{Path: rel, Expected: hashOf(old.Text)}
	if now, err := r.Read(rel, nil); err == nil && !now.Unstable {
		c.Found = hashOf(now.Text)
	}
	return c
}

// confirm reads what was written. Somebody who saved over it has won.
func (r *Root) confirm(rel string, old File, written, text string) (File, error) {
	file, err := r.Read(rel, nil)
	if err != nil {
		return File{}, err
	}
	if file.textOf(written) != text {
		return File{}, r.conflict(rel, old)
	}
	return file, nil
}

// replace puts text in the place of old.
func (r *Root) replace(old File, text string) error {
	if err := r.refresh(); err != nil {
		return err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.root == nil {
		return os.ErrClosed
	}
	s, err := r.findSite(old.Path)
	if err != nil {
		return err
	}
	defer func() { _ = s.dir.Close() }()
	info, err := s.writable()
	if err != nil {
		return err
	}
	s.sweep(r.opts.Now())
	temp, err := s.stage(text, info)
	if err != nil {
		return err
	}
	if r.beforeSwap != nil {
		r.beforeSwap()
	}
	if now, err := s.read(s.base); err != nil || now != old.Text {
		return errors.Join(errSaved, err, s.discard(temp, nil))
	}
	if r.afterCheck != nil {
		r.afterCheck()
	}
	if err := s.swap(temp, old.Text, text); err != nil {
		return err
	}
	if err := s.sync(); err != nil {
		return &WriteError{Reason: writeReason(err), Applied: true, Err: err}
	}
	return nil
}

// A site is the folder in which a file really lies, and its name there.
type site struct {
	dir   *os.Root
	base  string
	limit int64 // above which no file is read
}

// findSite follows the links of name to the file itself, which is what has to be replaced: a link stays.
func (r *Root) findSite(name string) (s site, err error) {
	s.limit = r.opts.MaxBytes
	for range maxLinks {
		dir, base := path.Split(strings.TrimRight(name, "/"))
		if base == "." || base == ".." {
			return s, notRegular(fs.ModeDir)
		}
		err := r.follow(path.Join(".", strings.TrimSuffix(dir, "/")), func(dir string) (err error) {
			s.dir, err = r.root.OpenRoot(dir)
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

// link gives what the file says if it is a link, else "".
func (s site) link() (string, error) {
	info, err := s.dir.Lstat(s.base)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	return s.dir.Readlink(s.base)
}

// writable refuses a file that must not be written to, although its folder may let others take its place.
func (s site) writable() (fs.FileInfo, error) {
	info, err := s.dir.Lstat(s.base)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, notRegular(info.Mode())
	case info.Mode().Perm()&0o222 == 0:
		return nil, &WriteError{Reason: Denied, Err: errors.New("nobody may write to the file")}
	case names(info) > 1:
		return nil, &WriteError{Reason: HardLinked, Err: errors.New("the file has another name as well, which would keep what it says now")}
	}
	f, err := s.dir.OpenFile(s.base, writeFlags, 0)
	if err != nil {
		return nil, err
	}
	return info, f.Close()
}

// sweep removes what writers that died have left. It is no harm if that cannot be done.
func (s site) sweep(now time.Time) {
	d, err := s.dir.Open(".")
	if err != nil {
		return
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(maxEntries)
	for _, name := range names {
		if !strings.HasPrefix(name, tempPrefix) || !strings.HasSuffix(name, tempSuffix) {
			continue
		}
		if info, err := s.dir.Lstat(name); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > abandoned {
			_ = s.dir.Remove(name)
		}
	}
}

// stage writes text to a new file with the mode and the owner of the old one, and to the disk.
func (s site) stage(text string, like fs.FileInfo) (temp string, err error) {
	temp = tempPrefix + rand.Text() + tempSuffix
	f, err := s.dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	keepOwner(f, like)
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(like.Mode().Perm()) // after the owner: to give a file away may change its mode
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, s.dir.Remove(temp))
	}
	return temp, nil
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
