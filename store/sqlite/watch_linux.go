package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A watch signals when a process writes to the file or closes it after opening it for writing, as a dying process does. A
// nil watch never signals. One goroutine uses it.
type watch struct {
	path string
	file *os.File
	rung chan struct{} // of size one; closed by listen
}

// watched is what rings. A name that is taken from the file is a change of its attributes.
const watched = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB

func newWatch(path string) (*watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	w := &watch{path: path, file: os.NewFile(uintptr(fd), "inotify"), rung: make(chan struct{}, 1)}
	if err := w.attach(); err != nil {
		return nil, errors.Join(err, w.file.Close())
	}
	go w.listen() // ends with close, or when no more events can arrive
	return w, nil
}

// attach watches the file that has the name now. If that file is already watched, nothing changes.
func (w *watch) attach() error {
	raw, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		_, failed = unix.InotifyAddWatch(int(fd), w.path, watched)
	}); err != nil {
		return err
	}
	return os.NewSyscallError("inotify_add_watch", failed)
}

// listen signals for every event; the file itself tells the details.
func (w *watch) listen() {
	defer close(w.rung)
	events := make([]byte, 4096)
	for {
		if _, err := w.file.Read(events); err != nil {
			return
		}
		select {
		case w.rung <- struct{}{}:
		default:
		}
	}
}

// rings returns the channel that is signalled. It is closed when no more events can arrive.
func (w *watch) rings() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.rung
}

// renew watches the file that took the place of the one before. That there is none may change.
func (w *watch) renew() {
	if w != nil {
		_ = w.attach()
	}
}

// close ends the watch and waits for its goroutine.
func (w *watch) close() {
	if w == nil {
		return
	}
	_ = w.file.Close()
	for range w.rung { // until it is closed
	}
}
