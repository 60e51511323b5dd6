package file

import (
	"errors"
	"os"
	"time"
)

const (
	// readTries is how often a read is repeated when the file changes during it.
	readTries = 3
	// busyPause is the wait between tries while another program locks the file.
	busyPause = 20 * time.Millisecond
)

// Read returns the plan at rel. If prev is an earlier reading of the same path and is provably still valid, Read
// returns *prev with Unchanged set, and only reads metadata. Every failure is an *Error. Read does not block on a
// pipe, does not exceed the size limit, and reads no byte outside the workspace.
func (r *Root) Read(rel string, prev *File) (File, error) {
	name, err := cleanPath(rel)
	if err != nil {
		return File{}, err
	}
	if r.unchanged(name, prev) {
		same := *prev
		same.Unchanged = true
		return same, nil
	}
	r.lock.tidy()
	release, err := r.tree.hold()
	if err != nil {
		return File{}, folderError(rel, err)
	}
	defer release()
	var file File
	if r.isFolder(name) {
		file, err = r.readFolder(name)
	} else {
		file, err = r.readFile(name, r.opts.MaxBytes)
	}
	if err != nil {
		return File{}, r.fileError(rel, name, err)
	}
	return file, nil
}

// unchanged checks the system path, because os.Root would open every folder of the path. This is safe: it reads no
// content, and an equal identity means that the file still has the bytes in prev.
func (r *Root) unchanged(name string, prev *File) bool {
	if prev == nil || !prev.Settled || prev.Path != name {
		return false
	}
	if prev.Stat.MtimeNs > r.opts.Now().UnixNano() {
		return false
	}
	if prev.members != nil {
		return r.tree.asListed(name, prev.members)
	}
	now, err := StatPath(r.tree.plain(name))
	return err == nil && now == prev.Stat
}

// readFile reads a file, and reads it again while it changes or another program locks it. The file may have limit bytes.
func (r *Root) readFile(name string, limit int64) (file File, err error) {
	for range readTries {
		err = r.tree.follow(name, func(name string) error {
			f, err := openRegular(r.tree.root.Stat, r.tree.root.OpenFile, name)
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			file, err = r.readBetweenStats(f, limit)
			return err
		})
		if r.busy(err) {
			time.Sleep(busyPause) //permit:time.Sleep because no event tells when the other program is done
			continue
		}
		if err != nil || !file.Unstable {
			break
		}
	}
	file.Path = name
	return file, err
}

func (r *Root) readBetweenStats(f *os.File, limit int64) (File, error) {
	now := r.opts.Now()
	before, err := statFile(f)
	if err != nil {
		return File{}, err
	}
	if before.Size > limit {
		return File{}, &Error{Reason: TooLarge, Size: before.Size, Limit: r.opts.MaxBytes, Err: TooLarge}
	}
	// The extra byte detects a file that grew, without reading the rest.
	text, err := readText(f, before.Size+1)
	if err != nil {
		return File{}, err
	}
	if r.betweenStats != nil {
		r.betweenStats()
	}
	after, err := statFile(f)
	if err != nil {
		return File{}, err
	}
	stable := before == after && int64(len(text)) == before.Size
	return File{
		Text:     text,
		Stat:     after,
		Settled:  stable && settled(after, now),
		Unstable: !stable,
	}, nil
}

// folderError returns the *Error for a workspace folder that cannot be opened.
func folderError(rel string, err error) error {
	reason := reasonOf(err)
	if reason != Missing {
		reason = Unreadable
	}
	return &Error{Path: rel, Reason: reason, WorkspaceGone: reason == Missing, Err: err}
}

// fileError adds the caller's path to err, and tells a broken link from a missing file.
func (r *Root) fileError(rel, name string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Reason: reasonOf(err), Err: err}
	}
	if e.Path == "" { // a file of a folder plan already has its own path
		e.Path = rel
	}
	if e.Reason == Missing && r.tree.danglingLink(name) {
		e.Reason = SymlinkDangling
	}
	return e
}
