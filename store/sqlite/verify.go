package sqlite

import (
	"context"
	"errors"
	"fmt"

	"waybill/core"
	"waybill/store"
)

// Verify has SQLite check the structure of the file, and checks every row against its checksum, the
// chain of the event log from its oldest record to its newest, each task against its newest attempt, and
// the counts.
func (s *Store) Verify(ctx context.Context) ([]store.Damage, error) {
	if err := s.refusal(); isKind(err, store.NewerSchema) {
		return nil, err
	}
	v := verifier{ctx: ctx}
	err := s.reading(ctx, func(c *conn) (bool, error) {
		v.c = c
		if err := v.all(); err != nil {
			return false, classify(s.place.path, err)
		}
		return true, nil
	})
	return v.found, err
}

// verifier collects what it finds. Each of its checks can be run by itself.
type verifier struct {
	ctx   context.Context
	c     *conn
	found []store.Damage
	named map[damaged]bool // the rows that were found: some are read by more than one way
}

// A verification is one of the checks of a verifier.
type verification struct {
	name string
	run  func() error
}

// checks gives all checks, for Verify and for Examine.
func (v *verifier) checks() []verification {
	return []verification{
		{"structure", v.structure},
		{"rows", v.tables},
		{"event log", v.events},
		{"counts", v.counts},
		{"task counts", v.taskCounts},
	}
}

func (v *verifier) all() error {
	for _, check := range v.checks() {
		if err := v.report(check.run()); err != nil {
			return err
		}
	}
	return nil
}

// alone gives what one check finds, whatever others have found before.
func (v *verifier) alone(check verification) ([]store.Damage, error) {
	v.found, v.named = nil, nil
	err := v.report(check.run())
	return v.found, err
}

func (v *verifier) add(what, format string, args ...any) {
	v.found = append(v.found, store.Damage{What: what, Detail: fmt.Sprintf(format, args...)})
}

// report turns the error of a file that cannot be made sense of into a finding.
func (v *verifier) report(err error) error {
	if row, ok := errors.AsType[damaged](err); ok {
		if v.named == nil {
			v.named = make(map[damaged]bool)
		}
		if !v.named[row] {
			v.named[row] = true
			v.add(string(row), "it is not what was written")
		}
		return nil
	}
	if err != nil && v.ctx.Err() == nil && kindOf(err) == store.Corrupt {
		v.add("the file", "%v", err)
		return nil
	}
	return err
}

func (v *verifier) structure() error {
	err := v.c.queryContext(v.ctx, func(r *row) error {
		if text := r.text(); text != "ok" {
			v.add("the file", "%s", text)
		}
		return r.err
	}, "PRAGMA integrity_check(20)")
	if err != nil {
		return err
	}
	return v.c.queryContext(v.ctx, func(r *row) error {
		v.add("table "+r.text(), "a row refers to another that is missing")
		return r.err
	}, "PRAGMA foreign_key_check")
}

func (v *verifier) tables() error {
	for _, tb := range tables() {
		err := tb.scan(v.ctx, v.c, false, func(_ []any, item any, damage error) error {
			if damage != nil || tb.whole == nil {
				return v.report(damage)
			}
			return v.wholeness(tb, item)
		})
		if err := v.report(err); err != nil {
			return err
		}
	}
	return nil
}

// events follows the chain, page by page, each together with the head as it is at that moment.
func (v *verifier) events() error {
	link := chainLink{v: v}
	for {
		n := 0
		err := v.moment(func() error {
			h, err := readHead(v.c, nil)
			if err != nil {
				return err
			}
			link.begin(h)
			var buf encoder
			if err := v.c.query(func(r *row) error {
				n++
				ev, damage := takeEvent(r, &buf)
				return link.follow(ev, damage)
			}, selectEvents+" ORDER BY seq"+limited, link.seq, int64(pageSize)); err != nil {
				return err
			}
			if n < pageSize {
				link.end(h)
			}
			return nil
		})
		if err = firstError(err, v.ctx.Err()); err != nil || n < pageSize {
			return err
		}
	}
}

// moment runs fn in a transaction that reads.
func (v *verifier) moment(fn func() error) error {
	if _, err := v.c.exec("BEGIN"); err != nil {
		return err
	}
	err := fn()
	_, ended := v.c.exec("ROLLBACK")
	return firstError(err, ended)
}

// chainLink is how far the chain has been followed.
type chainLink struct {
	v     *verifier
	begun bool
	seq   int64
	hash  store.Hash
	loose bool // the hash is not to be trusted, because its record is damaged
}

// begin starts at the oldest record, again if a Prune has overtaken the reading.
func (l *chainLink) begin(h head) {
	if !l.begun || l.seq < h.oldest-1 {
		l.begun, l.seq, l.hash, l.loose = true, h.oldest-1, h.base, false
	}
}

func (l *chainLink) follow(ev store.Event, damage error) error {
	if ev.Seq != l.seq+1 {
		l.v.add(fmt.Sprintf("events %d to %d", l.seq+1, ev.Seq-1), "they are missing")
		l.loose = true
	}
	if damage == nil && !l.loose && store.Chain(l.hash, ev) != ev.Hash {
		l.v.add(fmt.Sprintf("event %d", ev.Seq), "its hash does not follow from the one before")
	}
	l.seq, l.hash, l.loose = ev.Seq, ev.Hash, damage != nil
	return l.v.report(damage)
}

func (l *chainLink) end(h head) {
	switch {
	case l.seq < h.newest:
		l.v.add(fmt.Sprintf("events %d to %d", l.seq+1, h.newest), "they are missing")
	case l.seq > h.newest || (!l.loose && l.hash != h.hash):
		l.v.add("the end of the event log", "it is not where the head says")
	}
}

// counts compares the counts of the head with the rows.
func (v *verifier) counts() error {
	return v.moment(func() error {
		h, err := readHead(v.c, nil)
		if err != nil {
			return err
		}
		var rows [5]int64
		if err := v.c.queryContext(v.ctx, func(r *row) error {
			if i := stateIndex(core.State(r.text())); i >= 0 {
				rows[i] = r.integer()
			}
			return r.err
		}, "SELECT state, count(*) FROM instructions GROUP BY state"); err != nil {
			return err
		}
		for i, state := range core.States() {
			if rows[i] != h.counts[i] {
				v.add("the count of "+string(state)+" instructions", "it is %d, but there are %d", h.counts[i], rows[i])
			}
		}
		return nil
	})
}
