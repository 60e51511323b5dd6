package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"waybill/core"
	"waybill/ledger"
	"waybill/store"
)

// Plan reads a plan of the workspace. If it reads differently than the last time, that is recorded
// in the event log.
func (e *Engine) Plan(ctx context.Context, path string) (Plan, error) {
	plan, err := e.readPlan(ctx, path)
	if err == nil && plan.unannounced {
		e.announcePlan(ctx, path)
	}
	return plan, err
}

func (e *Engine) readPlan(ctx context.Context, path string) (Plan, error) {
	var since int64
	if !e.o.Plans.known(path) {
		since = e.newest(ctx) // before the file is read, so that no record about it is missed
	}
	return e.o.Plans.read(path, since)
}

// newest is the newest event, or 0 if that cannot be told.
func (e *Engine) newest(ctx context.Context) (seq int64) {
	err := e.View(ctx, func(tx store.Tx) (err error) {
		_, seq, err = tx.Bounds()
		return err
	})
	if err != nil {
		return 0
	}
	return seq
}

// announcePlan records that a plan changed. What cannot be recorded now is tried again at the next
// look at the plan.
func (e *Engine) announcePlan(ctx context.Context, path string) {
	change, ok := e.o.Plans.pending(path)
	if !ok {
		return
	}
	seq, err := e.Do(ctx, Change{Apply: func(tx *Tx) (any, error) { return tx.announce(change) }})
	if err != nil {
		e.o.Logger.Warn("a change of a plan was not recorded", "plan", path, "err", err)
		return
	}
	e.o.Plans.announcedAs(path, change.next, seq.(int64))
}

// A change of a plan that the event log may not know.
type planChange struct {
	path       string
	base, next *ledger.Reading
	since      int64 // a change that is on record behind here may be this one
}

// pending gives the change that is still to be announced.
func (p *Plans) pending(rel string) (planChange, bool) {
	m, known := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !known || m.announced.Hash == m.reading.Hash {
		return planChange{}, false
	}
	return planChange{rel, m.announced, m.reading, m.since}, true
}

// known reports whether a plan was read from the path before.
func (p *Plans) known(rel string) bool {
	_, known := p.memory(rel)
	return known
}

// announcedAs notes that the event log knows the reading, and where.
func (p *Plans) announcedAs(rel string, reading *ledger.Reading, seq int64) {
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq > m.since { // else somebody noted a later one meanwhile
		m.announced, m.since = reading, seq
	}
}

// ledgerEvent is the data of ledger.changed.
type ledgerEvent struct {
	Hash    string   `json:"hash"`
	MtimeMs int64    `json:"mtime_ms"`
	Size    int64    `json:"size"`
	Changed []string `json:"changed_ids"`
}

// announce records what became of a plan, and gives the number of the record. Of several processes
// that see the same edit, the first one records it.
func (tx *Tx) announce(c planChange) (seq int64, err error) {
	hash, seq, err := tx.lastLedger(c.path, c.since)
	if err != nil || hash == c.next.Hash {
		return seq, err
	}
	ids := []string{}
	for _, change := range ledger.Diff(c.base, c.next) {
		ids = append(ids, change.ItemID)
	}
	if err := tx.record(core.LedgerChanged, c.path, ledgerEvent{
		Hash: c.next.Hash, MtimeMs: c.next.MtimeMs, Size: c.next.Size, Changed: ids,
	}); err != nil {
		return 0, err
	}
	return tx.Seq()
}

// lastLedger gives the hash and the number of the newest ledger.changed of a plan behind after.
func (tx *Tx) lastLedger(path string, after int64) (hash string, seq int64, err error) {
	for {
		page, err := tx.EventsOf(path, after, store.DefaultLimit)
		if err != nil || len(page) == 0 {
			return hash, after, err
		}
		last := page[len(page)-1]
		var data ledgerEvent
		if err := json.Unmarshal([]byte(last.Data), &data); err != nil {
			return "", 0, fmt.Errorf("read event %d: %w", last.Seq, err)
		}
		hash, after = data.Hash, last.Seq
	}
}
