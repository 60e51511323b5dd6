package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

const (
	// A temporary name begins with a dot, so that no pattern of Search and no shell glob matches it. It ends in a
	// suffix that editors and their watchers ignore.
	tempPrefix = ".waybill-"
	tempSuffix = ".tmp"
	// savedSuffix ends the name of a file with a text that a person saved. Waybill never removes it.
	savedSuffix = ".saved"
	// abandoned is the age at which a temporary file counts as a leftover of a killed writer, even if no lock file
	// lists it.
	abandoned = time.Minute
	// maxSwaps limits how often one write exchanges the names.
	maxSwaps = 8
)

// A site is the folder that contains a file after all links are resolved, and the file's name in it.
type site struct {
	dir   *os.Root
	path  string // of dir, relative to the workspace
	base  string
	limit int64 // in bytes; read returns at most one byte more
	// exchanged, if not nil, runs after each exchange of the names. Only tests set it.
	exchanged func()
}

// findSite follows the links of name to the file itself, so that a link stays a link.
func (t *tree) findSite(name string) (s site, err error) {
	for range maxLinks {
		dir, base := path.Split(strings.TrimRight(name, "/"))
		if base == "." || base == ".." {
			return s, onlyRegular(fs.ModeDir)
		}
		err := t.follow(path.Join(".", strings.TrimSuffix(dir, "/")), func(dir string) (err error) {
			s.dir, err = t.root.OpenRoot(dir)
			s.path = dir
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
		head, ok := t.inside(target, strings.Split(strings.TrimSuffix(dir, "/"), "/"))
		if !ok {
			return s, &Error{Reason: OutsideWorkspace, Err: fmt.Errorf("the link %q leads out of the workspace", name)}
		}
		name = strings.TrimPrefix(strings.Join(head, "/"), "/")
	}
	return s, &Error{Reason: SymlinkLoop, Err: fmt.Errorf("more than %d links", maxLinks)}
}

// link returns the target of a link, or "" if the file is not a link.
func (s site) link() (string, error) {
	info, err := s.dir.Lstat(s.base)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	return s.dir.Readlink(s.base)
}

// writable returns an error for a file that the user must not write, even if its folder would allow replacing it.
func (s site) writable() (fs.FileInfo, error) {
	info, err := s.dir.Lstat(s.base)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, onlyRegular(info.Mode())
	case info.Mode().Perm()&0o222 == 0:
		return nil, &WriteError{Reason: Denied, Err: errors.New("the file is read-only for everyone")}
	case names(info) > 1:
		return nil, &WriteError{Reason: HardLinked, Err: errors.New("the file has another hard link, which would keep the old content")}
	}
	f, err := s.dir.OpenFile(s.base, writeFlags, 0)
	if err != nil {
		return nil, err
	}
	return info, f.Close()
}

// sweep settles abandoned temporary files in the folder, and returns the names of those that it kept. A file that it
// cannot settle stays.
func (s site) sweep(now time.Time) (saved []string) {
	d, err := s.dir.Open(".")
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(maxEntries)
	for _, name := range names {
		if !ours.Compiled().MatchString(name) {
			continue
		}
		if info, err := s.dir.Lstat(name); err == nil && now.Sub(info.ModTime()) > abandoned {
			if kept, err := s.settle(name); err == nil && kept != "" {
				saved = append(saved, kept)
			}
		}
	}
	return saved
}

// stage writes text durably to a new file with the mode and owner of the old one. The file has a draft name until it
// is complete, and then the name temp.
func (s site) stage(temp, text string, like fs.FileInfo) error {
	draft := draftOf(temp)
	f, err := s.dir.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	keepOwner(f, like)
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(like.Mode().Perm()) // after keepOwner, because a change of the owner may change the mode
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.dir.Rename(draft, temp)
	}
	if err != nil {
		return errors.Join(err, s.dir.Remove(draft))
	}
	return nil
}

// read returns the text of a regular file, which is cut one byte beyond the limit.
func (s site) read(name string) (string, error) {
	f, err := openRegular(s.dir.Lstat, s.dir.OpenFile, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	return readText(f, min(info.Size(), s.limit)+1)
}
