package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"waybill/meter"
	"waybill/store"
	"waybill/store/rows"
)

// settings hold for every connection. They take trust from what the file says, and write nothing
// outside the directory of the store.
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

// Open opens the store at o.Path, or makes it. A store that can be read but not written is opened all
// the same; its Status says so, and every Update is refused with the reason.
func Open(ctx context.Context, o Options) (*Store, error) {
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	return open(ctx, o, steps)
}

func open(ctx context.Context, o Options, steps []migration) (*Store, error) {
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
		o: o, place: place, steps: steps, mode: readWrite, alone: place.volume.remote,
		turn: newTurn(), lock: lock, lookout: &lookout{path: place.lockPath()}, readers: newPool(),
		changed: make(chan struct{}, 1), ended: make(chan struct{}), spoilt: make(map[rows.Damaged]bool),
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

// start opens the connection that writes, under the lock, so that nobody else makes or migrates the
// same store.
func (s *Store) start(ctx context.Context) error {
	err := s.lock.acquire(ctx, s.o.lockWait)
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
	err = s.startWriting(ctx)
	if isKind(classify(s.place.path, err), store.Full) && s.giveUpReserve() {
		err = s.startWriting(ctx)
	}
	if err != nil && isKind(classify(s.place.path, err), store.ReadOnly) {
		return s.startReading(ctx, err)
	}
	return err
}

// enter looks whether the place can be used, and has others see us. It is done under the lock, so that
// nobody takes the store from its place between the two.
func (s *Store) enter() error {
	if err := s.place.inspect(); err != nil {
		return err
	}
	s.presence = s.place.appear(s.o.Version)
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
	if err := c.expect(s.latest()); err != nil {
		return err
	}
	s.database = s.files[0]
	s.seen.Store(s.lock.says.commits)
	s.restoreReserve()
	return nil
}

var errReadOnly = errors.New("it was opened for reading")

func (s *Store) dropWriter() {
	if s.w != nil {
		_ = s.w.close()
		s.w = nil
	}
}

// readerSettings gives the settings of a connection that only reads.
func (s *Store) readerSettings() string {
	return patience(s.o.lockWait) + settings + "PRAGMA query_only = ON;"
}

// patience gives the setting for how long SQLite waits for programs that do not take turns with us.
func patience(d time.Duration) string {
	return fmt.Sprintf("PRAGMA busy_timeout = %d;\n", d.Milliseconds())
}

// writerSettings gives the settings of a connection that writes, and that waits so long.
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

// makeFile makes an empty database, so that it has our mode and not the one that SQLite gives.
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
	if s.place.fresh {
		return fault(store.ReadOnly, cause, "there is no store at %s, and none can be made", s.place.path)
	}
	id, err := idOf(s.place.path)
	if err != nil {
		return err
	}
	s.database, s.alone = part{s.place.path, id}, false
	for _, s.mode = range []access{readOnly, frozen} {
		if err = s.tryReading(ctx); err == nil || isKind(classify(s.place.path, err), store.Corrupt) {
			break
		}
	}
	if err != nil {
		return err
	}
	if s.mode == frozen {
		s.note("the store is read without its write-ahead log, and later changes are not seen")
	}
	s.stop(why)
	return nil
}

func (s *Store) tryReading(ctx context.Context) error {
	return s.reading(ctx, func(c *conn) (bool, error) {
		found, err := readLabels(c)
		if err != nil {
			return false, err
		}
		s.version = int(found.version)
		latest := s.latest()
		switch {
		case found.application != applicationID:
			return false, fault(store.Corrupt, nil, "%s is a database of another program: name another file", s.place.path)
		case found.version > int64(latest.version):
			return true, nil
		case found.version < int64(latest.version):
			return false, fault(store.ReadOnly, nil, "the store %s has tables of version %d and cannot be brought to version %d, because it can only be read",
				s.place.path, found.version, latest.version)
		}
		if err := checkTables(c, latest); err != nil {
			return false, err
		}
		h, err := rows.ReadHead(c)
		if err != nil {
			return false, err
		}
		return true, rows.CheckTail(c, h)
	})
}
