package sqlite

import (
	"context"
	"time"

	"waybill/store"
	"waybill/store/sqlstore"
)

// Restored is the result of a restore.
type Restored struct {
	// Path is where the store is.
	Path string
	// SetAside is where the store is now that was there before, whole and as it was, or "" if there was none.
	SetAside string
}

// Restore calls fill to fill a new store in one transaction, puts it in the place of the store, and sets the old one
// aside. The path never has part of a store. Processes that have the store open continue with the new contents, which
// look like one commit of another process. An error of fill is returned unchanged; then nothing has happened.
func Restore(ctx context.Context, o Options, fill func(tx store.Tx) error) (Restored, error) {
	return restore(ctx, o, func(ctx context.Context, temp string) (int64, error) {
		return build(ctx, temp, fill)
	})
}

// RestoreCopy does the same with a copy that Backup has written. One that is damaged is refused, and so is a database
// of another program or of another version of waybill.
func RestoreCopy(ctx context.Context, o Options, from string) (Restored, error) {
	return restore(ctx, o, func(ctx context.Context, temp string) (int64, error) {
		return duplicate(ctx, from, temp)
	})
}

// restore calls fill to write a store into an empty file, and puts that file in place under the lock. fill returns the
// number of the newest event. The others wait for no more than the second of the two.
func restore(ctx context.Context, o Options, fill func(context.Context, string) (int64, error)) (done Restored, err error) {
	if o, err = o.filled(); err != nil {
		return done, err
	}
	p, err := locate(o)
	if err != nil {
		return done, err
	}
	temp, err := p.makeRestoring()
	if err != nil {
		return done, classify(p.path, err)
	}
	defer func() { _ = removeAny(temp) }() // it no longer exists after the move
	newest, err := fill(ctx, temp)
	if err != nil {
		return done, err
	}
	lock := newLockFile(p.lockPath())
	defer func() { _ = lock.close() }()
	if err := lock.acquire(ctx, o.lockWait); err != nil {
		return done, classify(p.path, err)
	}
	defer lock.release()
	r := replacement{place: p, record: &lock.says, patience: o.lockWait, temp: temp, newest: newest}
	aside, err := r.put(ctx)
	if err != nil {
		return done, classify(p.path, err)
	}
	return Restored{Path: p.path, SetAside: aside}, nil
}

func (p *place) makeRestoring() (string, error) { return makeTemp(p.path + ".restoring-*") }

// A replacement is a whole store in a file of its own, which is to take the place of another.
type replacement struct {
	place    *place
	record   *record // of the lock file, while its lock is held
	patience time.Duration
	temp     string // the file
	newest   int64  // number of its newest event
}

// put puts the new store in place and returns the new path of the old one. A store that no process has open, or a file
// that is not a database, is replaced by another file.
func (r *replacement) put(ctx context.Context) (aside string, err error) {
	if err := r.place.inspect(); err != nil {
		return "", err
	}
	if busy := r.place.inUse("end it and try again"); busy != nil {
		return r.overwrite(ctx, busy)
	}
	r.record.commits++ // whatever becomes of it
	r.record.newest, r.record.spent = r.newest, false
	return r.place.supplant(ctx, r.temp)
}

// supplant puts the new store in the place of the old one, which keeps its contents under another name.
func (p *place) supplant(ctx context.Context, temp string) (aside string, err error) {
	aside = p.replacedName()
	if !p.fresh {
		p.settle(ctx)
		return aside, p.exchange(temp, aside)
	}
	// SQLite would take a log or a journal that stays here for the new database's.
	if err := firstError(moveAny(p.path+"-wal", aside+"-wal"), removeAny(p.path+"-shm"), moveAny(p.journalPath(), aside+"-journal")); err != nil {
		return "", err
	}
	return "", moveDurably(temp, p.path)
}

// replacedName returns a name under which a store can be set aside.
func (p *place) replacedName() string { return vacant(p.path + ".replaced-" + stamp(time.Now())) }

// settle writes the write-ahead log of the store into its file, so that one file has everything. A log that cannot be
// written back because it is damaged is set aside with the file.
func (p *place) settle(ctx context.Context) {
	c, err := connect(ctx, p.path, readWrite)
	if err != nil {
		return
	}
	_ = c.script(ctx, settings+"PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000; PRAGMA wal_checkpoint(TRUNCATE);")
	_ = c.close()
}

// build makes a store of what fill puts in an empty file.
func build(ctx context.Context, temp string, fill func(tx store.Tx) error) (newest int64, err error) {
	c, err := connect(ctx, temp, readWrite)
	if err != nil {
		return 0, classify(temp, err)
	}
	defer func() { err = firstError(err, c.close()) }()
	if err := newFile(ctx, c); err != nil {
		return 0, classify(temp, err)
	}
	t, err := begin(ctx, c, sqlstore.Options{}, true)
	if err != nil {
		return 0, err
	}
	defer t.End(sqlstore.ErrOver)
	err = fill(sqlstore.Contracts(t))
	if lost := t.Lost(); lost != nil {
		return 0, lost
	}
	if err := firstError(err, t.Incoherent()); err != nil {
		return 0, err
	}
	if _, newest, err = sqlstore.Contracts(t).Bounds(); err != nil {
		return 0, err
	}
	return newest, commit(t, c)
}

// newFile makes the tables in an empty file. All of it reaches the disk with each commit, because no log does before.
func newFile(ctx context.Context, c *conn) error {
	if err := c.script(ctx, settings+"PRAGMA synchronous = EXTRA; PRAGMA auto_vacuum = INCREMENTAL;"); err != nil {
		return err
	}
	return createTables(ctx, c)
}

// duplicate copies a database into the file and makes sure that the copy is a sound store of this version.
func duplicate(ctx context.Context, from, temp string) (newest int64, err error) {
	mode := frozen // creates no files beside the copy
	if exists(from + "-wal") {
		mode = readOnly
	}
	if err := readFile(ctx, from, mode, readPatience, func(c *conn) error {
		if err := restorable(c, from); err != nil {
			return err
		}
		if err := c.script(ctx, "PRAGMA query_only = OFF"); err != nil { // it takes a copy for a change
			return err
		}
		return copyInto(ctx, c, temp)
	}); err != nil {
		return 0, classify(from, err)
	}
	if newest, err = newestOf(ctx, temp); err != nil {
		return 0, classify(from, err)
	}
	found, err := verifyFile(ctx, temp)
	if err != nil {
		return 0, classify(from, err)
	}
	if len(found) > 0 {
		return 0, fault(store.Corrupt, nil, "the copy %s is damaged, %s: %s; `waybill store salvage --store` saves what is sound",
			from, found[0].What, found[0].Detail)
	}
	return newest, nil
}

// restorable returns the reason why a database is not a copy of a store, or nil.
func restorable(c *conn, from string) error {
	found, err := readLabels(c)
	if err != nil {
		return err
	}
	switch {
	case found.application != applicationID:
		return fault(store.Corrupt, nil, "%s is a database of another program: name a copy of a store", from)
	case found.version > schemaVersion:
		return fault(store.NewerSchema, nil, "the copy %s has tables of version %d, and this waybill writes version %d: use the newer waybill",
			from, found.version, schemaVersion)
	}
	return nil
}

// newestOf checks the tables of a copy and returns the number of its newest event.
func newestOf(ctx context.Context, temp string) (newest int64, err error) {
	c, err := connect(ctx, temp, readWrite)
	if err != nil {
		return 0, err
	}
	defer func() { err = firstError(err, c.close()) }()
	if err := c.script(ctx, settings+"PRAGMA synchronous = EXTRA;"); err != nil {
		return 0, err
	}
	if err := checkTables(c); err != nil {
		return 0, err
	}
	h, err := sqlstore.ReadHead(c)
	return h.Newest, err
}
