package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// readTries is how often a read is repeated when the file changes during it.
	readTries = 3
	// settleTime is the age below which equal times do not prove equal bytes. Two changes can fall into one tick of the
	// file system's clock, which lasts up to two seconds (FAT).
	settleTime = 2 * time.Second
	// busyPause is the wait between tries while another program locks the file.
	busyPause = 20 * time.Millisecond
)

// Stat is the identity and age of a file. If it is unchanged since a Settled reading, the bytes are unchanged.
type Stat struct {
	Size       int64
	MtimeNs    int64
	CtimeNs    int64 // changes with content, mode, name or link count; touch cannot set it
	Inode, Dev uint64
}

// MtimeMs returns the modification time in milliseconds since 1970.
func (s Stat) MtimeMs() int64 { return s.MtimeNs / int64(time.Millisecond) }

// File is one reading of a plan.
type File struct {
	Path string // relative to the workspace, clean, with "/"
	// Text is the content of the file. For a folder plan, it is the result of plan.JoinFiles over its files.
	Text string
	// Stat belongs to the file. For a folder plan, the times are the newest of its files.
	Stat Stat
	// ListedNs is when the list of files of a folder plan last changed. It is 0 for a plan of one file.
	ListedNs int64
	// Settled means that the file had not changed for two seconds when it was read. Only then does an equal Stat prove
	// later that a new read is not needed.
	Settled bool
	// Unstable means that the file changed during every try. Text may then be incomplete or mix two versions. Keep the
	// last good reading and read again.
	Unstable bool
	// Unchanged means that prev was still valid and no file was read.
	Unchanged bool

	members []member // the files of a folder plan; nil for one file
}

// Folders returns the folders that contain the files of a folder plan, the plan itself first. It returns nil for a
// plan of one file.
func (f *File) Folders() []string {
	var dirs []string
	for _, m := range f.members {
		if dir := path.Dir(path.Join(f.Path, m.name)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) > 0 && dirs[0] != f.Path {
		dirs = slices.Insert(dirs, 0, f.Path)
	}
	return dirs
}

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
	r.tellKept(RemoveLeftovers(r.opts.LockPath)...)
	if err := r.refresh(); err != nil {
		return File{}, r.folderError(rel, err)
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.root == nil {
		return File{}, r.folderError(rel, os.ErrClosed)
	}
	read := r.readStable
	if r.isFolder(name) {
		read = r.readFolder
	}
	file, err := read(name)
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
		return r.asListed(name, prev.members)
	}
	now, err := StatPath(r.plain(name))
	return err == nil && now == prev.Stat
}

// plain returns the absolute system path of a name in the workspace.
func (r *Root) plain(name string) string {
	return r.dir + string(filepath.Separator) + filepath.FromSlash(name)
}

func (r *Root) readStable(name string) (file File, err error) {
	for range readTries {
		err = r.follow(name, func(name string) error {
			file, err = r.readOnce(name, r.opts.MaxBytes)
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

// readOnce checks the file type before it opens the file, because opening a device can have effects. It checks again
// after opening, because the name can change in between.
func (r *Root) readOnce(name string, limit int64) (File, error) {
	seen, err := r.root.Stat(name)
	if err != nil {
		return File{}, err
	}
	if !seen.Mode().IsRegular() {
		return File{}, notRegular(seen.Mode())
	}
	f, err := r.root.OpenFile(name, openFlags, 0)
	if err != nil {
		return File{}, err
	}
	defer func() { _ = f.Close() }()
	opened, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	if !opened.Mode().IsRegular() {
		return File{}, notRegular(opened.Mode())
	}
	return r.readBetweenStats(f, limit)
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

// readText reads up to limit bytes through a small buffer. Clearing a buffer of the full size would cost more than
// copying through a small one.
func readText(f *os.File, limit int64) (string, error) {
	const chunk = 16 << 10
	buf := make([]byte, min(limit, chunk))
	var text strings.Builder
	text.Grow(int(limit))
	for left := limit; left > 0; left = limit - int64(text.Len()) {
		n, err := f.Read(buf[:min(left, int64(len(buf)))])
		text.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	return text.String(), nil
}

// settled reports whether the file had not changed for settleTime at now. The change time counts too, because a tool
// may set an old modification time. With a wrong clock, both may lie in the future.
func settled(s Stat, now time.Time) bool {
	return max(s.MtimeNs, s.CtimeNs) <= now.Add(-settleTime).UnixNano()
}

func notRegular(mode fs.FileMode) error {
	kind := "something else"
	switch {
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return &Error{Reason: NotRegular, Err: fmt.Errorf("it is %s, not a regular file", kind)}
}

// folderError returns the *Error for a workspace folder that cannot be opened.
func (r *Root) folderError(rel string, err error) error {
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
	if e.Reason == Missing && r.danglingLink(name) {
		e.Reason = SymlinkDangling
	}
	return e
}
