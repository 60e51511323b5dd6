package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// OpenRegular opens a regular file anywhere on the system. For a folder, pipe or device it returns an *Error with
// NotRegular. It does not block on a pipe. The caller closes the file.
func OpenRegular(name string) (*os.File, error) {
	f, err := openRegular(os.Stat, os.OpenFile, name)
	if e, ok := errors.AsType[*Error](err); ok {
		e.Path = name
	}
	return f, err
}

// openRegular opens a regular file with the functions of package os, or with those of an os.Root.
func openRegular(stat func(string) (fs.FileInfo, error), open func(string, int, fs.FileMode) (*os.File, error), name string) (*os.File, error) {
	seen, err := stat(name) // checked first, because opening a device can have effects
	if err == nil {
		err = onlyRegular(seen.Mode())
	}
	if err != nil {
		return nil, err
	}
	f, err := open(name, openFlags, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat() // checked again, because the name can change in between
	if err == nil {
		err = onlyRegular(opened.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// onlyRegular returns an *Error for the mode of anything but a regular file.
func onlyRegular(mode fs.FileMode) error {
	kind := "something else"
	switch {
	case mode.IsRegular():
		return nil
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

// settleTime is the age below which equal times do not prove equal bytes. Two changes can fall into one tick of the
// file system's clock, which lasts up to two seconds (FAT).
const settleTime = 2 * time.Second

// Stat is the identity and age of a file. If it is unchanged since a Settled reading, the bytes are unchanged.
type Stat struct {
	Size       int64
	MtimeNs    int64
	CtimeNs    int64 // changes with content, mode, name or link count; touch cannot set it
	Inode, Dev uint64
}

// MtimeMs returns the modification time in milliseconds since 1970.
func (s Stat) MtimeMs() int64 { return s.MtimeNs / int64(time.Millisecond) }

// settled reports whether the file had not changed for settleTime at now. The change time counts too, because a tool
// may set an old modification time. With a wrong clock, both may lie in the future.
func settled(s Stat, now time.Time) bool {
	return max(s.MtimeNs, s.CtimeNs) <= now.Add(-settleTime).UnixNano()
}

// Survey returns the Stat of a path. For a folder, it also returns a hash over the names and Stats of its entries,
// which differs after a change. It reads at most as many entries as Search, and no subfolders.
func Survey(path string) (stat Stat, entries uint64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return stat, 0, err
	}
	if stat, err = StatPath(path); err != nil || !info.IsDir() {
		return stat, 0, err // a file is not opened, because it may be a pipe
	}
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return stat, 0, nil // a folder that cannot be opened counts as empty
	}
	defer func() { _ = f.Close() }()
	names, _ := f.Readdirnames(maxEntries)
	for _, name := range names {
		entry, _ := StatPath(filepath.Join(path, name))
		entries += sum(name, entry) // a sum does not depend on the order
	}
	return stat, entries, nil
}

func sum(name string, s Stat) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	_ = binary.Write(h, binary.LittleEndian, s)
	return h.Sum64()
}
