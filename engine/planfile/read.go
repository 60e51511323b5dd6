package planfile

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
	// readTries is how often a file is read that changes while it is read.
	readTries = 3
	// settleTime is the age below which equal times do not prove equal bytes: two
	// changes can fall into one tick of the file system's clock, which is up to two
	// seconds long (FAT).
	settleTime = 2 * time.Second
	// busyPause is waited between tries when another program holds the file.
	busyPause = 20 * time.Millisecond
)

// Stat is the identity and age of a file. Two equal values of a Settled file mean
// equal bytes.
type Stat struct {
	Size       int64
	MtimeNs    int64
	CtimeNs    int64 // change of bytes, mode, name or link count; cannot be set by touch
	Inode, Dev uint64
}

// MtimeMs returns the modification time in milliseconds since 1970.
func (s Stat) MtimeMs() int64 { return s.MtimeNs / int64(time.Millisecond) }

// File is one reading of a plan.
type File struct {
	Path string // relative to the workspace, cleaned, with "/"
	// Text is what the file says; of a folder, it is that of its files as ledger.JoinFiles gives it.
	Text string
	// Stat is that of the file. Of a folder, the times are those of the file that changed last.
	Stat Stat
	// ListedNs is when files came to a folder or went, and 0 for a plan of one file.
	ListedNs int64
	// Settled reports whether the file was at least two seconds old when it was
	// read; only then can an equal Stat later spare a read.
	Settled bool
	// Unstable reports that the file changed during every try. Text may then be cut
	// or mix two versions: keep the last good reading and look again.
	Unstable bool
	// Unchanged reports that nothing was read because prev is still true.
	Unchanged bool

	members []member // what a folder was read from; nil for a plan of one file
}

// Folders gives the folders in which the files of a plan lie that is one, itself first, and nothing else.
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

// Read returns the plan file rel. When prev is an earlier reading of the same path
// that provably still holds, Read costs one stat and returns *prev with Unchanged
// set. Every failure is an *Error. Read never blocks on a pipe, never takes more
// memory than the limit, and never reads a byte from outside the workspace.
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

// unchanged asks the plain path, not the os.Root, which would open every folder on
// the way. That is safe: no byte is read, and an equal identity means that the bytes
// in prev, lawfully read, are still those of the file.
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

// plain gives the path of a file for the system.
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
			time.Sleep(busyPause) //nolint:forbidigo // no event tells when the other program is done
			continue
		}
		if err != nil || !file.Unstable {
			break
		}
	}
	file.Path = name
	return file, err
}

// readOnce looks before it opens, because opening a device can do things, and looks
// again at what it opened, because names can change in between.
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
	// One byte more than the size: a file that grew shows it, and is read no further.
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

// readText reads up to limit bytes. They pass through a small buffer that stays in the cache of the
// processor, since a text of this size costs more to clear than to copy.
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

// settled reports whether s was at rest at now. The change time counts as well: it
// is young when somebody set an old modification time, and both are ahead of now
// when a clock is wrong.
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

// folderError reports that the workspace folder cannot be entered.
func (r *Root) folderError(rel string, err error) error {
	reason := reasonOf(err)
	if reason != Missing {
		reason = Unreadable
	}
	return &Error{Path: rel, Reason: reason, WorkspaceGone: reason == Missing, Err: err}
}

// fileError gives err the caller's path and its final reason.
func (r *Root) fileError(rel, name string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Reason: reasonOf(err), Err: err}
	}
	if e.Path == "" { // else it is a file of a folder
		e.Path = rel
	}
	if e.Reason == Missing && r.danglingLink(name) {
		e.Reason = SymlinkDangling
	}
	return e
}
