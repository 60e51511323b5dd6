package planfile

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// WriteReason says why a plan file that can be read could not be written. It is a wire word, and an
// error value so that callers can write errors.Is(err, planfile.Denied).
type WriteReason string

const (
	// ReadOnly: the file system takes no writes.
	ReadOnly WriteReason = "read_only"
	// Denied: the file or its folder must not be written to.
	Denied WriteReason = "permission_denied"
	// DiskFull: there is no room for the new file beside the old one.
	DiskFull WriteReason = "disk_full"
	// HardLinked: the file has several names, and the others would keep what it said.
	HardLinked WriteReason = "hard_linked"
	// Locked: another process is writing a plan and does not come to an end.
	Locked WriteReason = "locked"
	// Unwritable: the system failed in another way.
	Unwritable WriteReason = "unwritable"
)

// Error returns the wire word.
func (r WriteReason) Error() string { return string(r) }

// WriteError says which plan file could not be written and why. errors.Is sees both its Reason and
// the system's error.
type WriteError struct {
	Path   string // as the caller gave it
	Reason WriteReason
	// Applied reports that the file says what was to be written, but may not after a power cut.
	Applied bool
	Err     error
}

func (e *WriteError) Error() string {
	if e.Applied {
		return fmt.Sprintf("plan %q was written, but the disk does not confirm it (%s): %v", e.Path, e.Reason, plainly(e.Err))
	}
	return fmt.Sprintf("plan %q cannot be written (%s): %v", e.Path, e.Reason, plainly(e.Err))
}

// Unwrap returns what the system said.
func (e *WriteError) Unwrap() error { return e.Err }

// Is reports whether target is e's Reason.
func (e *WriteError) Is(target error) bool {
	reason, ok := target.(WriteReason)
	return ok && reason == e.Reason
}

// ConflictError says that a plan file is not what the writer took it for. Nothing of what somebody else
// wrote was lost.
type ConflictError struct {
	Path string // as the caller gave it
	// Expected is the hash of what the writer had read, and Found that of what the file says now;
	// Found is "" if the file is gone or being written.
	Expected, Found string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("plan %q was changed by somebody else; read it anew, then set what is still to be set", e.Path)
}

// writeError gives an error of the system its path and reason. Errors of this package stay what they are.
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
