package sqlite

import (
	"bytes"
	"os"
	"sync"

	"waybill/store"
)

// A lookout reads the lock file without the lock. It may be used by any goroutine.
type lookout struct {
	path string

	mu    sync.Mutex // guards what follows
	file  *os.File   // nil if there is none open
	id    fileID     // of file
	files int64      // how many were found under the path so far
	text  []byte     // that was understood last
	now   store.Moment
	known bool // whether that text names the moment now
}

// Moment says how many commits the lock file counts, if nobody is at one. On a disk of several machines, what is read
// may be older than that.
func (s *Store) Moment() (now store.Moment, ok bool) {
	if s.place.volume.remote {
		return store.Moment{}, false
	}
	return s.lookout.look()
}

func (l *lookout) look() (now store.Moment, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.find() {
		return store.Moment{}, false
	}
	var buf [recordSize]byte
	n, _ := l.file.ReadAt(buf[:], 0)
	if text := buf[:n]; !bytes.Equal(text, l.text) {
		l.understand(bytes.Clone(text))
	}
	return l.now, l.known
}

// find makes sure that the file is the one which others lock; the caller holds mu.
func (l *lookout) find() bool {
	id, err := idOf(l.path)
	if err == nil && l.file != nil && id == l.id {
		return true
	}
	l.forget()
	if err != nil {
		return false
	}
	file, err := os.Open(l.path)
	if err != nil {
		return false
	}
	if l.id, err = idOfFile(file); err != nil {
		_ = file.Close()
		return false
	}
	l.file, l.text = file, nil
	l.files++ // another file counts anew
	return true
}

func (l *lookout) understand(text []byte) {
	says := parseRecord(text)
	l.text, l.known = text, says.state == unlocked && whole(text)
	l.now = store.Moment{File: l.files, Commits: says.commits}
}

func (l *lookout) forget() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// close lets go of the file. It is not looked at any more after that.
func (l *lookout) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	l.path = ""
}
