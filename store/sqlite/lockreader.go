package sqlite

import (
	"bytes"
	"os"
	"sync"

	"waybill/store"
)

// A lockReader reads the lock file without the lock. It is safe for concurrent use.
type lockReader struct {
	path string

	mu    sync.Mutex // guards the fields below
	file  *os.File   // nil if no file is open
	id    fileID     // of file
	files int64      // how many were found under the path so far
	text  []byte     // that was understood last
	now   store.Moment
	known bool // whether that text names the moment now
}

// Moment returns the commit count of the lock file if no commit is in progress. On a shared disk it may be outdated.
func (s *Store) Moment() (now store.Moment, ok bool) {
	if s.place.volume.remote {
		return store.Moment{}, false
	}
	return s.lockReader.look()
}

func (l *lockReader) look() (now store.Moment, ok bool) {
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

// find opens the file that other processes lock, unless it is open already. The caller holds mu.
func (l *lockReader) find() bool {
	id, err := idOf(l.path)
	if err == nil && l.file != nil && id == l.id {
		return true
	}
	l.forget()
	if err != nil {
		return false
	}
	file, err := openOwn(l.path, os.O_RDONLY)
	if err != nil {
		return false
	}
	if l.id, err = idOfFile(file); err != nil {
		_ = file.Close()
		return false
	}
	l.file, l.text = file, nil
	l.files++ // another file starts a new count
	return true
}

func (l *lockReader) understand(text []byte) {
	says := parseRecord(text)
	l.text, l.known = text, says.state == unlocked && whole(text)
	l.now = store.Moment{File: l.files, Commits: says.commits}
}

func (l *lockReader) forget() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// close closes the file. Later reads find nothing.
func (l *lockReader) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	l.path = ""
}
