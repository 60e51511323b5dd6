package engine

import (
	"encoding/json"
	"fmt"

	"waybill/core"
	"waybill/store"
)

// A Tx is the transaction of a change: the store's transaction, its time, and methods that apply decisions of package
// core.
type Tx struct {
	store.Tx
	engine  *Engine
	now     core.Instant
	touched []string
	leased  bool   // a lease was created
	timed   bool   // a question has a default that time takes, or that is due already
	judged  string // the attempt whose result is being taken; its end is not counted again
	stats   changeStats
}

// Now returns the time of the change, which is constant.
func (tx *Tx) Now() core.Instant { return tx.now }

// Touched returns the sessions with new instructions or tasks.
func (tx *Tx) Touched() []string { return tx.touched }

// Committed counts what the change did, and has its leases checked.
func (tx *Tx) Committed() {
	tx.engine.meters.add(tx.stats)
	tx.engine.warnOfFailures(tx.stats.failed)
	if tx.leased {
		tx.engine.beginLooking()
	}
	if tx.timed {
		tx.engine.changes.Attend()
		signal(tx.engine.leased)
	}
}

// Seq returns the number of the newest event, which after a change includes that change.
func (tx *Tx) Seq() (int64, error) {
	_, newest, err := tx.Bounds()
	return newest, err
}

// record appends an event about a subject. data must encode to a JSON object.
func (tx *Tx) record(kind core.EventType, subject string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", kind, err)
	}
	seq, err := tx.Append(store.Event{At: tx.now, Type: kind, Subject: subject, Data: string(text)})
	if err == nil {
		tx.engine.changes.HoldBack(seq)
	}
	return err
}

// post stores a notice for the host and records it.
func (tx *Tx) post(n store.Notice) error {
	n.ID = tx.engine.o.NewID("ntc_")
	n.CreatedAt = tx.now
	_, newest, err := tx.Bounds()
	if err != nil {
		return err
	}
	n.Position = newest + 1
	if err := tx.PutNotice(n); err != nil {
		return err
	}
	return tx.record(core.NoticePosted, n.ID, noticeEvent{Kind: string(n.Kind), Session: n.Session, Subject: n.Subject})
}

// noticeEvent is the data of notice.posted.
type noticeEvent struct {
	Kind    string `json:"kind"`
	Session string `json:"session_id,omitempty"`
	Subject string `json:"subject_id"`
}

// dropNotices removes the notices of a kind about a subject and records the removal.
func (tx *Tx) dropNotices(subject string, kind core.NoticeKind) error {
	about, err := tx.NoticesAbout(subject)
	if err != nil {
		return err
	}
	var ids []string
	for _, n := range about {
		if n.Kind == kind {
			ids = append(ids, n.ID)
		}
	}
	_, err = tx.Consume(ids)
	return err
}

// Consume removes notices and returns the ids of those that existed.
func (tx *Tx) Consume(ids []string) ([]string, error) {
	consumed := make([]string, 0, len(ids))
	for _, id := range ids {
		ok, err := tx.ConsumeNotice(id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if err := tx.record(core.NoticeConsumed, id, struct{}{}); err != nil {
			return nil, err
		}
		consumed = append(consumed, id)
	}
	return consumed, nil
}

// Delivered counts one more delivery of each notice.
func (tx *Tx) Delivered(ids []string) error {
	for _, id := range ids {
		n, ok, err := tx.Notice(id)
		if ok && err == nil {
			n.Deliveries++
			err = tx.PutNotice(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
