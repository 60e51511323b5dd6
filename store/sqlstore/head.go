package sqlstore

import (
	"bytes"
	"slices"
	"strings"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
	"waybill/store/record"
)

// A Head is the one row that sums up the event log and counts the instructions and the tasks.
type Head struct {
	Oldest, Newest int64
	At             core.Instant       // of the newest record
	Base           store.Hash         // of the record before the oldest
	Hash           store.Hash         // of the newest record
	counts         [len(phases)]int64 // of the instructions, in the order of phases
	tasks          [7]int64           // their number, in the order of task.Statuses
	before         int64              // the Newest that a transaction has read; not stored
}

// phases are the states that phases have, in the order of the columns.
var phases = [...]instruction.State{instruction.StateArmed, instruction.StateQueued, instruction.StateSent, instruction.StateAcknowledged, instruction.StateFailed, instruction.StateCancelled}

func stateIndex(s instruction.State) int { return slices.Index(phases[:], s) }

const headColumns = `oldest, newest, at, base, hash, armed, queued, sent, acknowledged, failed, cancelled,
	tasks_queued, tasks_running, tasks_complete, tasks_awaiting, tasks_error, tasks_cancelled, tasks_blocked, sum`

// ReadHead reads the head.
func ReadHead(c Conn) (h Head, err error) {
	found := false
	err = c.Query(func(r *Row) error {
		found = true
		h, err = headOf(r)
		return err
	}, "SELECT "+headColumns+" FROM head WHERE head.workspace = :w")
	if err == nil && !found {
		err = Damaged("the head of the event log")
	}
	return h, err
}

func headOf(r *Row) (h Head, err error) {
	values := r.values[:len(r.values)-1]
	h.Oldest, h.Newest, h.At = r.Integer(), r.Integer(), core.Instant(r.Integer())
	copy(h.Base[:], r.blob())
	copy(h.Hash[:], r.blob())
	for i := range h.counts {
		h.counts[i] = r.Integer()
	}
	for i := range h.tasks {
		h.tasks[i] = r.Integer()
	}
	if sum := r.blob(); r.err != nil || !bytes.Equal(sum, record.Sum('h', values)) {
		return h, Damaged("the head of the event log")
	}
	return h, nil
}

// Found writes the head of an empty event log, with which a store begins.
func Found(c Conn) error {
	args := headArgs(Head{Oldest: 1})
	_, err := c.Exec("INSERT INTO head (workspace, one, "+headColumns+") VALUES (:w, 1"+strings.Repeat(", ?", len(args))+")", args...)
	return err
}

// headArgs returns the values of headColumns.
func headArgs(h Head) []any {
	args := append(make([]any, 0, 19), h.Oldest, h.Newest, int64(h.At), h.Base[:], h.Hash[:])
	for _, n := range h.counts {
		args = append(args, n)
	}
	for _, n := range h.tasks {
		args = append(args, n)
	}
	return append(args, record.Sum('h', args))
}

// theHead returns the head, for reading.
func (t *Tx) theHead() (*Head, error) {
	if t.headRead {
		return &t.head, nil
	}
	if t.writable && t.recent.headed {
		t.head, t.headRead = t.recent.head, true
		t.head.before = t.head.Newest
		return &t.head, nil
	}
	h, err := ReadHead(t.c)
	if err != nil {
		return nil, err
	}
	t.head, t.headRead = h, true
	t.head.before = h.Newest
	return &t.head, nil
}

// ChangeHead returns the head, for a change that commit stores.
func (t *Tx) ChangeHead() (*Head, error) {
	h, err := t.theHead()
	if err == nil {
		t.headPut = true
	}
	return h, err
}

func (t *Tx) storeHead() error {
	args := headArgs(t.head)
	_, err := t.c.Exec("UPDATE head SET ("+headColumns+") = (?"+strings.Repeat(", ?", len(args)-1)+") WHERE head.workspace = :w AND one = 1", args...)
	return err
}
