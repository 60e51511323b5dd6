package sqlstore

import (
	"bytes"
	"slices"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
)

// A Head is the one row that sums up the event log and counts the instructions.
type Head struct {
	Oldest, Newest int64
	At             core.Instant       // of the newest record
	Base           store.Hash         // of the record before the oldest
	Hash           store.Hash         // of the newest record
	counts         [len(phases)]int64 // of the instructions, in the order of phases
	before         int64              // the Newest that a transaction has read; not stored
}

// phases are the states that phases have, in the order of the columns.
var phases = [...]instruction.State{instruction.StateArmed, instruction.StateQueued, instruction.StateSent, instruction.StateAcknowledged, instruction.StateFailed, instruction.StateCancelled}

func stateIndex(s instruction.State) int { return slices.Index(phases[:], s) }

const (
	selectHead = "SELECT oldest, newest, at, base, hash, armed, queued, sent, acknowledged, failed, cancelled, sum FROM head WHERE head.workspace = :w"
	insertHead = `INSERT INTO head (workspace, one, oldest, newest, at, base, hash,
		armed, queued, sent, acknowledged, failed, cancelled, sum) VALUES (:w, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateHead = `UPDATE head SET oldest = ?, newest = ?, at = ?, base = ?, hash = ?,
		armed = ?, queued = ?, sent = ?, acknowledged = ?, failed = ?, cancelled = ?, sum = ? WHERE head.workspace = :w AND one = 1`
)

// ReadHead reads the head.
func ReadHead(c Conn) (h Head, err error) {
	found := false
	err = c.Query(func(r *Row) error {
		found = true
		h, err = headOf(r)
		return err
	}, selectHead)
	if err == nil && !found {
		err = Damaged("the head of the event log")
	}
	return h, err
}

func headOf(r *Row) (h Head, err error) {
	h.Oldest, h.Newest, h.At = r.Integer(), r.Integer(), core.Instant(r.Integer())
	copy(h.Base[:], r.blob())
	copy(h.Hash[:], r.blob())
	for i := range h.counts {
		h.counts[i] = r.Integer()
	}
	if sum := r.blob(); r.err != nil || !bytes.Equal(sum, encoder(nil).head(h).sum()) {
		return h, Damaged("the head of the event log")
	}
	return h, nil
}

// Found writes the head of an empty event log, with which a store begins.
func Found(c Conn) error { return putHead(c, insertHead, Head{Oldest: 1}) }

func putHead(c Conn, text string, h Head) error {
	_, err := c.Exec(text, h.Oldest, h.Newest, int64(h.At), h.Base[:], h.Hash[:],
		h.counts[0], h.counts[1], h.counts[2], h.counts[3], h.counts[4], h.counts[5], encoder(nil).head(h).sum())
	return err
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

func (t *Tx) storeHead() error { return putHead(t.c, updateHead, t.head) }
