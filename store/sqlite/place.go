package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"waybill/internal/ownfile"
	"waybill/store"
)

// place is the location of a store: the names of its files, and their state at opening.
type place struct {
	path   string // of the database, without symbolic links
	volume volume
	fresh  bool     // there is no database yet
	notes  []string // problems of the place
}

// volume describes the file system of a directory.
type volume struct {
	name     string // of the kind of file system, if it is a special one
	remote   bool   // shared with other machines, or copied to them
	volatile bool   // its contents end with the machine
	free     uint64 // bytes that may still be written
	size     int64  // in bytes
}

const (
	privateDir  = 0o700
	privateFile = 0o600

	// modesCount reports whether the mode bits of a file decide who may use it.
	modesCount = runtime.GOOS != "windows"
)

func (p *place) dir() string         { return filepath.Dir(p.path) }
func (p *place) lockPath() string    { return p.path + ".lock" }
func (p *place) reservePath() string { return p.path + ".reserve" }

// parts returns the files that SQLite keeps.
func (p *place) parts() []string { return []string{p.path, p.path + "-wal", p.path + "-shm"} }

// journalPath returns the path of the file that SQLite has in the place of -wal on a shared disk. Everywhere else, too,
// it opens such a file and rolls back what is in it.
func (p *place) journalPath() string { return p.path + "-journal" }

// files returns the paths of the files that make up a store, the database first.
func (p *place) files() []string {
	return append(p.parts(), p.journalPath(), p.lockPath(), gatePath(p.lockPath()), p.reservePath())
}

// lockText returns the contents of the lock file. It needs no lock, because one call reads the whole record.
func (p *place) lockText() ([]byte, error) {
	f, err := openOwn(p.lockPath(), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text := make([]byte, recordSize)
	n, _ := f.ReadAt(text, 0)
	return text[:n], nil
}

func (p *place) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// locate finds the place of a store, makes its directory if need be, and checks that no other user can
// replace what is in it. Neither it nor inspect opens the database: closing it again would drop the
// locks that SQLite holds for this process.
func locate(o Options) (*place, error) {
	path, err := canonical(o.Path)
	if err != nil {
		return nil, classify(o.Path, err)
	}
	p := &place{path: path}
	if err := checkFolders(o.Path, path); err != nil {
		return nil, classify(path, err)
	}
	if o.PrivateDir {
		if err := p.makeDirPrivate(); err != nil {
			return nil, classify(path, err)
		}
	}
	if p.volume, err = volumeOf(p.dir()); err != nil {
		return nil, classify(path, err)
	}
	if err := p.checkVolume(o.AllowRemote); err != nil {
		return nil, err
	}
	return p, nil
}

// inspect checks the files and makes them private. The caller holds the lock, because another process may be making them.
func (p *place) inspect() error {
	if err := p.checkFile(); err != nil {
		return classify(p.path, err)
	}
	for _, path := range p.files()[1:] {
		if err := ownfile.Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return classify(p.path, err)
		}
	}
	for _, path := range p.files() {
		p.makePrivate(path)
	}
	return nil
}

// canonical returns the path without symbolic links, so that all processes agree on the names of the files beside the
// database. It creates the directory if necessary.
func canonical(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := makeDir(filepath.Dir(abs)); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if info, err := os.Lstat(abs); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", fault(store.Unsafe, nil, "the store %s is a symbolic link to nothing: remove it or name the file itself", abs)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	return filepath.Join(dir, filepath.Base(abs)), err
}

// makeDir makes a directory and its parents durably. If a power cut removed the directory, the store in it would be
// lost with everything it had confirmed.
func makeDir(path string) error {
	err := os.Mkdir(path, privateDir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDir(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Mkdir(path, privateDir)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
			return nil // such as a directory on a read-only file system
		}
		return err
	}
	return syncDir(filepath.Dir(path))
}

// checkFolders refuses a folder in which another user could replace the store. named is the path that the user named;
// real is the same path without links. If the store itself is a link, the folder of the link counts as well.
func checkFolders(named, real string) error {
	for _, path := range []string{named, real} {
		if err := checkFolder(path, filepath.Dir(path)); err != nil {
			return err
		}
	}
	return nil
}

// checkFolder returns a *ownfile.Refusal if another user owns the folder of a store or can write to it. It leaves the
// mode of a writable folder unchanged, because many users may share the folder, such as /tmp.
func checkFolder(path, dir string) error {
	info, err := os.Stat(dir)
	if err != nil || !modesCount {
		return err
	}
	uid, _, err := owner(dir)
	if err != nil {
		return err
	}
	if uid != os.Geteuid() && uid > 0 {
		return &ownfile.Refusal{
			What: fmt.Sprintf("the directory of the store %s belongs to user %d, who could replace it", path, uid),
			Mend: "use one of your own",
		}
	}
	if info.Mode().Perm()&0o022 != 0 {
		return &ownfile.Refusal{
			What: "other users can put files beside the store " + path,
			Mend: "use a folder of its own, or run chmod go-w " + dir,
		}
	}
	return nil
}

// makeDirPrivate takes the rights that other users still have to the directory, if it belongs to this user.
func (p *place) makeDirPrivate() error {
	d, err := os.Open(p.dir())
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	info, err := d.Stat()
	if err != nil {
		return err
	}
	uid, _, err := owner(p.dir())
	if err != nil || uid != os.Geteuid() || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	if err := d.Chmod(privateDir); err != nil {
		return err
	}
	p.note("the directory of the store was open to other users (%v); it is private now", info.Mode().Perm())
	return nil
}

// syncedFolders are names of directories that a program copies to other machines behind our back,
// file by file and at any moment.
var syncedFolders = []string{"Dropbox", "OneDrive", "Google Drive", "iCloud Drive", "Mobile Documents"}

func (p *place) checkVolume(allowRemote bool) error {
	for _, element := range strings.Split(filepath.ToSlash(p.dir()), "/") {
		if slices.Contains(syncedFolders, element) {
			p.volume.name, p.volume.remote = "synchronised folder "+element, true
		}
	}
	if p.volume.volatile {
		p.note("the store lies on %s and ends with this machine", p.volume.name)
	}
	if !p.volume.remote {
		return nil
	}
	if !allowRemote {
		return fault(store.Unsafe, nil, "the store %s lies on %s, where several machines would damage it: put it on a local disk, "+
			"or, for several machines, in a PostgreSQL database with --store postgres://user@host/database",
			p.path, p.volume.name)
	}
	p.note("the store lies on %s: only one process can have it open, and what is durable is up to the file system", p.volume.name)
	return nil
}

// checkFile refuses a database that is not ours: who planted it could have queued instructions.
func (p *place) checkFile() error {
	info, err := os.Lstat(p.path)
	if p.fresh = errors.Is(err, fs.ErrNotExist); p.fresh {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &ownfile.Refusal{What: fmt.Sprintf("the store %s is not a regular file", p.path), Mend: "name another one"}
	}
	uid, names, err := owner(p.path)
	if err != nil {
		return err
	}
	if uid != os.Geteuid() && uid >= 0 {
		return &ownfile.Refusal{What: fmt.Sprintf("the store %s belongs to user %d", p.path, uid), Mend: "use one of your own"}
	}
	if names > 1 {
		p.note("the store has %d hard links; opened by another of its names, it would be damaged", names)
	}
	return nil
}

// makePrivate takes all rights to a file of the store from other users and notes that.
func (p *place) makePrivate(path string) {
	was, err := MakePrivate(p.path, path)
	switch {
	case was == 0:
	case err != nil:
		p.note("%s is open to other users (%v) and could not be made private", filepath.Base(path), was)
	default:
		p.note("%s was open to other users (%v); it is private now", filepath.Base(path), was)
	}
}

// MakePrivate takes all rights to a file of the store at path database from other users. It returns the mode that let
// them in, or 0 if none did. It changes the file through a descriptor that stays open until this process closes its
// last connection. Closing it earlier would drop the locks of SQLite.
func MakePrivate(database, path string) (was fs.FileMode, err error) {
	info, err := os.Lstat(path)
	if err != nil || !modesCount || info.Mode().Perm()&0o077 == 0 {
		return 0, err
	}
	was = info.Mode().Perm()
	if path == database {
		err = (&place{path: database}).checkFile()
	} else {
		err = ownfile.Check(path)
	}
	if err != nil {
		return was, err
	}
	g, err := openShared(database)
	if errors.Is(err, fs.ErrNotExist) {
		g, err = &sharedFile{users: 1}, nil // no connection has it open
	}
	if err != nil {
		return was, err
	}
	f, err := g.keep(path, info, os.O_RDONLY)
	switch {
	case err != nil:
	case path == database && !isStore(f):
		err = fmt.Errorf("%s is not a store of waybill and keeps its mode", path)
	default:
		err = f.Chmod(was & 0o700)
	}
	return was, errors.Join(err, g.release())
}

// isStore reports whether a file has the mark of a store, or nothing yet.
func isStore(f *os.File) bool {
	var header [72]byte
	n, _ := f.ReadAt(header[:], 0)
	return n == 0 || binary.BigEndian.Uint32(header[68:]) == applicationID
}

// identity is which files a store had when it was opened. SQLite does not notice that they were
// removed or replaced: it would go on writing to files that no process will ever open again.
type identity []part

type part struct {
	path string
	id   fileID
}

// changed returns the first of the files that is not the one it was.
func (known identity) changed() (path string, ok bool) {
	for _, part := range known {
		if !part.there() {
			return part.path, true
		}
	}
	return "", false
}

// there reports whether the path still leads to the file.
func (p part) there() bool {
	id, err := idOf(p.path)
	return err == nil && id == p.id
}

// identify notes the files that are there.
func identify(paths []string) (known identity, err error) {
	for _, path := range paths {
		id, err := idOf(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		known = append(known, part{path, id})
	}
	return known, nil
}

// fill writes that many bytes to the file.
func fill(f *os.File, size int64) error {
	block := make([]byte, 1<<16)
	for at := int64(0); at < size; at += int64(len(block)) {
		if _, err := f.WriteAt(block, at); err != nil {
			return err
		}
	}
	return nil
}
