package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"waybill/core/instruction"
	"waybill/store"
)

// A Verifier collects what is not as it was written. Each of its checks can be run by itself.
type Verifier struct {
	Conn Conn
	// Ctx ends the reading.
	Ctx context.Context
	// Moment runs a function on one moment of the database.
	Moment func(func() error) error

	found []store.Damage
	named map[Damaged]bool // the rows that were found: some are read by more than one way
}

// A Check is one of the checks of a Verifier.
type Check struct {
	Name string
	Run  func() error
}

// Checks returns the checks that are the same for every database: every row against its checksum, the hash chain of the
// event log, each task against its newest attempt, and the counts.
func (v *Verifier) Checks() []Check {
	return []Check{
		{"rows", v.tables},
		{"event log", v.events},
		{"counts", v.counts},
		{"task counts", v.taskCounts},
	}
}

// All returns what the checks find.
func (v *Verifier) All(checks []Check) ([]store.Damage, error) {
	for _, check := range checks {
		if err := v.report(check.Run()); err != nil {
			return v.found, err
		}
	}
	return v.found, nil
}

// Alone returns what one check finds, whatever others have found before.
func (v *Verifier) Alone(check Check) ([]store.Damage, error) {
	v.found, v.named = nil, nil
	return v.All([]Check{check})
}

// Add notes a finding.
func (v *Verifier) Add(what, format string, args ...any) {
	v.found = append(v.found, store.Damage{What: what, Detail: fmt.Sprintf(format, args...)})
}

// report turns the error of a file that cannot be made sense of into a finding.
func (v *Verifier) report(err error) error {
	if row, ok := errors.AsType[Damaged](err); ok {
		if v.named == nil {
			v.named = make(map[Damaged]bool)
		}
		if !v.named[row] {
			v.named[row] = true
			v.Add(string(row), "it is not what was written")
		}
		return nil
	}
	if err != nil && v.Ctx.Err() == nil && v.Conn.Fault(err).Kind == store.Corrupt {
		v.Add("the file", "%v", err)
		return nil
	}
	return err
}

func (v *Verifier) tables() error {
	for _, tb := range Tables() {
		err := tb.Scan(v.Ctx, v.Conn, false, func(_ []any, item any, damage error) error {
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
func (v *Verifier) events() error {
	link := chainLink{v: v}
	for {
		n := 0
		err := v.Moment(func() error {
			h, err := ReadHead(v.Conn)
			if err != nil {
				return err
			}
			link.begin(h)
			var buf encoder
			if err := v.Conn.Query(func(r *Row) error {
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
		if err == nil {
			err = v.Ctx.Err()
		}
		if err != nil || n < pageSize {
			return err
		}
	}
}

// chainLink is how far the chain has been followed.
type chainLink struct {
	v     *Verifier
	begun bool
	seq   int64
	hash  store.Hash
	loose bool // the hash is not to be trusted, because its record is damaged
}

// begin starts at the oldest record, again if a Prune has overtaken the reading.
func (l *chainLink) begin(h Head) {
	if !l.begun || l.seq < h.Oldest-1 {
		l.begun, l.seq, l.hash, l.loose = true, h.Oldest-1, h.Base, false
	}
}

func (l *chainLink) follow(ev store.Event, damage error) error {
	if ev.Seq != l.seq+1 {
		l.v.Add(fmt.Sprintf("events %d to %d", l.seq+1, ev.Seq-1), "they are missing")
		l.loose = true
	}
	if damage == nil && !l.loose && store.Chain(l.hash, ev) != ev.Hash {
		l.v.Add(fmt.Sprintf("event %d", ev.Seq), "its hash does not follow from the one before")
	}
	l.seq, l.hash, l.loose = ev.Seq, ev.Hash, damage != nil
	return l.v.report(damage)
}

func (l *chainLink) end(h Head) {
	switch {
	case l.seq < h.Newest:
		l.v.Add(fmt.Sprintf("events %d to %d", l.seq+1, h.Newest), "they are missing")
	case l.seq > h.Newest || (!l.loose && l.hash != h.Hash):
		l.v.Add("the end of the event log", "it is not where the head says")
	}
}

// counts compares the counts of the head with the rows.
func (v *Verifier) counts() error {
	return v.Moment(func() error {
		h, err := ReadHead(v.Conn)
		if err != nil {
			return err
		}
		var rows [len(phases)]int64
		if err := v.Conn.Query(func(r *Row) error {
			if i := stateIndex(instruction.State(r.Text())); i >= 0 {
				rows[i] = r.Integer()
			}
			return r.err
		}, "SELECT state, count(*) FROM instructions WHERE instructions.workspace = :w GROUP BY state"); err != nil {
			return err
		}
		for i, state := range phases {
			if rows[i] != h.counts[i] {
				v.Add("the count of "+string(state)+" instructions", "it is %d, but there are %d", h.counts[i], rows[i])
			}
		}
		return nil
	})
}
