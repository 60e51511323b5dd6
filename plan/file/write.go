package file

import (
	"errors"
	"path"
	"path/filepath"

	"waybill/plan"
)

// This file replaces a plan file as a whole. It writes the new text to a temporary file in the same folder, which then
// takes the plan's name. A reader sees the complete old text or the complete new one.
//
// An editor can save at the same moment. The check before the exchange detects most such saves. The check of the
// replaced file after an atomic exchange detects the rest. The writer then restores the saved text and returns a
// conflict.

// Rewrite replaces the text of the plan rel by the result of edit, and returns the resulting plan. In a folder plan,
// edit may change one file, and only that file is replaced. Other processes with the same Options.LockPath wait. hash,
// if not empty, is the required SHA-256 of the old text. If edit returns the same text, Rewrite writes no file.
//
// The file keeps its mode, its links, and its owner where the system allows that. A returned file is durable. Rewrite
// returns an error of edit unchanged; other errors are an *Error, a *WriteError or a *ConflictError. The plan did not
// change unless Swapped is set. If another program saves over the new text, Rewrite calls edit again. The write
// succeeded if edit then changes nothing.
func (r *Root) Rewrite(rel, hash string, edit func(File) (string, error)) (File, error) {
	t, err := r.lock.take()
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
	if found := plan.Hash(old.Text); hash != "" && hash != found {
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
	c := &ConflictError{Path: rel, Expected: plan.Hash(old.Text)}
	if now, err := r.Read(rel, nil); err == nil && !now.Unstable {
		c.Found = plan.Hash(now.Text)
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
	release, err := r.tree.hold()
	if err != nil {
		return "", err
	}
	defer release()
	s, err := r.tree.findSite(old.Path)
	if err != nil {
		return "", err
	}
	s.limit = r.opts.MaxBytes
	defer func() { _ = s.dir.Close() }()
	info, err := s.writable()
	if err != nil {
		return "", err
	}
	beside := filepath.Join(r.tree.real, filepath.FromSlash(s.path))
	for _, name := range s.sweep(r.opts.Now()) {
		r.opts.tellKept(filepath.Join(beside, name))
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

// write replaces the text of the plan old. In a folder plan, it replaces the one file that differs.
func (r *Root) write(t *turn, rel string, old File, text string, edit func(File) (string, error)) (File, error) {
	file, next, err := old.change(text)
	if err != nil {
		return File{}, err
	}
	if size := old.sizeWith(&file, next); size > r.opts.MaxBytes {
		return File{}, &Error{Path: rel, Reason: TooLarge, Size: size, Limit: r.opts.MaxBytes, Err: TooLarge}
	}
	kept, err := r.replace(t, file, next)
	left, ok := errors.AsType[*WriteError](err)
	if err != nil && !(ok && left.Left != "") {
		return File{}, r.replaceError(rel, old, kept, err)
	}
	is, unsure := r.confirm(rel, old, file.Path, next, edit)
	switch {
	case unsure != nil:
		return File{}, unsure
	case err != nil:
		return File{}, writeError(rel, err)
	}
	return is, nil
}
