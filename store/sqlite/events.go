package sqlite

import (
	"bytes"
	"sort"
	"strconv"
	"strings"

	"waybill/core"
	"waybill/store"
)

const (
	eventColumns   = "seq, at, type, subject, data, hash, sum"
	insertEvent    = "INSERT INTO events (" + eventColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?)"
	selectEvents   = "SELECT " + eventColumns + " FROM events WHERE seq > ?"
	selectEventsOf = "SELECT " + eventColumns + " FROM events WHERE subject = ? AND seq > ? ORDER BY seq" + limited
)

// takeEvent takes eventColumns and checks them against their sum.
func takeEvent(r *row, buf *encoder) (ev store.Event, err error) {
	ev.Seq, ev.At, ev.Type = r.integer(), core.Instant(r.integer()), core.EventType(r.text())
	ev.Subject, ev.Data = r.text(), r.text()
	copy(ev.Hash[:], r.blob())
	sum := r.blob()
	*buf = buf.event(ev)
	if r.err != nil || !bytes.Equal(sum, buf.sum()) {
		return ev, damaged("event " + strconv.FormatInt(ev.Seq, 10))
	}
	return ev, nil
}

func (t *tx) Append(ev store.Event) (seq int64, err error) {
	err = t.put(func() error {
		h, err := t.changeHead()
		if err != nil {
			return err
		}
		ev.Seq = h.newest + 1
		ev.At = max(ev.At, h.at)
		ev.Hash = store.Chain(h.hash, ev)
		if err := insertRecord(t.c, ev, &t.buf); err != nil {
			return err
		}
		h.newest, h.at, h.hash = ev.Seq, ev.At, ev.Hash
		seq = ev.Seq
		t.writes++
		return nil
	})
	return seq, err
}

func insertRecord(c *conn, ev store.Event, buf *encoder) error {
	*buf = buf.event(ev)
	_, err := c.exec(insertEvent, ev.Seq, int64(ev.At), string(ev.Type), ev.Subject, ev.Data, ev.Hash[:], buf.sum())
	return err
}

func (t *tx) Events(after int64, limit int, types []core.EventType) ([]store.Event, error) {
	text, args := selectEvents, []any{after}
	if len(types) > 0 {
		text += " AND type IN (?" + strings.Repeat(", ?", len(types)-1) + ")"
		for _, kind := range types {
			args = append(args, string(kind))
		}
	}
	return t.events(limit, text+" ORDER BY seq"+limited, args...)
}

func (t *tx) EventsOf(subject string, after int64, limit int) ([]store.Event, error) {
	return t.events(limit, selectEventsOf, subject, after)
}

func (t *tx) events(limit int, text string, args ...any) (page []store.Event, err error) {
	err = t.get(func() error {
		return t.c.query(func(r *row) error {
			ev, err := takeEvent(r, &t.buf)
			page = append(page, ev)
			return err
		}, text, append(args, int64(max(limit, 0)))...)
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

func (t *tx) Bounds() (oldest, newest int64, err error) {
	err = t.get(func() error {
		h, err := t.theHead()
		if err == nil {
			oldest, newest = h.oldest, h.newest
		}
		return err
	})
	return oldest, newest, err
}

func (t *tx) SeqBefore(at core.Instant) (seq int64, err error) {
	err = t.get(func() error {
		seq, err = t.seqBefore(at)
		return err
	})
	return seq, err
}

// seqBefore searches by halves: time runs forwards in the log, which spares it an index.
func (t *tx) seqBefore(at core.Instant) (int64, error) {
	h, err := t.theHead()
	if err != nil {
		return 0, err
	}
	n := sort.Search(int(h.newest-h.oldest+1), func(i int) bool {
		if err != nil {
			return true
		}
		var then int64
		then, err = t.c.number("SELECT at FROM events WHERE seq = ?", h.oldest+int64(i))
		return core.Instant(then) >= at
	})
	return h.oldest - 1 + int64(n), err
}

func (t *tx) Prune(before core.Instant, limit int) (removed int, err error) {
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

func (t *tx) pruneInstructions(before core.Instant, limit int64) (int64, error) {
	const over = `SELECT id FROM instructions WHERE
		(state IN ('acknowledged', 'cancelled') OR (state = 'sent' AND tracked = 0)) AND coalesce(ended_at, sent_at) < ?
		ORDER BY coalesce(ended_at, sent_at), position` + limited
	var ids []string
	if err := t.c.query(func(r *row) error {
		ids = append(ids, r.text())
		return r.err
	}, over, int64(before), limit); err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := t.removeInstruction(id); err != nil {
			return 0, err
		}
	}
	return int64(len(ids)), nil
}

func (t *tx) removeInstruction(id string) error {
	in, _, err := t.instruction(id)
	if err != nil {
		return err
	}
	h, err := t.changeHead()
	if err != nil {
		return err
	}
	if _, err := t.c.exec("DELETE FROM instructions WHERE position = ?", in.Position); err != nil {
		return err
	}
	h.counts[stateIndex(in.State())]--
	delete(t.known, id)
	delete(t.c.recent.instructions, id)
	return nil
}

func (t *tx) pruneAnswers(before core.Instant, limit int64) (int64, error) {
	return t.c.exec("DELETE FROM answers WHERE key IN (SELECT key FROM answers WHERE at < ? ORDER BY at, key"+limited+")",
		int64(before), limit)
}

func (t *tx) pruneEvents(before core.Instant, limit int64) (int64, error) {
	last, err := t.seqBefore(before)
	if err != nil {
		return 0, err
	}
	h, err := t.theHead()
	if err != nil {
		return 0, err
	}
	if last = min(last, h.oldest+limit-1); last < h.oldest {
		return 0, nil
	}
	cut, err := t.event(last)
	if err != nil {
		return 0, err
	}
	removed, err := t.c.exec("DELETE FROM events WHERE seq <= ?", last)
	if err != nil {
		return 0, err
	}
	t.headPut = true
	h.oldest, h.base = last+1, cut.Hash
	return removed, nil
}

// event gets the record of that number, which must be there.
func (t *tx) event(seq int64) (ev store.Event, err error) {
	found := false
	err = t.c.query(func(r *row) error {
		found = true
		ev, err = takeEvent(r, &t.buf)
		return err
	}, selectEvents+" ORDER BY seq LIMIT 1", seq-1)
	if err == nil && (!found || ev.Seq != seq) {
		err = damaged("event " + strconv.FormatInt(seq, 10))
	}
	return ev, err
}
