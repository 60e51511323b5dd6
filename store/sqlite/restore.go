package sqlite

import (
	"context"
	"time"

	"waybill/store"
	"waybill/store/rows"
)

// Restored says what a restore did.
type Restored struct {
	// Path is where the store is.
	Path string
	// SetAside is where the store is now that was there before, whole and as it was, or "" if there was none.
	SetAside string
}

// Restore makes a new store of what fill puts, in one transaction, and puts it in the place of the store, which is set
// aside. There is no moment at which the place has a part of a store. Who has the store open goes on with the new
// contents: for him it is one commit of another process. An error of fill is returned as it is, and nothing has
// happened then.
func Restore(ctx context.Context, o Options, fill func(tx store.Tx) error) (Restored, error) {
	return restore(ctx, o, func(ctx context.Context, temp string, steps []migration) (int64, error) {
		return build(ctx, temp, steps, fill)
	})
}

// RestoreCopy does the same with a copy that Backup has written. One that is damaged is refused, and so is a database
// of another program or of a newer waybill; that of an older one is brought up.
func RestoreCopy(ctx context.Context, o Options, from string) (Restored, error) {
	return restore(ctx, o, func(ctx context.Context, temp string, steps []migration) (int64, error) {
		return duplicate(ctx, from, temp, steps)
	})
}

// restore has fill make a store in an empty file, which gives the number of its newest event, and puts it in place, under
// the lock. The others wait for no more than the second of the two.
func restore(ctx context.Context, o Options, fill func(context.Context, string, []migration) (int64, error)) (done Restored, err error) {
	steps, err := migrations()
	if err != nil {
		return done, err
	}
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
	defer func() { _ = removeAny(temp) }() // after it was moved there is none
	newest, err := fill(ctx, temp, steps)
	if err != nil {
		return done, err
	}
	lock := newLockFile(p.lockPath())
	defer func() { _ = lock.close() }()
	if err := lock.acquire(ctx, o.lockWait); err != nil {
		return done, classify(p.path, err)
	}
	defer lock.release()
	r := replacement{place: p, record: &lock.says, patience: o.lockWait, temp: temp, newest: newest, latest: steps[len(steps)-1]}
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
	record   *record // of the lock file, whose lock is held
	patience time.Duration
	temp     string // the file
	newest   int64  // number of its newest event
	latest   migration
}

// put puts the new store in place and gives where the old one is now. One that nobody has open gets another file, also
// if what is there is no database at all.
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
	// A log that somebody left here, without its database, would be taken for that of the new one.
	if err := firstError(moveAny(p.path+"-wal", aside+"-wal"), removeAny(p.path+"-shm")); err != nil {
		return "", err
	}
	return "", moveDurably(temp, p.path)
}

// replacedName gives a name under which a store can be set aside.
func (p *place) replacedName() string { return vacant(p.path + ".replaced-" + stamp(time.Now())) }

// settle has what is in the write-ahead log of the store written into its file, so that one file is all of it. What
// cannot be settled, because it is damaged, is set aside with its log.
func (p *place) settle(ctx context.Context) {
	c, err := connect(ctx, p.path, readWrite)
	if err != nil {
		return
	}
	_ = c.script(ctx, settings+"PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000; PRAGMA wal_checkpoint(TRUNCATE);")
	_ = c.close()
}

// build makes a store of what fill puts in an empty file.
func build(ctx context.Context, temp string, steps []migration, fill func(tx store.Tx) error) (newest int64, err error) {
	c, err := connect(ctx, temp, readWrite)
	if err != nil {
		return 0, classify(temp, err)
	}
	defer func() { err = firstError(err, c.close()) }()
	if err := newFile(ctx, c, steps); err != nil {
		return 0, classify(temp, err)
	}
	t, err := begin(ctx, c, rows.Options{}, true)
	if err != nil {
		return 0, err
	}
	defer t.End(rows.ErrOver)
	err = fill(t)
	if lost := t.Lost(); lost != nil {
		return 0, lost
	}
	if err := firstError(err, t.Incoherent()); err != nil {
		return 0, err
	}
	if _, newest, err = t.Bounds(); err != nil {
		return 0, err
	}
	return newest, commit(t, c)
}

// newFile makes the tables in an empty file. All of it reaches the disk with each commit, because no log does before.
func newFile(ctx context.Context, c *conn, steps []migration) error {
	if err := c.script(ctx, settings+"PRAGMA synchronous = EXTRA; PRAGMA auto_vacuum = INCREMENTAL;"); err != nil {
		return err
	}
	return migrate(ctx, c, steps, labels{})
}

// duplicate copies a database into the file and makes sure that the copy is a sound store of this version.
func duplicate(ctx context.Context, from, temp string, steps []migration) (newest int64, err error) {
	mode := frozen // leaves nothing beside the copy
	if exists(from + "-wal") {
		mode = readOnly
	}
	if err := readFile(ctx, from, mode, func(c *conn) error {
		if err := restorable(c, from, steps); err != nil {
			return err
		}
		if err := c.script(ctx, "PRAGMA query_only = OFF"); err != nil { // it takes a copy for a change
			return err
		}
		return copyInto(ctx, c, temp)
	}); err != nil {
		return 0, classify(from, err)
	}
	if newest, err = bringUpCopy(ctx, temp, steps); err != nil {
		return 0, classify(from, err)
	}
	found, err := verifyFile(ctx, temp)
	if err != nil {
		return 0, classify(from, err)
	}
	if len(found) > 0 {
		return 0, fault(store.Corrupt, nil, "the copy %s is damaged, %s: %s; `waybill salvage --store` saves what is sound",
			from, found[0].What, found[0].Detail)
	}
	return newest, nil
}

// restorable tells why a database is no copy of a store, or nil.
func restorable(c *conn, from string, steps []migration) error {
	found, err := readLabels(c)
	if err != nil {
		return err
	}
	latest := int64(steps[len(steps)-1].version)
	switch {
	case found.application != applicationID:
		return fault(store.Corrupt, nil, "%s is a database of another program: name a copy of a store", from)
	case found.version > latest:
		return fault(store.NewerSchema, nil, "the copy %s has tables of version %d, and this waybill writes version %d: use the newer waybill",
			from, found.version, latest)
	}
	return nil
}

// bringUpCopy brings the tables of a copy to the newest version and gives the number of its newest event.
func bringUpCopy(ctx context.Context, temp string, steps []migration) (newest int64, err error) {
	c, err := connect(ctx, temp, readWrite)
	if err != nil {
		return 0, err
	}
	defer func() { err = firstError(err, c.close()) }()
	if err := c.script(ctx, settings+"PRAGMA synchronous = EXTRA;"); err != nil {
		return 0, err
	}
	found, err := readLabels(c)
	if err != nil {
		return 0, err
	}
	latest := steps[len(steps)-1]
	if found.version < int64(latest.version) {
		if err := migrate(ctx, c, steps, found); err != nil {
			return 0, err
		}
	}
	if err := checkTables(c, latest); err != nil {
		return 0, err
	}
	h, err := rows.ReadHead(c)
	return h.Newest, err
}
