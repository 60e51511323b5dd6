package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"waybill/store"
)

// place is where a store lies: the names of its files, and what was found there.
type place struct {
	path   string // of the database, without symbolic links
	volume volume
	fresh  bool     // there is no database yet
	notes  []string // what is not as it should be
}

// volume describes the file system of a directory.
type volume struct {
	name     string // of the kind of file system, if it is a special one
	remote   bool   // shared with other machines, or copied to them
	volatile bool   // its contents end with the machine
	free     uint64 // bytes that may still be written
}

const (
	privateDir  = 0o700
	privateFile = 0o600

	// modesCount says whether the bits of a file's mode say who may use it.
	modesCount = runtime.GOOS != "windows"
)

func (p *place) dir() string         { return filepath.Dir(p.path) }
func (p *place) lockPath() string    { return p.path + ".lock" }
func (p *place) reservePath() string { return p.path + ".reserve" }

// parts gives the files that SQLite keeps.
func (p *place) parts() []string { return []string{p.path, p.path + "-wal", p.path + "-shm"} }

func (p *place) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// locate finds the place of a store, makes its directory if need be, and checks that nobody else can
// replace what is in it. Neither it nor inspect opens the database: closing it again would drop the
// locks that SQLite holds for this process.
func locate(o Options) (*place, error) {
	path, err := canonical(o.Path)
	if err != nil {
		return nil, classify(o.Path, err)
	}
	p := &place{path: path}
	if err := p.checkDir(o.PrivateDir); err != nil {
		return nil, err
	}
	if p.volume, err = volumeOf(p.dir()); err != nil {
		return nil, classify(path, err)
	}
	if err := p.checkVolume(o.AllowRemote); err != nil {
		return nil, err
	}
	return p, nil
}

// inspect checks the files. It is called under the lock, because another process may be making them.
func (p *place) inspect() error {
	if err := p.checkFile(); err != nil {
		return err
	}
	for _, name := range append(p.parts()[1:], p.lockPath(), gatePath(p.lockPath()), p.reservePath()) {
		if err := p.makePrivate(name); err != nil {
			return err
		}
	}
	return nil
}

// canonical gives the path without symbolic links, so that all processes agree on the names of the
// files beside the database. It makes the directory if there is none.
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

// makeDir makes a directory and those above it, durably: a store in a directory that a power cut takes
// back would be gone with all it had confirmed.
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
			return nil // such as a directory on a file system that is only read
		}
		return err
	}
	return syncDir(filepath.Dir(path))
}

// checkDir refuses a directory in which another user could replace the database.
func (p *place) checkDir(private bool) error {
	info, err := os.Stat(p.dir())
	if err != nil {
		return classify(p.path, err)
	}
	if !modesCount {
		return nil
	}
	uid, _, err := owner(p.dir())
	if err != nil {
		return classify(p.path, err)
	}
	if me := os.Geteuid(); uid != me && uid > 0 {
		return fault(store.Unsafe, nil, "the directory of the store %s belongs to user %d, who could replace it: use one of your own",
			p.path, uid)
	}
	mode := info.Mode()
	if private && mode.Perm()&0o077 != 0 && uid == os.Geteuid() {
		if err := os.Chmod(p.dir(), privateDir); err != nil {
			return classify(p.path, err)
		}
		p.note("the directory of the store was open to other users (%v); it is private now", mode.Perm())
		return nil
	}
	if mode.Perm()&0o002 != 0 && mode&fs.ModeSticky == 0 {
		return fault(store.Unsafe, nil, "everybody may replace files beside the store %s: take the right to write in its directory from others",
			p.path)
	}
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
		return classify(p.path, err)
	}
	if !info.Mode().IsRegular() {
		return fault(store.Unsafe, nil, "the store %s is not a regular file: name another one", p.path)
	}
	uid, names, err := owner(p.path)
	if err != nil {
		return classify(p.path, err)
	}
	if uid != os.Geteuid() && uid >= 0 {
		return fault(store.Unsafe, nil, "the store %s belongs to user %d: use one of your own", p.path, uid)
	}
	if names > 1 {
		p.note("the store has %d hard links; opened by another of its names, it would be damaged", names)
	}
	return p.makePrivate(p.path)
}

// makePrivate takes all rights to the file from other users.
func (p *place) makePrivate(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return classify(p.path, err)
	}
	mode := info.Mode().Perm()
	if mode&0o077 == 0 || !modesCount {
		return nil
	}
	if err := os.Chmod(path, mode&0o700); err != nil {
		p.note("%s is open to other users (%v) and could not be made private", filepath.Base(path), mode)
		return nil
	}
	p.note("%s was open to other users (%v); it is private now", filepath.Base(path), mode)
	return nil
}

// identity is which files a store had when it was opened. SQLite does not notice that they were
// removed or replaced: it would go on writing to files that nobody will ever open again.
type identity []part

type part struct {
	path string
	id   fileID
}

// changed gives the first of the files that is not the one it was.
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
