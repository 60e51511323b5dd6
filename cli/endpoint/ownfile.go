package endpoint

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

	"waybill/cli/backend"
	"waybill/engine/workspace"
	"waybill/internal/atomicfile"
)

// Every process with a front door writes its own file into the state folder. In addition, http.json names the newest
// front door, for programs that accept any of them.

// FileName is the file in the state folder with the address of a front door.
const FileName = "http.json"

// ownFileName is the file of one process.
func ownFileName(pid int) string { return fmt.Sprintf("http-%d.json", pid) }

// An OwnFile shows programs of this user where this process serves HTTP.
type OwnFile struct {
	Backend *backend.Backend

	mu   sync.Mutex // guards the fields below
	Door Endpoint   // content of the file; its path is "" while there is no file
	gone bool       // the file must not be written any more
}

// Says returns the content of the file and its path.
func (p *OwnFile) Says() *Endpoint {
	p.mu.Lock()
	defer p.mu.Unlock()
	door := p.Door
	return &door
}

// Put puts the file into the state folder of a workspace, and takes it away from where it was.
func (p *OwnFile) Put(ws workspace.Workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	folder, err := p.place(ws)
	path := filepath.Join(folder, ownFileName(p.Door.PID))
	if p.gone || err == nil && path == p.Door.path {
		return
	}
	p.take()
	if err == nil {
		p.Door.Store, err = backend.StorePath(p.Backend.Store, ws)
	}
	if err == nil {
		err = p.write(folder)
	}
	if err != nil {
		p.Backend.Logger.Warn("the endpoint file could not be written, so other programs cannot find the server", "cause", err)
		p.Backend.Degrade(fmt.Sprintf("%s could not be written, so no program can read the token: %v", FileName, err))
		return
	}
	p.Door.path = path
}

// place returns the folder for the file. It creates the state folder.
func (p *OwnFile) place(ws workspace.Workspace) (string, error) {
	folder, err := Folder(p.Backend.Store, ws)
	if err == nil && ws.StateDir != "" {
		err = ws.EnsureStateDir()
	}
	return folder, err
}

// Folder returns the folder for the files: the state folder, or the folder of the store without one.
func Folder(storeFlag string, ws workspace.Workspace) (string, error) {
	if ws.StateDir != "" {
		return ws.StateDir, nil
	}
	store, err := backend.StorePath(storeFlag, ws)
	return filepath.Dir(store), err
}

// write writes the file of this process before http.json, because settle derives http.json from such files.
func (p *OwnFile) write(folder string) error {
	for _, name := range []string{ownFileName(p.Door.PID), FileName} {
		if err := atomicfile.Replace(filepath.Join(folder, name), p.Door.text()); err != nil {
			return err
		}
	}
	return nil
}

// Remove takes the file away for good.
func (p *OwnFile) Remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	p.take()
}

// take removes the files of this process from the folder. The caller holds mu.
func (p *OwnFile) take() {
	if p.Door.path == "" {
		return
	}
	folder := filepath.Dir(p.Door.path)
	if there := Read(p.Door.path); there != nil && there.is(&p.Door) { // in a container, another process may have our id
		_ = os.Remove(there.path) // the next server removes a file that stays
	}
	removeRedirects(folder, func(pid int, _ time.Time) bool { return pid == p.Door.PID })
	if err := settle(folder); err != nil {
		p.Backend.Logger.Warn("http.json names a front door that is not there any more", "cause", err)
	}
	p.Door.path = ""
}

// settleTries limits how often settle looks for doors that came or went meanwhile.
const settleTries = 8

// settle makes http.json name a running front door, or removes it without one. It looks again after each change,
// because a starting server writes its own file first, and an ending one removes it.
func settle(folder string) error {
	path := filepath.Join(folder, FileName)
	for range settleTries {
		named, doors := Read(path), running(folder)
		switch {
		case named != nil && slices.ContainsFunc(doors, named.is):
			return nil
		case len(doors) > 0:
			if err := atomicfile.Replace(path, doors[0].text()); err != nil {
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
	return fmt.Errorf("the endpoint files kept changing in %d tries", settleTries)
}

// running returns the front doors of running processes, the newest first. It removes the file of a killed process.
func running(folder string) (doors []*Endpoint) {
	entries, _ := os.ReadDir(folder) // a folder that is not there has none
	for _, entry := range entries {
		word, ours := strings.CutPrefix(strings.TrimSuffix(entry.Name(), ".json"), "http-")
		pid, err := strconv.Atoi(word)
		if !ours || err != nil || entry.Name() != ownFileName(pid) {
			continue
		}
		door := Read(filepath.Join(folder, entry.Name()))
		switch {
		case door == nil || door.PID != pid:
		case Alive(pid) && !door.deserted():
			doors = append(doors, door)
		default:
			_ = os.Remove(door.path) // it is passed over anyway
		}
	}
	slices.SortStableFunc(doors, func(a, b *Endpoint) int { return cmp.Compare(b.Since.UnixNano(), a.Since.UnixNano()) })
	return doors
}

// Read reads a port file. It returns nil for other files, and for files that another user could have put there. A
// private file that this user can read belongs to this user.
func Read(path string) *Endpoint {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil
	}
	text, err := os.ReadFile(path)
	door := &Endpoint{path: path, Since: info.ModTime()}
	if err != nil || json.Unmarshal(text, door) != nil || !door.local() {
		return nil
	}
	return door
}

// Alive reports whether there is a process with that id; where that cannot be known, the other questions decide.
func Alive(pid int) bool {
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
