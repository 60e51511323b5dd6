package api

import (
	"context"
	"slices"
	"time"

	"waybill/api/entity"
	"waybill/core"
	"waybill/schema"
	"waybill/store"
)

// batchDelay is how long a task notice waits for others of its session, so that tasks that end together give one
// notification.
const batchDelay = 100 * time.Millisecond

// maxBatch bounds the notices in one notification.
const maxBatch = 100

// noticeBatches holds notices until they are sent together. It belongs to one goroutine.
type noticeBatches struct {
	timer   *time.Timer    // fires when the first batch is due
	batches []*noticeBatch // in the order of due
}

// A noticeBatch holds the notices of one session.
type noticeBatch struct {
	session string
	due     time.Time
	seq     int64 // of the last notice
	notices []store.Notice
}

func newNoticeBatches() *noticeBatches {
	timer := time.NewTimer(batchDelay)
	timer.Stop()
	return &noticeBatches{timer: timer}
}

// notice sends a notice, or holds it for others of its session. A notice that must not wait is sent at once, together
// with the held ones.
func (f *feed) notice(seq int64, n store.Notice) {
	b := f.pending.add(seq, n)
	if !mayWait(n) || len(b.notices) == maxBatch {
		f.pending.remove(b)
		f.deliver(b)
	}
	f.pending.rearm()
}

func mayWait(n store.Notice) bool {
	switch n.Kind {
	case core.NoticeTaskFinished, core.NoticeTaskAwaiting, core.NoticeRetryScheduled, core.NoticeRetryReady:
		return n.Session != ""
	case core.NoticeInstructionFailed, core.NoticeAllFinished,
		core.NoticeRunBlocked, core.NoticeRunStalled, core.NoticePlanCompleted, core.NoticeHostReported:
		return false
	}
	panic("api: unknown kind of notice " + string(n.Kind))
}

// add adds the notice to the batch of its session, once.
func (p *noticeBatches) add(seq int64, n store.Notice) *noticeBatch {
	i := slices.IndexFunc(p.batches, func(b *noticeBatch) bool { return b.session == n.Session })
	if i < 0 {
		i = len(p.batches)
		p.batches = append(p.batches, &noticeBatch{session: n.Session, due: time.Now().Add(batchDelay)})
	}
	b := p.batches[i]
	if !slices.ContainsFunc(b.notices, func(held store.Notice) bool { return held.ID == n.ID }) {
		b.notices, b.seq = append(b.notices, n), seq
	}
	return b
}

// clear drops all batches.
func (p *noticeBatches) clear() {
	p.batches = nil
	p.rearm()
}

func (p *noticeBatches) remove(b *noticeBatch) {
	p.batches = slices.DeleteFunc(p.batches, func(other *noticeBatch) bool { return other == b })
}

// rearm sets the timer to the first due time.
func (p *noticeBatches) rearm() {
	p.timer.Stop()
	if len(p.batches) > 0 {
		p.timer.Reset(time.Until(p.batches[0].due))
	}
}

// flush sends the due batches without the notices that were consumed meanwhile.
func (f *feed) flush(ctx context.Context) {
	for len(f.pending.batches) > 0 && !time.Now().Before(f.pending.batches[0].due) {
		b := f.pending.batches[0]
		f.pending.remove(b)
		f.deliver(f.stillOpen(ctx, b))
	}
	f.pending.rearm()
}

// stillOpen returns the batch without consumed notices, or unchanged if the store cannot be read.
func (f *feed) stillOpen(ctx context.Context, b *noticeBatch) *noticeBatch {
	still := &noticeBatch{session: b.session, seq: b.seq}
	if err := f.engine.View(ctx, func(tx store.Tx) error {
		still.notices = nil
		for _, n := range b.notices {
			n, ok, err := tx.Notice(n.ID)
			if err != nil {
				return err
			}
			if ok {
				still.notices = append(still.notices, n)
			}
		}
		return nil
	}); err != nil {
		return b
	}
	return still
}

func (f *feed) deliver(b *noticeBatch) {
	if len(b.notices) == 0 {
		return
	}
	all := entity.All(b.notices, func(n store.Notice) schema.Notice {
		n.Deliveries++ // this delivery
		return entity.Notice(n)
	})
	f.send("notice/posted", &schema.NoticeNote{Seq: b.seq, Notice: all[len(all)-1], Notices: all})
	countDelivered(f.engine, b.notices)
}
