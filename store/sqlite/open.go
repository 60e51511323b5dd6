package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"waybill/meter"
	"waybill/store"
	"waybill/store/sqlstore"
)

// settings hold for every connection. They limit what the file can make SQLite do, and keep SQLite from writing outside
// the store's directory.
const settings = `PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
PRAGMA mmap_size = 0;
`

// durableSettings make a commit durable, and keep the write-ahead log at a size that is reused instead
// of being cut and grown again.
const durableSettings = `PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = 1000;
PRAGMA journal_size_limit = 67108864;
`

// walLimit is the journal_size_limit, which only a long reading makes the log exceed.
const walLimit = 67108864

// remoteSettings do without shared memory, which machines do not share. A journal that is deleted is
// gone for good only when its directory is synced, which EXTRA does.
const remoteSettings = `PRAGMA locking_mode = EXCLUSIVE;
PRAGMA synchronous = EXTRA;
`

// darwinSettings make a sync reach the disk and not only its cache.
const darwinSettings = `PRAGMA fullfsync = ON;
PRAGMA checkpoint_fullfsync = ON;
`

// Open opens the store at o.Path, or creates it. A store that can be read but not written still opens. Its Status says
// so, and every Update is refused with the reason. While another process holds the lock of the store, Open opens it for
// reading. The first Update that gets the lock opens it for writing.
func Open(ctx context.Context, o Options) (*Store, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	place, err := locate(o)
	if err != nil {
		return nil, err
	}
	lock := newLockFile(place.lockPath())
	if o.machine != "" {
		lock.self.host, lock.self.boot = o.machine, o.machine
	}
	s := &Store{
		o: o, place: place, mode: readWrite, alone: place.volume.remote || o.Brief,
		turn: newTurn(), lock: lock, lockReader: &lockReader{path: place.lockPath()}, readers: newPool(),
		changed: make(chan struct{}, 1), ended: make(chan struct{}), damaged: make(map[sqlstore.Damaged]bool),
		commits: meter.New(store.Latencies[:]...), waits: lock.waits,
	}
	if err := s.start(ctx); err != nil {
		_ = s.closeAll()
		return nil, classify(place.path, err)
	}
	for _, note := range place.notes {
		s.note(note)
	}
	return s, nil
}

// startPatience bounds how long an opening waits for the lock before it makes do with reading.
const startPatience = 250 * time.Millisecond

// The index of the write-ahead log begins with two equal headers. Source: https://www.sqlite.org/walformat.html.
const (
	indexSize       = 32 << 10 // of the smallest index
	indexHeaderSize = 48
	indexIsReady    = 12 // position in a header of a byte that is 1 in an index that is ready
)

// makesIndex reports whether another process has begun an index of the write-ahead log and has not finished its headers.
// SQLite waits 10 s for such an index, whatever its busy timeout is.
func (p *place) makesIndex() bool {
	path := p.parts()[2]
	info, err := os.Lstat(path)
	if err != nil || info.Size() < indexSize {
		return err == nil
	}
	shared, err := openShared(p.path)
	if err != nil {
		return false
	}
	defer func() { _ = shared.release() }()
	f, err := shared.keep(path, info, os.O_RDONLY)
	if err != nil {
		return false
	}
	for range 100 { // a process that is not stopped writes both headers at once
		var head [2 * indexHeaderSize]byte
		_, err := f.ReadAt(head[:], 0)
		if err != nil || head[indexIsReady] != 0 && [indexHeaderSize]byte(head[:]) == [indexHeaderSize]byte(head[indexHeaderSize:]) {
			return false
		}
	}
	return true
}

// start opens the connection that writes, under the lock, so that no other process makes the same store. While another
// process holds the lock, open opens a store with tables of this version for reading. The first Update that gets the
// lock opens the writing connection.
func (s *Store) start(ctx context.Context) error {
	err := s.lock.acquire(ctx, min(s.o.lockWait, startPatience))
	if isKind(err, store.Busy) {
		if s.readFirst(ctx, err) {
			return nil
		}
		err = s.lock.acquire(ctx, max(0, s.o.lockWait-startPatience))
	}
	if err != nil {
		if !isKind(classify(s.place.path, err), store.ReadOnly) {
			return err
		}
		if unsafe := s.enter(); unsafe != nil {
			return unsafe
		}
		return s.startReading(ctx, err)
	}
	defer s.lock.release()
	if err := s.enter(); err != nil {
		return err
	}
	if s.o.ReadOnly {
		return s.startReading(ctx, errReadOnly)
	}
	return s.openWriter(ctx)
}

// readFirst opens a store for reading without the lock and reports whether that worked. Where it did not, the opening
// under the lock finds out why. It does not wait for the index of the write-ahead log: the holder of the lock may have
// been stopped while it made that.
func (s *Store) readFirst(ctx context.Context, busy error) bool {
	notes := s.place.notes
	if s.enter() == nil && !s.place.fresh && !s.place.volume.remote && !s.place.makesIndex() {
		id, err := idOf(s.place.path)
		s.database = part{s.place.path, id}
		if err == nil && readFile(ctx, s.place.path, readWrite, startPatience, s.readable) == nil && s.version == schemaVersion {
			s.mu.Lock()
			s.alone = false
			s.mu.Unlock()
			s.setAbsent(fault(store.Busy, busy, "the store %s was opened for reading only, and the first change that gets its lock opens it for writing",
				s.place.path))
			if s.o.ReadOnly {
				_ = s.startReading(ctx, errReadOnly) // nothing else can be opened
			}
			return true
		}
	}
	s.presence.withdraw()
	s.presence, s.database, s.version, s.place.notes = nil, part{}, 0, notes
	return false
}

// openWriter opens the connection that writes. If the store cannot be written, it opens it for reading.
func (s *Store) openWriter(ctx context.Context) error {
	err := s.startWriting(ctx)
	for isKind(classify(s.place.path, err), store.Full) && s.shortenReserve() {
		err = s.startWriting(ctx)
	}
	if err != nil && isKind(classify(s.place.path, err), store.ReadOnly) {
		return s.startReading(ctx, err)
	}
	return err
}

// enter looks whether the place can be used, and has others see us. It is done under the lock, so that
// no process takes the store from its place between the two.
func (s *Store) enter() error {
	if err := s.place.inspect(); err != nil {
		return err
	}
	s.presence = s.place.announce(s.o.Version)
	return nil
}

func (s *Store) startWriting(ctx context.Context) error {
	s.dropWriter()
	if s.place.fresh {
		if err := s.place.checkRescued(); err != nil {
			return err
		}
		if err := s.makeFile(); err != nil {
			return err
		}
	}
	c, err := connect(ctx, s.place.path, readWrite)
	if err != nil {
		return err
	}
	s.w = c
	if err := c.script(ctx, s.place.writerSettings(s.o.lockWait)); err != nil {
		return err
	}
	if ok, err := c.writable(); err != nil || !ok {
		return firstError(err, fault(store.ReadOnly, nil, "the file %s is not writable", s.place.path))
	}
	newer, err := s.bringUp(ctx)
	if err != nil || newer {
		return err
	}
	if s.files, err = identify(s.place.parts()); err != nil {
		return err
	}
	if len(s.files) == 0 || s.files[0].path != s.place.path {
		return fmt.Errorf("%s was removed while it was opened: %w", s.place.path, fs.ErrNotExist)
	}
	if err := c.expect(); err != nil {
		return err
	}
	if !s.reads() {
		s.database = s.files[0]
	}
	s.seen.Store(s.lock.says.commits)
	s.prepareSpace()
	return nil
}

var errReadOnly = errors.New("it was opened for reading")

func (s *Store) dropWriter() {
	if s.w != nil {
		_ = s.w.close()
		s.w = nil
	}
}

// readerSettings returns the settings of a connection that only reads, and that waits so long.
func readerSettings(d time.Duration) string {
	return patience(d) + settings + "PRAGMA query_only = ON;"
}

// patience returns the setting for how long SQLite waits for programs that do not take turns with us.
func patience(d time.Duration) string {
	return fmt.Sprintf("PRAGMA busy_timeout = %d;\n", d.Milliseconds())
}

// writerSettings returns the settings of a connection that writes, and that waits so long.
func (p *place) writerSettings(d time.Duration) string {
	text := patience(d) + settings
	if p.volume.remote {
		text += remoteSettings
	} else {
		text += durableSettings
	}
	if runtime.GOOS == "darwin" {
		text += darwinSettings
	}
	return text
}

// makeFile creates an empty database with the mode of the store instead of SQLite's.
func (s *Store) makeFile() error {
	f, err := os.OpenFile(s.place.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, privateFile)
	if err != nil {
		return err
	}
	if newest := s.lock.says.newest; newest > 0 {
		s.note(fmt.Sprintf("the database was removed since event %d was written; this is a new one", newest))
		s.lock.says.newest, s.lock.says.spent = 0, false
		s.lock.says.commits++ // the contents are others
	}
	s.place.fresh = false
	return f.Close()
}

// startReading opens a store that cannot be written for the given reason.
func (s *Store) startReading(ctx context.Context, cause error) error {
	s.dropWriter()
	why := classify(s.place.path, cause)
	if why.Kind != store.NewerSchema {
		why = fault(store.ReadOnly, cause, "the store %s can only be read", s.place.path)
	}
	if !s.reads() {
		if err := s.findReading(ctx, cause); err != nil {
			return err
		}
	}
	s.stop(why)
	return nil
}

// reads reports whether the store was opened for reading, with or without a connection that writes.
func (s *Store) reads() bool { return s.database.path != "" }

// findReading finds a way to read a store that cannot be written for the given reason.
func (s *Store) findReading(ctx context.Context, cause error) error {
	if s.place.fresh {
		return fault(store.ReadOnly, cause, "there is no store at %s, and none can be made", s.place.path)
	}
	id, err := idOf(s.place.path)
	if err != nil {
		return err
	}
	s.database, s.alone = part{s.place.path, id}, false
	for _, s.mode = range []access{readOnly, frozen} {
		if err = s.tryReading(ctx); conclusive(s.place.path, err) {
			break
		}
	}
	if err != nil {
		return err
	}
	if s.mode == frozen {
		s.note("the store is read without its write-ahead log, and later changes are not seen")
	}
	return nil
}

// tryReading makes sure that the store can be read, at one moment of it.
func (s *Store) tryReading(ctx context.Context) error {
	return s.reading(ctx, func(c *conn) (bool, error) {
		err := s.readable(c)
		return err == nil, err
	})
}

func (s *Store) readable(c *conn) (err error) {
	if _, err := c.Exec("BEGIN"); err != nil {
		return err
	}
	defer func() {
		_, ended := c.Exec("ROLLBACK")
		err = firstError(err, ended)
	}()
	found, err := readLabels(c)
	if err != nil {
		return err
	}
	s.version = int(found.version)
	switch {
	case found.application != applicationID:
		return fault(store.Corrupt, nil, "%s is a database of another program: name another file", s.place.path)
	case found.version > schemaVersion:
		return nil
	}
	if err := checkTables(c); err != nil {
		return err
	}
	h, err := sqlstore.ReadHead(c)
	if err != nil {
		return err
	}
	return sqlstore.CheckTail(c, h)
}
