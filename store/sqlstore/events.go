package sqlstore

import (
	"sort"
	"strconv"
	"strings"

	"waybill/core"
	"waybill/store"
)

// EventsBackwards returns every record of the log, the newest first, with the error of its check. It ends where each
// returns an error.
func EventsBackwards(c Conn, each func(ev store.Event, damage error) error) error {
	return read(c, &eventRows, each, " ORDER BY seq DESC")
}

func (t eventLog) Append(ev store.Event) (seq int64, err error) {
	err = t.put(func() error {
		h, err := t.ChangeHead()
		if err != nil {
			return err
		}
		ev.Seq = h.Newest + 1
		ev.At = max(ev.At, h.At)
		ev.Hash = store.Chain(h.Hash, ev)
		if err := t.InsertRecord(ev); err != nil {
			return err
		}
		h.Newest, h.At, h.Hash = ev.Seq, ev.At, ev.Hash
		seq = ev.Seq
		t.writes++
		return nil
	})
	return seq, err
}

// InsertRecord writes a record as it is, and leaves the head alone.
func (t *Tx) InsertRecord(ev store.Event) error {
	text, args := eventRows.insert(ev)
	_, err := t.c.Exec(text, args...)
	return err
}

func (t eventLog) Events(after int64, limit int, types []core.EventType) ([]store.Event, error) {
	text, args := " AND seq > ?", []any{after}
	if len(types) > 0 {
		text += " AND type IN (?" + strings.Repeat(", ?", len(types)-1) + ")"
		for _, kind := range types {
			args = append(args, string(kind))
		}
	}
	return t.events(limit, text+" ORDER BY seq"+limited, args...)
}

func (t eventLog) EventsOf(subject string, after int64, limit int) ([]store.Event, error) {
	return t.events(limit, " AND subject = ? AND seq > ? ORDER BY seq"+limited, subject, after)
}

func (t eventLog) events(limit int, where string, args ...any) (page []store.Event, err error) {
	err = t.get(func() error {
		page, err = every(t.c, &eventRows, where, append(args, int64(max(limit, 0)))...)
		return err
	})
	return page, err
}

func (t eventLog) Bounds() (oldest, newest int64, err error) {
	err = t.get(func() error {
		h, err := t.theHead()
		if err == nil {
			oldest, newest = h.Oldest, h.Newest
		}
		return err
	})
	return oldest, newest, err
}

func (t eventLog) Tip() (p store.Point, err error) {
	err = t.get(func() error {
		h, err := t.theHead()
		if err == nil {
			p = store.Point{Seq: h.Newest, Hash: h.Hash}
		}
		return err
	})
	return p, err
}

func (t eventLog) Root() (r store.Root, err error) {
	err = t.get(func() error {
		h, err := t.theHead()
		if err != nil {
			return err
		}
		r = store.Root{Seq: h.Oldest - 1, Hash: h.Base}
		if h.Newest < h.Oldest {
			r.At = h.At
		}
		return nil
	})
	return r, err
}

func (t eventLog) PutRoot(r store.Root) error {
	return t.put(func() error {
		h, err := t.theHead()
		if err != nil {
			return err
		}
		if r.Seq < 1 || h.Newest > 0 {
			return refuse("put root %d: it takes a number from 1 and a log to which nothing was appended; this one ends with %d",
				r.Seq, h.Newest)
		}
		t.headPut = true
		h.Oldest, h.Newest, h.At = r.Seq+1, r.Seq, r.At
		h.Base, h.Hash = r.Hash, r.Hash
		t.writes++
		return nil
	})
}

func (t eventLog) SeqBefore(at core.Instant) (seq int64, err error) {
	err = t.get(func() error {
		seq, err = t.seqBefore(at)
		return err
	})
	return seq, err
}

// seqBefore searches by halves: time runs forwards in the log, which spares it an index.
func (t eventLog) seqBefore(at core.Instant) (int64, error) {
	h, err := t.theHead()
	if err != nil {
		return 0, err
	}
	n := sort.Search(int(h.Newest-h.Oldest+1), func(i int) bool {
		if err != nil {
			return true
		}
		var then int64
		then, err = Number(t.c, "SELECT at FROM events WHERE events.workspace = :w AND seq = ?", h.Oldest+int64(i))
		return core.Instant(then) >= at
	})
	return h.Oldest - 1 + int64(n), err
}

func (t whole) Prune(before core.Instant, limit int) (removed int, err error) {
	err = t.put(func() error {
		for _, prune := range []func(core.Instant, int64) (int64, error){
			t.pruneInstructions, t.pruneAnswers, t.prunePrompts, t.pruneEvents,
		} {
			n, err := prune(before, int64(max(limit, 0)))
			if err != nil {
				return err
			}
			removed += int(n)
		}
		if removed > 0 {
			t.writes++
			t.pruned = true
		}
		return nil
	})
	return removed, err
}

func (t whole) pruneInstructions(before core.Instant, limit int64) (int64, error) {
	const over = `SELECT id FROM instructions WHERE instructions.workspace = :w AND
		(state IN ('acknowledged', 'cancelled') OR (state = 'sent' AND tracked = 0)) AND coalesce(ended_at, sent_at) < ?
		ORDER BY coalesce(ended_at, sent_at), position` + limited
	var ids []string
	if err := t.c.Query(func(r *Row) error {
		ids = append(ids, r.Text())
		return r.err
	}, over, int64(before), limit); err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := instructionRecords(t).removeInstruction(id); err != nil {
			return 0, err
		}
	}
	return int64(len(ids)), nil
}

func (t instructionRecords) removeInstruction(id string) error {
	in, _, err := t.instruction(id)
	if err != nil {
		return err
	}
	h, err := t.ChangeHead()
	if err != nil {
		return err
	}
	if _, err := t.c.Exec("DELETE FROM instructions WHERE instructions.workspace = :w AND position = ?", in.Position); err != nil {
		return err
	}
	h.counts[stateIndex(in.Phase.State())]--
	delete(t.known, id)
	delete(t.recent.instructions, id)
	return nil
}

func (t whole) pruneAnswers(before core.Instant, limit int64) (int64, error) {
	return t.c.Exec("DELETE FROM answers WHERE answers.workspace = :w AND key IN (SELECT key FROM answers WHERE answers.workspace = :w AND at < ? ORDER BY at, key"+limited+")",
		int64(before), limit)
}

func (t whole) pruneEvents(before core.Instant, limit int64) (int64, error) {
	last, err := eventLog(t).seqBefore(before)
	if err != nil {
		return 0, err
	}
	h, err := t.theHead()
	if err != nil {
		return 0, err
	}
	if last = min(last, h.Oldest+limit-1); last < h.Oldest {
		return 0, nil
	}
	cut, err := eventLog(t).event(last)
	if err != nil {
		return 0, err
	}
	removed, err := t.c.Exec("DELETE FROM events WHERE events.workspace = :w AND seq <= ?", last)
	if err != nil {
		return 0, err
	}
	t.headPut = true
	h.Oldest, h.Base = last+1, cut.Hash
	return removed, nil
}

// event gets the record of that number, which must be there.
func (t eventLog) event(seq int64) (ev store.Event, err error) {
	ev, found, err := one(t.c, &eventRows, " AND seq > ? ORDER BY seq LIMIT 1", seq-1)
	if err == nil && (!found || ev.Seq != seq) {
		err = Damaged("event " + strconv.FormatInt(seq, 10))
	}
	return ev, err
}
