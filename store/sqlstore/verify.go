package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"waybill/core/task"
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
		{"counts", v.instructionCounts},
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
			if err := read(v.Conn, &eventRows, func(ev store.Event, damage error) error {
				n++
				return link.follow(ev, damage)
			}, " AND seq > ? ORDER BY seq"+limited, link.seq, int64(pageSize)); err != nil {
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

func (v *Verifier) instructionCounts() error {
	return v.counts("instructions", func(h Head, check func(value string, want int64)) {
		for i, state := range phases {
			check(string(state), h.counts[i])
		}
	})
}

func (v *Verifier) taskCounts() error {
	return v.counts("tasks", func(h Head, check func(value string, want int64)) {
		for i, status := range task.Statuses() {
			check(string(status), h.tasks[i])
		}
	})
}

// counts compares counts of the head with the rows of a table.
func (v *Verifier) counts(table string, each func(h Head, check func(value string, want int64))) error {
	column := map[string]string{"instructions": "state", "tasks": "status"}[table]
	return v.Moment(func() error {
		h, err := ReadHead(v.Conn)
		if err != nil {
			return err
		}
		rows := map[string]int64{}
		if err := v.Conn.Query(func(r *Row) error {
			rows[r.Text()] = r.Integer()
			return r.err
		}, "SELECT "+column+", count(*) FROM "+table+" WHERE "+table+".workspace = :w GROUP BY "+column); err != nil {
			return err
		}
		each(h, func(value string, want int64) {
			if rows[value] != want {
				v.Add("the count of "+value+" "+table, "it is %d, but there are %d", want, rows[value])
			}
		})
		return nil
	})
}

// wholeness returns the fault of a row with correct checksums.
func (v *Verifier) wholeness(tb Table, item any) error {
	damage, err := tb.whole(v.Conn, item)
	if damage.Detail != "" {
		v.found = append(v.found, damage)
	}
	return err
}

// tailLength is the number of newest records that are checked when a store is opened. It is enough to find a torn or
// foreign end, and costs no noticeable time.
const tailLength = 16

// CheckTail checks that the newest records follow one from the other and end where head says.
func CheckTail(c Conn, h Head) error {
	first := max(h.Oldest, h.Newest-tailLength)
	prev, seq := h.Base, first-1
	err := read(c, &eventRows, func(ev store.Event, damage error) error {
		if damage != nil {
			return damage
		}
		// Of the first record of a tail the one before is not at hand, unless it is the oldest.
		linked := store.Chain(prev, ev) == ev.Hash || (ev.Seq == first && first > h.Oldest)
		if ev.Seq != seq+1 || !linked {
			return Damaged(fmt.Sprintf("the event log at number %d", seq+1))
		}
		prev, seq = ev.Hash, ev.Seq
		return nil
	}, " AND seq > ? ORDER BY seq", first-1)
	if err == nil && (seq != h.Newest || prev != h.Hash) {
		err = Damaged("the end of the event log")
	}
	return err
}
