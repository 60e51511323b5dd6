package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"waybill/store"
	"waybill/store/sqlstore"
)

// Salvaged is the result of a salvage. Tables have their names in the file.
type Salvaged struct {
	// Path is where the new store is.
	Path string
	// SetAside is where the damaged file is now, or "" if it was left in its place. It is as it was.
	SetAside string
	// Kept counts the copied rows. Lost counts the readable rows with a wrong checksum.
	Kept, Lost map[string]int
	// Unreadable names the tables of which a part could not even be read.
	Unreadable []string
	// Stranded names the tasks that wait for a lost one, in the order of their creation.
	Stranded []Stranded
}

// Salvage copies every readable row with a correct checksum into a new store, replaces the damaged store with it, and
// keeps the damaged one beside it. It keeps the newest unbroken part of the event log, so that numbers have no gaps and
// are never reused. A task is kept with all its attempts and replies or not at all. A task that waits for a lost one is
// Stranded until it is cancelled. While another process has the store open, Salvage changes nothing and returns an
// error of kind Busy.
func Salvage(ctx context.Context, o Options) (Salvaged, error) { return salvage(ctx, o, "") }

// SalvageTo does the same into a new file, and leaves the damaged store where and as it is. A file that
// is there already is never replaced.
func SalvageTo(ctx context.Context, o Options, path string) (Salvaged, error) {
	if err := claim(path); err != nil {
		return Salvaged{}, err
	}
	result, err := salvage(ctx, o, path)
	if err != nil {
		_ = os.Remove(path)
	}
	return result, err
}

// salvage makes the new store at target, or without one in the place of the old, under the lock.
func salvage(ctx context.Context, o Options, target string) (Salvaged, error) {
	o, err := o.filled()
	if err != nil {
		return Salvaged{}, err
	}
	p, err := locate(o)
	if err != nil {
		return Salvaged{}, err
	}
	lock := newLockFile(p.lockPath())
	defer func() { _ = lock.close() }()
	if err := lock.acquire(ctx, o.lockWait); err != nil {
		return Salvaged{}, classify(p.path, err)
	}
	defer lock.release()
	if err := p.inspect(); err != nil {
		return Salvaged{}, err
	}
	if p.fresh {
		return Salvaged{}, fault(store.Corrupt, nil, "there is no store at %s that could be salvaged", p.path)
	}
	if err := p.inUse(inUseAdvice); target == "" && err != nil {
		return Salvaged{}, err
	}
	lock.says.commits++ // whatever becomes of it
	w := salvager{place: p, record: &lock.says}
	result, err := w.salvage(ctx, target)
	if err != nil {
		return result, classify(p.path, err)
	}
	return result, nil
}

const inUseAdvice = "end it and try again, or write the new store to another file with `waybill store salvage FILE`"

// salvager is a damaged store under salvage.
type salvager struct {
	place  *place
	record *record
	old, c *conn // from and to
	newest int64 // number of the newest event of the new store
	result Salvaged
}

func (w *salvager) salvage(ctx context.Context, target string) (Salvaged, error) {
	w.result.Kept, w.result.Lost = make(map[string]int), make(map[string]int)
	w.result.Path = cmp.Or(target, w.place.path)
	temp, err := makeTemp(w.result.Path + ".salvaging-*")
	if err != nil {
		return w.result, err
	}
	err = w.fill(ctx, temp)
	switch {
	case err != nil:
	case target == "":
		w.record.newest = w.newest
		err = w.swap(temp)
	default:
		err = moveDurably(temp, target)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return w.result, err
}

// fill makes the new store in an empty file.
func (w *salvager) fill(ctx context.Context, temp string) (err error) {
	if w.c, err = connect(ctx, temp, readWrite); err != nil {
		return err
	}
	defer func() { err = firstError(err, w.c.close()) }()
	if err := newFile(ctx, w.c); err != nil {
		return err
	}
	if w.old, err = connect(ctx, w.place.path, readOnly); err != nil {
		return err
	}
	defer func() { _ = w.old.close() }()
	if _, err := integrity(ctx, w.old); isKind(err, store.IO) {
		return err // a store on a failing disk stays where it is
	}
	t, err := begin(ctx, w.c, sqlstore.Options{}, true)
	if err != nil {
		return err
	}
	defer t.End(sqlstore.ErrOver)
	if err := w.copy(ctx, t); err != nil {
		return err
	}
	w.newest, _, _ = t.Newest()
	return commit(t, w.c)
}

// unreadable records a part that cannot be read. It accepts damage only: data that a failing disk did not deliver may be
// readable later.
func (w *salvager) unreadable(what string, err error) error {
	if err == nil {
		return nil
	}
	if classify(w.place.path, err).Kind != store.Corrupt {
		return err
	}
	w.result.Unreadable = append(w.result.Unreadable, what)
	return nil
}

func (w *salvager) copy(ctx context.Context, t *sqlstore.Tx) error {
	readable, err := w.examine(ctx)
	if err != nil {
		return err
	}
	if !readable {
		log := suffix{w: w, t: t}
		return log.finish(w.record.newest)
	}
	for _, tb := range sqlstore.Tables() {
		there, err := w.has(tb.Name)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		if err := w.copyTable(ctx, t, tb); err != nil {
			return err
		}
	}
	if err := w.dropHalfTasks(ctx, t); err != nil {
		return err
	}
	if err := w.mendWaits(ctx, t); err != nil {
		return err
	}
	return w.copyEvents(t)
}

// examine reports whether anything in the old file can be read.
func (w *salvager) examine(ctx context.Context) (readable bool, err error) {
	if err := w.old.script(ctx, settings); err != nil {
		return false, w.unreadable("the file", err)
	}
	found, err := readLabels(w.old)
	if err != nil {
		return false, w.unreadable("the file", err)
	}
	if found.version != schemaVersion && found.tables > 0 {
		return false, fault(store.NewerSchema, nil, "the store %s has tables of version %d, and this waybill salvages version %d only",
			w.place.path, found.version, schemaVersion)
	}
	return found.tables > 0, nil
}

// copyTable reads the table from its beginning, and if that breaks off, also from its end.
func (w *salvager) copyTable(ctx context.Context, t *sqlstore.Tx, tb sqlstore.Table) error {
	seen := make(map[string]bool)
	take := func(key []any, item any, damage error) error {
		name := fmt.Sprint(key...)
		if seen[name] {
			return nil
		}
		seen[name] = true
		if damage != nil {
			w.result.Lost[tb.Name]++
			return nil
		}
		switch err := tb.Insert(t, item); {
		case refused(err):
			w.result.Lost[tb.Name]++
		case err != nil:
			return err
		default:
			w.result.Kept[tb.Name]++
		}
		return nil
	}
	err := tb.Scan(ctx, w.old, false, take)
	if err == nil {
		return nil
	}
	if err := w.unreadable("table "+tb.Name, err); err != nil {
		return err
	}
	if err := tb.Scan(ctx, w.old, true, take); err != nil && classify(w.place.path, err).Kind != store.Corrupt {
		return err
	}
	return nil
}

// copyEvents copies the newest records, from the newest backwards, as far as each follows from the
// one before it.
func (w *salvager) copyEvents(t *sqlstore.Tx) error {
	kept := suffix{w: w, t: t}
	if h, err := sqlstore.ReadHead(w.old); err == nil {
		kept.trust(h)
	} else if code(err) != 0 && classify(w.place.path, err).Kind == store.IO {
		return err
	}
	err := sqlstore.EventsBackwards(w.old, kept.add)
	if !errors.Is(err, errBroken) {
		if err := w.unreadable("table events", err); err != nil {
			return err
		}
	}
	return kept.finish(w.record.newest)
}

// swap puts the new store in the place of the old one, which keeps its contents under another name.
func (w *salvager) swap(temp string) error {
	aside := vacant(w.place.path + ".corrupt-" + stamp(time.Now()))
	if err := w.place.exchange(temp, aside); err != nil {
		return err
	}
	w.result.SetAside = aside
	return nil
}

// exchange puts a new database in the place of the one there, which is called aside from then on.
func (p *place) exchange(temp, aside string) error {
	if err := moveAny(p.path+"-wal", aside+"-wal"); err != nil {
		return err
	}
	if err := removeAny(p.path + "-shm"); err != nil {
		return err
	}
	// With a link, the path names a whole store at every moment. Where there are no links, it names
	// none for a moment.
	if err := os.Link(p.path, aside); err != nil {
		if err := os.Rename(p.path, aside); err != nil {
			return err
		}
	}
	return moveDurably(temp, p.path)
}

func moveAny(from, to string) error {
	if err := os.Rename(from, to); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
