package file

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// WriteReason says why a plan file that can be read could not be written. It is a wire word, and an error value so
// that callers can write errors.Is(err, file.Denied).
type WriteReason string

const (
	// ReadOnly: the file system is read-only.
	ReadOnly WriteReason = "read_only"
	// Denied: the user must not write to the file or its folder.
	Denied WriteReason = "permission_denied"
	// DiskFull: the disk has no room for a second copy of the file.
	DiskFull WriteReason = "disk_full"
	// HardLinked: the file has other hard links, which would keep the old text.
	HardLinked WriteReason = "hard_linked"
	// Locked: another process has held the lock of the plans for too long.
	Locked WriteReason = "locked"
	// Unwritable: the system failed for another reason.
	Unwritable WriteReason = "unwritable"
)

// Error returns the wire word.
func (r WriteReason) Error() string { return string(r) }

// WriteError is a failed write of one plan file. errors.Is matches both its Reason and the system's error.
type WriteError struct {
	Path   string // as the caller passed it
	Reason WriteReason
	// Swapped means that the new text replaced the old one before the failure. Unless Left is set, another program may
	// have replaced it since, or a power cut may lose it.
	Swapped bool
	// Left is the name of a useless file next to the plan that could not be removed. In this case, the new text of the
	// plan was confirmed.
	Left string
	// Kept is the workspace path of a file with a text that another program saved meanwhile, or "".
	Kept string
	Err  error
}

func (e *WriteError) Error() string {
	did := "cannot be written"
	switch {
	case e.Left != "":
		did = fmt.Sprintf("was written, but %q beside it cannot be removed", e.Left)
	case e.Swapped:
		did = "was written, but this could not be confirmed"
	}
	return fmt.Sprintf("plan %q %s (%s): %v%s", e.Path, did, e.Reason, plainly(e.Err), keptText(e.Kept))
}

// keptText returns the end of an error message that names the kept file, or "".
func keptText(kept string) string {
	if kept == "" {
		return ""
	}
	return fmt.Sprintf("; what was saved meanwhile is kept in %q", kept)
}

// Unwrap returns the system's error.
func (e *WriteError) Unwrap() error { return e.Err }

// Is reports whether target is e's Reason.
func (e *WriteError) Is(target error) bool {
	reason, ok := target.(WriteReason)
	return ok && reason == e.Reason
}

// ConflictError means that another program changed the plan file. The text of that program is not lost.
type ConflictError struct {
	Path string // as the caller passed it
	// Expected is the hash of the text that the writer read. Found is the hash of the present text, or "" if the file
	// is missing or being written.
	Expected, Found string
	// Swapped means that the new text replaced the old one, and that another program then saved over it.
	Swapped bool
	// Kept is the workspace path of a file with a text that another program saved meanwhile, or "".
	Kept string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("plan %q was changed by another program; read it again, then repeat the change if it is still needed%s", e.Path, keptText(e.Kept))
}

// writeError returns a WriteError with the path. It keeps an existing WriteError, and classifies an error of the
// system.
func writeError(rel string, err error) error {
	if e, ok := errors.AsType[*WriteError](err); ok {
		e.Path = rel
		return e
	}
	return &WriteError{Path: rel, Reason: writeReason(err), Err: err}
}

func writeReason(err error) WriteReason {
	switch {
	case errors.Is(err, syscall.EROFS):
		return ReadOnly
	case errors.Is(err, fs.ErrPermission):
		return Denied
	case full(err):
		return DiskFull
	}
	return Unwritable
}
