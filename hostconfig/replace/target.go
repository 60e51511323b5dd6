// Package replace replaces a configuration file as a whole, or removes it, and keeps a copy of the old one.
//
// Processes of waybill take turns at one file. A write by another program is noticed, and the edit is repeated on it. Only a write
// between the last check and the rename is lost, also from the copy. The package refuses to follow a link out of a project, and to
// know the meaning of a text.
package replace

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"waybill/hostconfig/notation"
)

// A Result reports a change.
type Result struct {
	Action notation.Action
	File   string // the file that was written, with links followed
	Backup string // a copy of the old file; empty if there was none, or if it was not changed
}

// mostTries limits the repetitions of a change. It is repeated if another program writes the file at the same time.
const mostTries = 5

// A Target is a file that is to be changed.
type Target struct {
	Path    string
	Project string        // if not empty, a folder that no link may lead out of; new files in it are readable by others
	Wait    time.Duration // how long to wait for another change of the file; 0 is ten seconds
	Nothing string        // the text of an empty document, for the file behind a link
	// Locate adds the path, with links followed, to an error of the edit.
	Locate func(err error, path string) error

	BeforeSwap func() // for tests: a write by others just before the rename
}

// Change replaces the text of the file by an edit of it. After an error, the file is unchanged.
func (t Target) Change(ctx context.Context, edit func(*string) (notation.Edit, error)) (Result, error) {
	for range mostTries {
		result, err := t.try(ctx, edit)
		if !errors.Is(err, errSaved) {
			return result, err
		}
	}
	return Result{}, &BusyError{t.Path, "other programs keep writing it: stop them, and try again"}
}

func (t Target) try(ctx context.Context, edit func(*string) (notation.Edit, error)) (Result, error) {
	if err := t.inside(); err != nil {
		return Result{}, err
	}
	wait := t.Wait
	if wait == 0 {
		wait = 10 * time.Second
	}
	s, err := open(ctx, t.Path, wait)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	e, err := edit(s.text)
	if err != nil {
		return Result{}, t.Locate(err, s.path)
	}
	result := Result{Action: e.Action, File: s.path}
	if e.Action == notation.Unchanged {
		return result, nil
	}
	s.beforeSwap, s.spare = t.BeforeSwap, e.Spare
	if e.Whole {
		result.Backup, err = s.remove(t.Nothing)
	} else {
		result.Backup, err = s.write(e.Text, t.Project != "")
	}
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

// Read returns the text of the file, or nil if there is none, and the error that a change would meet before it begins.
func (t Target) Read() (*string, error) {
	text, err := contents(t.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !isLink(t.Path):
		return nil, t.inside()
	case errors.Is(err, fs.ErrNotExist):
		return nil, errDangling(t.Path)
	case err != nil:
		return nil, err
	}
	s := site{path: t.Path}
	if target, err := filepath.EvalSymlinks(t.Path); err == nil {
		s.path = target
	}
	return &text, errors.Join(t.inside(), s.stat())
}

func (t Target) inside() error {
	if t.Project == "" {
		return nil
	}
	return inside(t.Project, t.Path)
}
