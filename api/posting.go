package api

import (
	"context"
	"slices"
	"time"

	"waybill/core"
	"waybill/schema"
	"waybill/store"
)

// coalesce is how long a notice about a task waits for others of its session, so that a host whose
// tasks end together is told once.
const coalesce = 100 * time.Millisecond

// maxTogether bounds how many notices come in one notification.
const maxTogether = 100

// A posting holds notices back until they are delivered together. It belongs to one goroutine.
type posting struct {
	timer   *time.Timer // fires when the first bundle is due
	bundles []*bundle   // the one that is due first is first
}

// A bundle is what is held for one session.
type bundle struct {
	session string
	due     time.Time
	seq     int64 // of the last notice
	notices []store.Notice
}

func newPosting() *posting {
	timer := time.NewTimer(coalesce)
	timer.Stop()
	return &posting{timer: timer}
}

// notice delivers a notice, or holds it for others of its session. What nothing will follow, and what
// is about no task, takes along what is held and does not wait.
func (f *feed) notice(seq int64, n store.Notice) {
	b := f.posting.hold(seq, n)
	if !waits(n) || len(b.notices) == maxTogether {
		f.posting.drop(b)
		f.deliver(b)
	}
	f.posting.rearm()
}

func waits(n store.Notice) bool {
	switch n.Kind {
	case core.NoticeTaskFinished, core.NoticeTaskAwaiting, core.NoticeRetryScheduled, core.NoticeRetryReady:
		return n.Session != ""
	case core.NoticeInstructionFailed, core.NoticeAllFinished,
		core.NoticeRunBlocked, core.NoticeRunStalled, core.NoticePlanCompleted:
		return false
	}
	panic("api: unknown kind of notice " + string(n.Kind))
}

// hold adds the notice to the bundle of its session. One that is there already is not held twice.
func (p *posting) hold(seq int64, n store.Notice) *bundle {
	i := slices.IndexFunc(p.bundles, func(b *bundle) bool { return b.session == n.Session })
	if i < 0 {
		i = len(p.bundles)
		p.bundles = append(p.bundles, &bundle{session: n.Session, due: time.Now().Add(coalesce)})
	}
	b := p.bundles[i]
	if !slices.ContainsFunc(b.notices, func(held store.Notice) bool { return held.ID == n.ID }) {
		b.notices, b.seq = append(b.notices, n), seq
	}
	return b
}

// clear lets go of what is held.
func (p *posting) clear() {
	p.bundles = nil
	p.rearm()
}

func (p *posting) drop(b *bundle) {
	p.bundles = slices.DeleteFunc(p.bundles, func(other *bundle) bool { return other == b })
}

// rearm sets the timer to when the first bundle is due.
func (p *posting) rearm() {
	p.timer.Stop()
	if len(p.bundles) > 0 {
		p.timer.Reset(time.Until(p.bundles[0].due))
	}
}

// flush delivers what is due. What was consumed in the meantime is not announced any more.
func (f *feed) flush(ctx context.Context) {
	for len(f.posting.bundles) > 0 && !time.Now().Before(f.posting.bundles[0].due) {
		b := f.posting.bundles[0]
		f.posting.drop(b)
		f.deliver(f.open(ctx, b))
	}
	f.posting.rearm()
}

// open gives the bundle without the notices that are gone. If the store cannot tell, it stays as it is.
func (f *feed) open(ctx context.Context, b *bundle) *bundle {
	still := &bundle{session: b.session, seq: b.seq}
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

func (f *feed) deliver(b *bundle) {
	if len(b.notices) == 0 {
		return
	}
	all := mapped(b.notices, func(n store.Notice) schema.Notice {
		n.Deliveries++ // this one
		return wireNotice(n)
	})
	f.send("notice/posted", &schema.NoticeNote{Seq: b.seq, Notice: all[len(all)-1], Notices: all})
	delivered(f.engine, b.notices)
}
