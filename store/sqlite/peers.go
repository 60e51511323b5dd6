package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"waybill/store"
)

// A process that has a store open for writing keeps a small file beside it with its process id and version. The lock on
// the file ends with the process. Other processes remove a file without a lock, because its process was killed. No
// promise of the store depends on these files, so their faults are ignored. A salvage reads them before it replaces a
// store.

// presence is the file of this process, or nil.
type presence struct{ file *os.File }

const (
	peerMark   = ".peer-" // in the name of the file, after the name of the store
	peerFormat = "waybill peer 1\npid %d\nversion %s\n"
	peerSize   = 256
	// peerTries bounds how often the file is created again. Another process may find it before it is locked and remove
	// it as abandoned.
	peerTries = 3
)

// announce creates the file of this process and removes those of dead processes.
func (p *place) announce(version string) *presence {
	_ = p.peers(nil)
	for range peerTries {
		f, err := os.CreateTemp(p.dir(), filepath.Base(p.path)+peerMark+"*")
		if err != nil {
			return nil
		}
		locked, err := tryLock(f)
		if err == nil && locked {
			_, err = fmt.Fprintf(f, peerFormat, os.Getpid(), plain(cmp.Or(version, "unknown"), hostSize))
		}
		if err == nil && locked && isAt(f, f.Name()) {
			return &presence{f}
		}
		_ = errors.Join(f.Close(), removeAny(f.Name()))
	}
	return nil
}

func isAt(f *os.File, path string) bool {
	open, err := idOfFile(f)
	if err != nil {
		return false
	}
	there, err := idOf(path)
	return err == nil && there == open
}

// withdraw removes the file. It is closed first, because some systems do not remove an open one.
func (p *presence) withdraw() {
	if p != nil {
		_ = errors.Join(p.file.Close(), removeAny(p.file.Name()))
	}
}

// peers returns the other processes that have the store open, and removes the files of dead ones.
func (p *place) peers(self *presence) (all []store.Peer) {
	entries, err := os.ReadDir(p.dir())
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		name := filepath.Join(p.dir(), entry.Name())
		if !strings.HasPrefix(name, p.path+peerMark) || (self != nil && name == self.file.Name()) {
			continue
		}
		if peer, ok := readPeer(name); ok {
			all = append(all, peer)
		}
	}
	return all
}

// inUse returns an error with the advice that names the processes with the store open, or nil without any.
func (p *place) inUse(advice string) error {
	peers := p.peers(nil)
	if len(peers) == 0 {
		return nil
	}
	pids := make([]string, len(peers))
	for i, peer := range peers {
		pids[i] = strconv.Itoa(peer.PID)
	}
	return fault(store.Busy, nil, "the store %s is in use by process %s: %s", p.path, strings.Join(pids, ", "), advice)
}

// readPeer reads the file of another process; ok is false if that is gone.
func readPeer(name string) (peer store.Peer, ok bool) {
	f, err := openOwn(name, os.O_RDWR)
	if err != nil {
		return peer, false
	}
	defer func() { _ = f.Close() }() // and with it the lock
	if free, err := tryLock(f); err != nil || free {
		if free {
			_ = os.Remove(name)
		}
		return peer, false
	}
	return peerIn(f)
}

// peerIn reads the file of a process.
func peerIn(f *os.File) (peer store.Peer, ok bool) {
	text := make([]byte, peerSize)
	n, _ := f.ReadAt(text, 0)
	found, err := fmt.Sscanf(string(text[:n]), peerFormat, &peer.PID, &peer.Version)
	return peer, found == 2 && err == nil
}
