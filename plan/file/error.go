package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Reason says why a plan file could not be read. It is a wire word, and an error value so that callers can write
// errors.Is(err, file.Missing).
type Reason string

const (
	// Missing: no file has that name. Error.WorkspaceGone says whether the whole workspace folder is gone.
	Missing Reason = "missing"
	// NotRegular: the name belongs to a folder, pipe, socket or device. It was not opened.
	NotRegular Reason = "not_regular"
	// Unreadable: the system refused or failed (no permission, disk error, stale
	// network handle). The next call may succeed.
	Unreadable Reason = "unreadable"
	// TooLarge: the file is larger than the limit; Error has Size and Limit.
	TooLarge Reason = "too_large"
	// TooManyFiles: a folder plan has more files than the limit; Error has Size and Limit.
	TooManyFiles Reason = "too_many_files"
	// OutsideWorkspace: the path, or a link on the way, leads out of the workspace.
	OutsideWorkspace Reason = "outside_workspace"
	// SymlinkLoop: the links form a loop, or there are too many of them.
	SymlinkLoop Reason = "symlink_loop"
	// SymlinkDangling: a link in the path points to a file that does not exist.
	SymlinkDangling Reason = "symlink_dangling"
	// BadPath: the path is not a valid file name on every system that waybill supports.
	BadPath Reason = "bad_path"
)

// Error returns the wire word.
func (r Reason) Error() string { return string(r) }

// Error is a failed read of one plan file. errors.Is matches both its Reason and the system's error.
type Error struct {
	Path          string // as the caller passed it
	Reason        Reason
	Size, Limit   int64 // for TooLarge in bytes, for TooManyFiles in files
	WorkspaceGone bool  // for Missing: the whole workspace folder is gone
	Err           error // the error of the system or the check
}

func (e *Error) Error() string {
	switch {
	case e.Reason == TooLarge:
		return fmt.Sprintf("plan %q is too large: %d bytes, the limit is %d", e.Path, e.Size, e.Limit)
	case e.Reason == TooManyFiles:
		return fmt.Sprintf("plan %q has too many files: %d, the limit is %d", e.Path, e.Size, e.Limit)
	case e.WorkspaceGone:
		return fmt.Sprintf("plan %q is missing, and so is the workspace folder: %v", e.Path, plainly(e.Err))
	}
	return fmt.Sprintf("plan %q cannot be read (%s): %v", e.Path, e.Reason, plainly(e.Err))
}

// plainly returns the system's error without the operation and the path, which the message already has.
func plainly(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// Unwrap returns the system's error.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is e's Reason.
func (e *Error) Is(target error) bool {
	reason, ok := target.(Reason)
	return ok && reason == e.Reason
}

// reasonOf returns the Reason of an *Error, or classifies an error of os.Root. Any path error without an error number
// counts as OutsideWorkspace, because os.Root does not export its "path escapes" error.
func reasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	var errno syscall.Errno
	switch {
	case errors.Is(err, os.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
		return Unreadable
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Missing
	case errors.Is(err, syscall.ELOOP):
		return SymlinkLoop
	case errors.Is(err, syscall.ENAMETOOLONG):
		return BadPath
	case errors.Is(err, syscall.ENXIO): // a socket, or a device without a driver
		return NotRegular
	case !errors.As(err, &errno):
		return OutsideWorkspace
	}
	return Unreadable
}
