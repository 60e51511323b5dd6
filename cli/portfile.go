package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"waybill/engine/workspace"
)

// Every process with a front door has a file of its own in the state folder. For programs that want any of them there
// is http.json beside these: the one that came last, or one of those that stayed.

// portFileName is the file in the state folder that says where a front door is.
const portFileName = "http.json"

// ownPortFile is the file of one process.
func ownPortFile(pid int) string { return fmt.Sprintf("http-%d.json", pid) }

// A portFile tells programs of this user where the front door of this process is.
type portFile struct {
	backend *backend

	mu   sync.Mutex // guards what follows
	door knock      // what the file says; its path is "" while it is nowhere
	gone bool       // it is not to be put anywhere any more
}

// says gives what the file says, and where it is.
func (p *portFile) says() *knock {
	p.mu.Lock()
	defer p.mu.Unlock()
	door := p.door
	return &door
}

// put puts the file into the state folder of a workspace, and takes it away from where it was.
func (p *portFile) put(ws workspace.Workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	folder, err := p.place(ws)
	path := filepath.Join(folder, ownPortFile(p.door.PID))
	if p.gone || err == nil && path == p.door.path {
		return
	}
	p.take()
	if err == nil {
		p.door.Store, err = storePath(p.backend.store, ws)
	}
	if err == nil {
		err = p.write(folder)
	}
	if err != nil {
		p.backend.logger.Warn("nobody can find the front door", "cause", err)
		p.backend.degrade(fmt.Sprintf("%s could not be written, so that nobody knows the token: %v", portFileName, err))
		return
	}
	p.door.path = path
}

// place gives the folder for the file. It makes the state folder.
func (p *portFile) place(ws workspace.Workspace) (string, error) {
	folder, err := portFolder(p.backend.store, ws)
	if err == nil && ws.StateDir != "" {
		err = ws.EnsureStateDir()
	}
	return folder, err
}

// portFolder gives the folder for the files: the state folder, or that of the store if there is none.
func portFolder(storeFlag string, ws workspace.Workspace) (string, error) {
	if ws.StateDir != "" {
		return ws.StateDir, nil
	}
	store, err := storePath(storeFlag, ws)
	return filepath.Dir(store), err
}

// write writes our own file first: who settles what http.json says goes by these.
func (p *portFile) write(folder string) error {
	for _, name := range []string{ownPortFile(p.door.PID), portFileName} {
		if err := replace(filepath.Join(folder, name), p.door.text()); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a file as a whole, so that who reads it at the same time sees one text or the other.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// remove takes the file away for good.
func (p *portFile) remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	p.take()
}

// take takes away what this process has left in the folder; the caller holds mu.
func (p *portFile) take() {
	if p.door.path == "" {
		return
	}
	folder := filepath.Dir(p.door.path)
	if there := readDoor(p.door.path); there != nil && there.is(&p.door) { // in a container, another one may have our id
		_ = os.Remove(there.path) // what stays is removed by the next one, as that of a killed process
	}
	removeSignposts(folder, func(pid int, _ time.Time) bool { return pid == p.door.PID })
	if err := settle(folder); err != nil {
		p.backend.logger.Warn("http.json names a front door that is not there any more", "cause", err)
	}
	p.door.path = ""
}

// settleTries bounds how often it is looked again whether a door came or went meanwhile.
const settleTries = 8

// settle has http.json name a door that is there, or takes it away if there is none. It looks again after each change:
// whoever comes meanwhile has written its own file before, and whoever leaves meanwhile has removed it.
func settle(folder string) error {
	path := filepath.Join(folder, portFileName)
	for range settleTries {
		named, doors := readDoor(path), doorsIn(folder)
		switch {
		case named != nil && slices.ContainsFunc(doors, named.is):
			return nil
		case len(doors) > 0:
			if err := replace(path, doors[0].text()); err != nil {
				return err
			}
		case named == nil:
			return nil
		default:
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return fmt.Errorf("doors came and went each of %d times", settleTries)
}

// doorsIn gives the doors of the processes that are there, the one that came last first. What a killed one left behind
// is removed.
func doorsIn(folder string) (doors []*knock) {
	entries, _ := os.ReadDir(folder) // a folder that is not there has none
	for _, entry := range entries {
		word, ours := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".json"), "http-")
		pid, err := strconv.Atoi(word)
		if !ours || err != nil || entry.Name() != ownPortFile(pid) {
			continue
		}
		door := readDoor(filepath.Join(folder, entry.Name()))
		switch {
		case door == nil || door.PID != pid:
		case alive(pid) && !door.deserted():
			doors = append(doors, door)
		default:
			_ = os.Remove(door.path) // it is passed over anyway
		}
	}
	slices.SortStableFunc(doors, func(a, b *knock) int { return cmp.Compare(b.since.UnixNano(), a.since.UnixNano()) })
	return doors
}

// readDoor reads a port file. It gives nil for what is none, and for what others could have put there: a file that is
// only for its owner, and that we can read, is ours.
func readDoor(path string) *knock {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil
	}
	text, err := os.ReadFile(path)
	door := &knock{path: path, since: info.ModTime()}
	if err != nil || json.Unmarshal(text, door) != nil || !door.local() {
		return nil
	}
	return door
}

// alive reports whether there is a process with that id; where that cannot be known, the other questions decide.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = process.Release() }()
	err = process.Signal(syscall.Signal(0))
	return err == nil || runtime.GOOS == "windows" || errors.Is(err, os.ErrPermission)
}
