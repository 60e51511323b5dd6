package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"waybill/store"
	"waybill/store/rows"
)

// afterFault does what a fault of the store asks for, and gives the error to return. The turn and the
// lock are held, and no transaction is open.
func (s *Store) afterFault(err error) error {
	e := classify(s.place.path, err)
	switch e.Kind {
	case store.IO:
		s.revive(e)
	case store.Lost:
		return s.lose(s.place.path, e.Outcome)
	case store.Corrupt:
		// A row that is not what was written spoils nothing but itself. A file that SQLite cannot
		// make sense of is only made worse by writing.
		if code(e) != 0 {
			s.stop(fault(store.Corrupt, e.Err, "the store %s is damaged and is not written any more: it was left as it is; put a copy back, or move it away to begin anew", s.place.path))
		}
	case store.NewerSchema:
		s.stop(fault(e.Kind, nil, "%s", e.Message))
	case store.Full, store.ReadOnly, store.Busy, store.Unsafe, store.Closed, store.Cancelled:
	}
	return e
}

// revive opens the writing connection anew after the disk failed. After a failed sync the system
// takes for clean what never reached the disk: what this connection believes to be stored may not
// be. The second failure is one too many.
func (s *Store) revive(why *store.Error) {
	s.ioFaults++
	s.o.Logger.Error("the disk of the store failed", "path", s.place.path, "reason", why.Error(), "times", s.ioFaults)
	if s.ioFaults > 1 {
		s.stop(fault(store.ReadOnly, why.Err, "the disk of the store %s failed twice: it is only read until waybill is restarted", s.place.path))
		return
	}
	s.note("the disk of the store failed once: " + why.Error())
	if err := s.reconnect(context.Background()); err != nil {
		s.stop(fault(store.ReadOnly, err, "the store %s could not be opened again after its disk had failed: it is only read", s.place.path))
	}
}

// reconnect opens the writing connection anew and checks what it finds.
func (s *Store) reconnect(ctx context.Context) error {
	s.dropWriter()
	c, err := connect(ctx, s.place.path, readWrite)
	if err != nil {
		return err
	}
	s.w = c
	if err := c.script(ctx, s.place.writerSettings(s.o.lockWait)); err != nil {
		return err
	}
	if err := s.checkIntegrity(ctx); err != nil {
		return err
	}
	if err := s.startLogAnew(); err != nil {
		return err
	}
	if err := s.checkLog(); err != nil {
		return err
	}
	if !s.database.there() {
		return fmt.Errorf("%s was replaced", s.place.path)
	}
	if s.files, err = identify(s.place.parts()); err != nil {
		return err
	}
	return c.expect(s.latest())
}

// startLogAnew moves everything out of the write-ahead log and begins it from its start. What a failed
// sync left in the log may be in the memory of the system only, and would be a hole on the disk
// before all that is written behind it.
func (s *Store) startLogAnew() error {
	if s.place.volume.remote {
		return nil
	}
	busy := int64(1)
	if err := s.w.Query(func(r *rows.Row) error {
		busy = r.Integer()
		return r.Err()
	}, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return err
	}
	if busy != 0 {
		return errors.New("its write-ahead log is still being read")
	}
	return nil
}

// lose ends all writing, because part is not the file that it was, and rescues what the connection
// still sees. The rescue is a copy beside the lost database: what has its name now is not touched.
func (s *Store) lose(part string, outcome store.Outcome) error {
	s.mu.Lock()
	s.alone = true // a new connection would open whatever has the name now
	s.mu.Unlock()
	rescued, err := s.rescue(time.Now())
	text := fmt.Sprintf("%s was removed or replaced while the store was open, and nothing is written any more: ", part)
	if err == nil {
		text += fmt.Sprintf("everything up to now was rescued to %s; put it in place and restart", rescued)
		s.removeOrphans()
	} else {
		text += "a copy could not be rescued either"
	}
	lost := &store.Error{Kind: store.Lost, Outcome: outcome, Message: text, Err: err}
	kept := *lost
	s.stop(&kept)
	return lost
}

// rescuedMark begins what the name of a copy of a lost store has behind the name of the store.
const rescuedMark = ".rescued-"

// rescue copies what the writing connection sees.
func (s *Store) rescue(now time.Time) (path string, err error) {
	path = fmt.Sprintf("%s%s%s-%d", s.place.path, rescuedMark, stamp(now), os.Getpid())
	if err := makeDir(filepath.Dir(path)); err != nil {
		return "", err
	}
	return path, copyInto(context.Background(), s.w, path)
}

// checkRescued refuses to begin anew beside what was rescued from a store that was lost: it would look
// as if everything were gone.
func (p *place) checkRescued() error {
	entries, err := os.ReadDir(p.dir())
	if err != nil {
		return err
	}
	var rescued []string
	for _, entry := range entries {
		name, ours := strings.CutPrefix(entry.Name(), filepath.Base(p.path)+rescuedMark)
		// Beside a copy that was looked into lie the files of SQLite and of its lock.
		if ours && !strings.Contains(name, ".") && !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") {
			rescued = append(rescued, filepath.Join(p.dir(), entry.Name()))
		}
	}
	if len(rescued) == 0 {
		return nil
	}
	newest := rescued[len(rescued)-1] // the name begins with the time
	return fault(store.Lost, nil, "the store %s is gone, and what it held was rescued to %s: move that back to %s to go on with it, or move every %s%s* away to begin anew",
		p.path, newest, p.path, p.path, rescuedMark)
}

// removeOrphans removes our -wal and -shm if the database beside them is another one by now: SQLite
// would replay them into it.
func (s *Store) removeOrphans() {
	if s.database.there() {
		return
	}
	for _, part := range s.files[1:] {
		if part.there() {
			_ = os.Remove(part.path)
		}
	}
}

func stamp(now time.Time) string { return now.UTC().Format("20060102T150405Z") }

// copyInto writes a copy of the database that c sees to path, durably, and replaces what was there.
func copyInto(ctx context.Context, c *conn, path string) (err error) {
	temp, err := makeTemp(path + ".part-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp)
		}
	}()
	if _, err := c.Exec("VACUUM INTO ?", temp); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := syncFile(temp); err != nil {
		return err
	}
	return moveDurably(temp, path)
}

func moveDurably(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

func removeAny(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// makeEmpty makes an empty file that only we can read; SQLite would give it another mode.
func makeEmpty(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateFile)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeTemp makes such a file under a name that nobody has: the last * of the pattern becomes something else.
func makeTemp(pattern string) (path string, err error) {
	f, err := os.CreateTemp(filepath.Dir(pattern), filepath.Base(pattern))
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// vacant gives the name, or one like it, under which there is no database yet.
func vacant(name string) string {
	for n, path := 2, name; ; n++ {
		if !exists(path) && !exists(path+"-wal") {
			return path
		}
		path = fmt.Sprintf("%s-%d", name, n)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
