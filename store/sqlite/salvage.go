package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"waybill/store"
	"waybill/store/rows"
)

// Salvaged says what a salvage kept. Tables are known by their names in the file.
type Salvaged struct {
	// Path is where the new store is.
	Path string
	// SetAside is where the damaged file is now, or "" if it was left in its place. It is as it was.
	SetAside string
	// Kept and Lost count the rows that were copied, and those that were read but are not what was
	// written.
	Kept, Lost map[string]int
	// Unreadable names the tables of which a part could not even be read.
	Unreadable []string
	// Stranded names the tasks that wait for one that was lost, in the order of their creation.
	Stranded []Stranded
}

// Salvage copies every readable row whose checksum is right into a new store, puts it in the place
// of the damaged one, and sets that aside. Of the event log it keeps the newest unbroken part, so
// that numbers stay free of gaps and none is given twice. A task is kept with all its attempts and
// replies or not at all; what waited for one that is lost is Stranded and waits on, until somebody cancels
// it. While a process has the store open it is left as it is, and the error is of kind Busy.
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
	steps, err := migrations()
	if err != nil {
		return Salvaged{}, err
	}
	if o, err = o.filled(); err != nil {
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
	w := wreck{place: p, steps: steps, record: &lock.says}
	result, err := w.salvage(ctx, target)
	if err != nil {
		return result, classify(p.path, err)
	}
	return result, nil
}

const inUseAdvice = "end it and try again, or write the new store to another file with `waybill salvage FILE`"

// wreck is a damaged store under salvage.
type wreck struct {
	place  *place
	steps  []migration
	record *record
	old, c *conn // from and to
	newest int64 // number of the newest event of the new store
	former bool  // the old store has tables of a version before 3
	result Salvaged
}

func (w *wreck) salvage(ctx context.Context, target string) (Salvaged, error) {
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
func (w *wreck) fill(ctx context.Context, temp string) (err error) {
	if w.c, err = connect(ctx, temp, readWrite); err != nil {
		return err
	}
	defer func() { err = firstError(err, w.c.close()) }()
	if err := newFile(ctx, w.c, w.steps); err != nil {
		return err
	}
	if w.old, err = connect(ctx, w.place.path, readOnly); err != nil {
		return err
	}
	defer func() { _ = w.old.close() }()
	t, err := begin(ctx, w.c, rows.Options{}, true)
	if err != nil {
		return err
	}
	defer t.End(rows.ErrOver)
	if err := w.copy(ctx, t); err != nil {
		return err
	}
	w.newest, _ = t.Newest()
	return commit(t, w.c)
}

// unreadable notes a part that cannot be read. Only damage is borne: what was not read because the
// disk failed may be readable tomorrow.
func (w *wreck) unreadable(what string, err error) error {
	if err == nil {
		return nil
	}
	if kindOf(err) != store.Corrupt {
		return err
	}
	w.result.Unreadable = append(w.result.Unreadable, what)
	return nil
}

func (w *wreck) copy(ctx context.Context, t *rows.Tx) error {
	readable, err := w.examine(ctx)
	if err != nil {
		return err
	}
	if !readable {
		log := suffix{w: w, t: t}
		return log.finish(w.record.newest)
	}
	for _, tb := range rows.Tables() {
		there, err := w.has(tb.Name)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		if w.former {
			tb = tb.Former()
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
func (w *wreck) examine(ctx context.Context) (readable bool, err error) {
	if err := w.old.script(ctx, settings); err != nil {
		return false, w.unreadable("the file", err)
	}
	found, err := readLabels(w.old)
	if err != nil {
		return false, w.unreadable("the file", err)
	}
	if latest := w.steps[len(w.steps)-1].version; (found.version < 1 || found.version > int64(latest)) && found.tables > 0 {
		return false, fault(store.NewerSchema, nil, "the store %s has tables of version %d, and this waybill salvages versions up to %d only",
			w.place.path, found.version, latest)
	}
	w.former = found.version < 3
	return found.tables > 0, nil
}

// copyTable reads the table from its beginning, and if that breaks off, also from its end.
func (w *wreck) copyTable(ctx context.Context, t *rows.Tx, tb rows.Table) error {
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
	if err := tb.Scan(ctx, w.old, true, take); err != nil && kindOf(err) != store.Corrupt {
		return err
	}
	return nil
}

// copyEvents copies the newest records, from the newest backwards, as far as each follows from the
// one before it.
func (w *wreck) copyEvents(t *rows.Tx) error {
	kept := suffix{w: w, t: t}
	if h, err := rows.ReadHead(w.old); err == nil {
		kept.trust(h)
	} else if kindOf(err) == store.IO && code(err) != 0 {
		return err
	}
	err := rows.EventsBackwards(w.old, kept.add)
	if !errors.Is(err, errBroken) {
		if err := w.unreadable("table events", err); err != nil {
			return err
		}
	}
	return kept.finish(w.record.newest)
}

// swap puts the new store in the place of the old one, which keeps its contents under another name.
func (w *wreck) swap(temp string) error {
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
