package gate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"waybill/internal/atomicfile"
)

// The marks are small files in the state folder, for facts that only hooks need: which conversation was compacted, how often
// a stop was held, and on which files the checks were green. Losing one costs a text, a hold or an execution, and no work.

// A mark names a kind of these files.
type mark string

const (
	compacted mark = "compacted"
	held      mark = "held"
)

// marksAge is the age at which marks of sessions that ended are removed.
const marksAge = 7 * 24 * time.Hour

// path returns the file of a mark of the session, or "".
func (r *Handler) path(m mark) string {
	if r.Store.folder() == "" {
		return ""
	}
	return filepath.Join(r.Store.folder(), string(m)+"-"+digest(r.Host.Name, r.In.Session, r.In.Agent))
}

// mark makes a mark.
func (r *Handler) mark(m mark, text string) error {
	path := r.path(m)
	if path == "" {
		return nil
	}
	if err := r.Store.makeFolder(); err != nil {
		return err
	}
	return atomicfile.Replace(path, []byte(text))
}

// unmark removes a mark and reports whether it was there. Of several processes, one removes it.
func (r *Handler) unmark(m mark) bool {
	path := r.path(m)
	return path != "" && os.Remove(path) == nil
}

// holds returns how often this stop was held. The host knows best whether it is the first time.
func (r *Handler) holds() int {
	if r.In.Held >= 0 {
		return r.In.Held
	}
	path := r.path(held)
	if path == "" {
		return r.Host.Holds // it cannot be counted, so the agent may stop
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return r.Host.Holds
	}
	return n
}

// sweep removes the marks in a folder whose sessions ended without a stop.
func sweep(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.Name() == turnFile {
			continue // a removed lock excludes no other hook
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > marksAge {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
}
