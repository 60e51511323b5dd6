package engine

import (
	"encoding/json"
	"fmt"

	"waybill/core"
	"waybill/store"
)

// A Tx is a change under way: the store's transaction, the moment at which it happens, and the
// verbs that carry out what core decides.
type Tx struct {
	store.Tx
	engine  *Engine
	now     core.Instant
	touched []string
	leased  bool   // somebody got a lease
	judged  string // the attempt whose result is being taken, so that its end is not counted once more
	account account
}

// Now is the moment at which the change happens, the same throughout.
func (tx *Tx) Now() core.Instant { return tx.now }

// Seq is the newest event of the log: after a change, the position that contains it.
func (tx *Tx) Seq() (int64, error) {
	_, newest, err := tx.Bounds()
	return newest, err
}

// record appends an event about a thing. data becomes a JSON object.
func (tx *Tx) record(kind core.EventType, subject string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", kind, err)
	}
	seq, err := tx.Append(store.Event{At: tx.now, Type: kind, Subject: subject, Data: string(text)})
	if err == nil {
		tx.engine.hush(seq)
	}
	return err
}

// post leaves a notice for the host and records that.
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

// Consume removes the notices that are still there and gives their ids.
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

// Delivered counts that the notices were handed to a host once more.
func (tx *Tx) Delivered(ids []string) error {
	for _, id := range ids {
		n, ok, err := tx.Notice(id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		n.Deliveries++
		if err := tx.PutNotice(n); err != nil {
			return err
		}
	}
	return nil
}
