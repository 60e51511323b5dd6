package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"waybill/store"
	"waybill/store/sqlstore"
)

// afterFault reacts to a fault of the store, and returns the error for the caller. The caller holds the turn and the
// lock, and no transaction is open.
func (s *Store) afterFault(err error) error {
	e := classify(s.place.path, err)
	switch e.Kind {
	case store.IO:
		s.revive(e)
	case store.Lost:
		return s.lose(s.place.path, e.Outcome)
	case store.Corrupt:
		// A damaged row affects only itself. Writing to a damaged file makes it worse. SQLite reports an unreadable
		// page as damage, so the file must be checked again.
		switch {
		case code(e) == 0:
		case code(e)&0xff == sqlite3.SQLITE_CORRUPT && !isKind(s.checkIntegrity(context.Background()), store.Corrupt):
			e = &store.Error{Kind: store.IO, Outcome: e.Outcome, Message: diskFailedText(s.place.path), Err: e.Err}
			s.revive(e)
		default:
			s.stop(fault(store.Corrupt, e.Err, "the store %s is damaged and is not written any more: it was left as it is; put a copy back, or move it away to begin anew", s.place.path))
		}
	case store.NewerSchema:
		s.stop(fault(e.Kind, nil, "%s", e.Message))
	case store.Full, store.ReadOnly, store.Busy, store.Unsafe, store.Closed, store.Cancelled:
	}
	return e
}

// After the disk failed, the time between two attempts to open the writing connection doubles from firstRetry to lastRetry.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// revive opens the writing connection again after the disk failed. After a failed sync, the system treats pages as
// clean that never reached the disk, so this connection may trust lost data. After a second fault
// within the waiting time, or a failed attempt, the store has no writing connection until a later Update opens one.
// The failed call reports the first fault; rest keeps the later one for the next Update.
func (s *Store) revive(why *store.Error) {
	s.o.Logger.Error("the disk of the store failed", "path", s.place.path, "reason", why.Error())
	if !s.diskFailed {
		s.diskFailed = true
		s.note("the disk of the store has failed since waybill was started: " + why.Error())
	}
	tooSoon := time.Now().Before(s.retryAt)
	s.backOff()
	if tooSoon {
		_ = s.rest(why)
		return
	}
	if err := s.reconnect(context.Background()); err != nil {
		_ = s.rest(err)
	}
}

// backOff sets the moment before which no further attempt is made.
func (s *Store) backOff() {
	s.retryIn = min(max(2*s.retryIn, firstRetry), lastRetry)
	s.retryAt = time.Now().Add(s.retryIn)
}

// rest leaves the store without a writing connection because of err, and returns the error for the Update. Only a file
// that is damaged, replaced or newer ends all writing.
func (s *Store) rest(err error) *store.Error {
	s.dropWriter()
	e := classify(s.place.path, err)
	switch e.Kind {
	case store.Corrupt, store.NewerSchema, store.Lost, store.Unsafe:
		kept := *e
		s.stop(&kept)
		return e
	case store.Full, store.Busy:
		s.setAbsent(e)
		return e
	case store.IO, store.ReadOnly, store.Closed, store.Cancelled:
	}
	e = fault(store.IO, err, "%s", diskFailedText(s.place.path))
	s.setAbsent(e)
	return e
}

func diskFailedText(path string) string {
	return fmt.Sprintf("the disk of the store %s failed: check the disk and repeat the call; nothing is written until the disk works again, which waybill tries every %v or more often",
		path, lastRetry)
}

// setAbsent notes why there is no writing connection, or that there is one.
func (s *Store) setAbsent(why *store.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.absent = why
}

// resting returns the error for an Update that comes too early for another attempt to open the writing connection.
func (s *Store) resting() error {
	if s.w != nil || !time.Now().Before(s.retryAt) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.absent == nil {
		return nil // it is stopped
	}
	return s.absent
}

// reopen opens the writing connection if there is none, at first or after the disk failed. The caller holds the turn
// and the lock.
func (s *Store) reopen(ctx context.Context) error {
	if s.w != nil {
		return nil
	}
	if !s.database.there() {
		return s.lose(s.place.path, store.NotApplied)
	}
	connects := s.reconnect
	if s.files == nil {
		connects = s.openWriter
	}
	if err := connects(context.WithoutCancel(ctx)); err != nil {
		s.backOff()
		return s.rest(err)
	}
	s.setAbsent(nil)
	if err := s.refusal(); err != nil {
		return err
	}
	s.o.Logger.Info("the store is written from now on", "path", s.place.path)
	return nil
}

// reconnect opens a new writing connection and checks the database.
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
		return fault(store.Lost, nil, "%s was removed or replaced while the store was open: restart", s.place.path)
	}
	if s.files, err = identify(s.place.parts()); err != nil {
		return err
	}
	return c.expect()
}

// startLogAnew moves all pages out of the write-ahead log and restarts it. Pages that a failed sync left in the log may be
// only in the memory of the system. On the disk they would be a hole before everything written later.
func (s *Store) startLogAnew() error {
	if s.place.volume.remote {
		return nil
	}
	busy := int64(1)
	if err := s.w.Query(func(r *sqlstore.Row) error {
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

// lose ends all writing, because part is no longer the same file. It saves the content that the connection still sees
// as a copy beside the lost database. The file that has its name now stays untouched.
func (s *Store) lose(part string, outcome store.Outcome) error {
	s.mu.Lock()
	s.alone = s.w != nil // a new connection would open whatever has the name now
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

// rescuedMark follows the store's name in the name of a copy of a lost store.
const rescuedMark = ".rescued-"

// rescue copies the database as the writing connection sees it.
func (s *Store) rescue(now time.Time) (path string, err error) {
	if s.w == nil {
		return "", errors.New("there was no writing connection")
	}
	path = fmt.Sprintf("%s%s%s-%d", s.place.path, rescuedMark, stamp(now), os.Getpid())
	if err := makeDir(filepath.Dir(path)); err != nil {
		return "", err
	}
	return path, copyInto(context.Background(), s.w, path)
}

// checkRescued refuses to create a new store beside a copy of a lost one, because the new store would hide the loss.
func (p *place) checkRescued() error {
	entries, err := os.ReadDir(p.dir())
	if err != nil {
		return err
	}
	var rescued []string
	for _, entry := range entries {
		name, ours := strings.CutPrefix(entry.Name(), filepath.Base(p.path)+rescuedMark)
		// A copy that was opened has files of SQLite and of its lock beside it.
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

// makeEmpty creates an empty file that only this user can read. SQLite would use another mode.
func makeEmpty(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateFile)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeTemp makes such a file under an unused name: the last * of the pattern becomes something else.
func makeTemp(pattern string) (path string, err error) {
	f, err := os.CreateTemp(filepath.Dir(pattern), filepath.Base(pattern))
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// vacant returns the name, or one like it, under which there is no database yet.
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
