package sqlite

import (
	"bytes"
	"slices"

	"waybill/core"
	"waybill/store"
)

// head is the one row that sums up the event log and counts the instructions.
type head struct {
	oldest, newest int64
	at             core.Instant // of the newest record
	base           store.Hash   // of the record before the oldest
	hash           store.Hash   // of the newest record
	counts         [5]int64     // of the instructions, in the order of core.States
}

func stateIndex(s core.State) int { return slices.Index(core.States(), s) }

const (
	selectHead = "SELECT oldest, newest, at, base, hash, queued, sent, acknowledged, failed, cancelled, sum FROM head"
	insertHead = "INSERT INTO head VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	updateHead = `UPDATE head SET oldest = ?, newest = ?, at = ?, base = ?, hash = ?,
		queued = ?, sent = ?, acknowledged = ?, failed = ?, cancelled = ?, sum = ? WHERE one = 1`
)

func readHead(c *conn, buf encoder) (h head, err error) {
	found := false
	err = c.query(func(r *row) error {
		found = true
		h, err = headOf(r, buf)
		return err
	}, selectHead)
	if err == nil && !found {
		err = damaged("the head of the event log")
	}
	return h, err
}

func headOf(r *row, buf encoder) (h head, err error) {
	h.oldest, h.newest, h.at = r.integer(), r.integer(), core.Instant(r.integer())
	copy(h.base[:], r.blob())
	copy(h.hash[:], r.blob())
	for i := range h.counts {
		h.counts[i] = r.integer()
	}
	if sum := r.blob(); r.err != nil || !bytes.Equal(sum, buf.head(h).sum()) {
		return h, damaged("the head of the event log")
	}
	return h, nil
}

func putHead(c *conn, text string, h head, buf encoder) error {
	_, err := c.exec(text, h.oldest, h.newest, int64(h.at), h.base[:], h.hash[:],
		h.counts[0], h.counts[1], h.counts[2], h.counts[3], h.counts[4], buf.head(h).sum())
	return err
}

// theHead gives the head, for reading.
func (t *tx) theHead() (*head, error) {
	if t.headRead {
		return &t.head, nil
	}
	if t.writable && t.c.recent.headed {
		t.head, t.headRead = t.c.recent.head, true
		return &t.head, nil
	}
	h, err := readHead(t.c, t.buf)
	if err != nil {
		return nil, err
	}
	t.head, t.headRead = h, true
	return &t.head, nil
}

// changeHead gives the head, for a change that commit stores.
func (t *tx) changeHead() (*head, error) {
	h, err := t.theHead()
	if err == nil {
		t.headPut = true
	}
	return h, err
}

func (t *tx) storeHead() error { return putHead(t.c, updateHead, t.head, t.buf) }
