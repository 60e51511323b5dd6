package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"waybill/core"
	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

const (
	// redeliverEvery is how often a notice that nobody consumes is announced again.
	redeliverEvery = 5 * time.Minute
	// redeliverAtOnce bounds how many are announced before others get a turn, and redeliverPause is
	// how long that is.
	redeliverAtOnce = 100
	redeliverPause  = 50 * time.Millisecond
	// breather is how long the feed rests after it has sent something. A lone event is sent at once;
	// what comes thick and fast is read a page at a time and not one by one.
	breather = 5 * time.Millisecond
)

// Notify sends the notifications of the workspace until ctx ends: one for each event from when the
// store was opened on, and one for each notice that was open already. Notices that stay open are
// announced again every few minutes. If another log takes the place of the one that was told of, that is said, and
// it goes on from the end of the new one, beginning with the notices that are open there. send must not block.
func (s *Service) Notify(ctx context.Context, send func(method string, params any)) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.ready:
	}
	e, _, err := s.backend()
	if err != nil {
		return err
	}
	wake, stop := e.Subscribe()
	defer stop()
	select {
	case <-ctx.Done():
		return nil
	case <-e.Opened():
	}
	f := &feed{engine: e, after: e.Head(), send: send, posting: newPosting()}
	defer f.posting.timer.Stop()
	again := time.NewTimer(f.redeliver(ctx))
	defer again.Stop()
	for {
		before := f.after
		if err := f.catchUp(ctx); err != nil {
			return err
		}
		if f.rewound {
			f.rewound = false
			again.Reset(f.redeliver(ctx))
		}
		if f.after != before && !rest(ctx, breather) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		case <-f.posting.timer.C:
			f.flush(ctx)
		case <-again.C:
			again.Reset(f.redeliver(ctx))
		}
	}
}

// rest waits, and reports whether ctx let it.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// A feed turns events into notifications, in order.
type feed struct {
	engine  *engine.Engine
	after   store.Point                 // the last event that was turned
	round   int64                       // the last notice that was announced again in this round
	rewound bool                        // another log took the place of that of after
	seen    map[string]core.Instruction // some instructions of late, as they were then
	send    func(method string, params any)

	posting *posting
}

// catchUp sends what happened since the last time. What the store cannot give now is sent after the
// next wake.
func (f *feed) catchUp(ctx context.Context) error {
	for {
		var events []store.Event
		err := f.engine.View(ctx, func(tx store.Tx) error {
			goesOn, err := f.after.Continues(tx)
			if err == nil && !goesOn {
				err = f.rewind(tx)
			}
			if err != nil {
				return err
			}
			if events, err = tx.Events(f.after.Seq, store.DefaultLimit, nil); err != nil {
				return err
			}
			events = answered(events, f.engine.Unanswered())
			return f.turn(tx, events)
		})
		if _, unread := errors.AsType[*store.Error](err); unread || ctx.Err() != nil {
			return nil
		}
		if err != nil || len(events) < store.DefaultLimit {
			return err
		}
	}
}

// rewind goes to the end of a log that took the place of the one before, and says so: what it holds was not told of, and
// what was told of it may not hold.
func (f *feed) rewind(tx store.Tx) error {
	end, err := tx.Tip()
	if err != nil {
		return err
	}
	f.after, f.rewound = end, true
	f.round, f.seen = 0, nil
	f.posting.clear()
	f.send("log", &schema.LogNote{
		Level: "warning", Rewound: true, Cursor: cursorOf(end),
		Message: "another event log took the place of the one before, as a restore does it; read the lists anew and go on from cursor",
	})
	return nil
}

// answered gives the events before one, so that an answer precedes what is announced because of it. If there is
// none to stop at, it gives all.
func answered(events []store.Event, unanswered int64) []store.Event {
	if unanswered == 0 {
		return events
	}
	i := slices.IndexFunc(events, func(ev store.Event) bool { return ev.Seq >= unanswered })
	if i < 0 {
		return events
	}
	return events[:i]
}

// turn sends the notifications for a page of events.
func (f *feed) turn(tx store.Tx, events []store.Event) error {
	f.meet(tx, events)
	for _, ev := range events {
		if err := f.one(tx, ev); err != nil {
			return err
		}
		f.after = store.Point{Seq: ev.Seq, Hash: ev.Hash}
	}
	return nil
}

// one sends the notification for one event. A thing that is gone by now has nothing to be told of.
func (f *feed) one(tx store.Tx, ev store.Event) error {
	switch ev.Type {
	case core.InstructionQueued, core.InstructionUndelivered:
		return f.instruction(tx, ev, "instruction/available")
	case core.InstructionSent, core.InstructionAcknowledged, core.InstructionFailed,
		core.InstructionCancelled, core.InstructionLateAck:
		return f.instruction(tx, ev, "instruction/updated")
	case core.TaskCreated, core.TaskReleased, core.TaskCancelRequested, core.TaskSettled, core.TaskReplied, core.TaskRetried,
		core.AttemptStarted, core.AttemptReturned, core.AttemptBound, core.AttemptProgress, core.AttemptReported, core.AttemptFinished, core.AttemptScheduled:
		return f.task(tx, ev)
	case core.AttemptStale:
		return f.stale(ev)
	case core.RunStarted, core.RunSuperseded, core.RunOutcome, core.RunReplanned:
		return f.run(ev)
	case core.LedgerChanged:
		return f.ledger(ev)
	case core.NoticePosted:
		n, ok, err := tx.Notice(ev.Subject)
		if ok && err == nil {
			f.notice(ev.Seq, n)
		}
		return err
	case core.RunLedger, core.NoticeConsumed,
		core.BreakerOpened, core.BreakerClosed:
	}
	return nil
}

// noteBytes is the largest content that a notification carries.
const noteBytes = 4 << 10

// maxSeen bounds how many instructions are remembered. Most are told of again soon: they are
// acknowledged.
const maxSeen = 1024

// meet reads the instructions that a page tells of as queued, all at once: their positions are the
// numbers of these events. What it cannot read is read, or missed, one by one.
func (f *feed) meet(tx store.Tx, events []store.Event) {
	queued := 0
	for _, ev := range events {
		if ev.Type == core.InstructionQueued {
			queued++
		}
	}
	if queued < 2 {
		return
	}
	page, err := tx.Instructions(store.InstructionQuery{After: events[0].Seq - 1, Limit: queued})
	if err != nil {
		return
	}
	for _, in := range page {
		f.remember(in)
	}
}

// remember keeps an instruction that is short enough to be told of in full.
func (f *feed) remember(in core.Instruction) {
	if f.seen == nil || len(f.seen) >= maxSeen {
		f.seen = map[string]core.Instruction{}
	}
	if len(in.Content) <= noteBytes {
		f.seen[in.ID] = in
	}
}

// fixed gives an instruction, of which only those fields are to be believed that never change: the
// event says the rest.
func (f *feed) fixed(tx store.Tx, id string) (in core.Instruction, ok bool, err error) {
	if in, ok = f.seen[id]; ok {
		return in, true, nil
	}
	in, ok, err = tx.Instruction(id)
	if ok && err == nil {
		f.remember(in)
	}
	return in, ok, err
}

func (f *feed) instruction(tx store.Tx, ev store.Event, name string) error {
	in, ok, err := f.fixed(tx, ev.Subject)
	if err != nil || !ok {
		return err
	}
	var moved struct {
		State  string `json:"state"`
		Sends  int    `json:"sends"`
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal([]byte(ev.Data), &moved); err != nil {
		return err
	}
	note := schema.InstructionNote{
		Seq: ev.Seq, SubjectID: in.ID, State: moved.State, InstructionID: in.ID, SessionID: in.Session,
		Tracked: in.Tracked, Priority: in.Priority, Sends: moved.Sends, SendsMax: in.SendsMax(),
		ContentBytes: len(in.Content), Reason: moved.Reason,
	}
	if len(in.Content) <= noteBytes {
		note.Content = in.Content
	}
	f.send(name, &note)
	return nil
}

func (f *feed) run(ev store.Event) error {
	var said engine.RunRecord
	if err := json.Unmarshal([]byte(ev.Data), &said); err != nil {
		return err
	}
	note := schema.RunNote{
		Seq: ev.Seq, SubjectID: ev.Subject, Event: string(ev.Type), RunID: ev.Subject, Plan: said.Plan, ItemID: said.ItemID,
		State: string(said.State), Reason: string(said.Halt), Revision: said.Revision,
		Role: said.Role, Verdict: string(said.Verdict), NextAction: string(said.NextAction),
	}
	if said.Rule != "" {
		note.Decision = &schema.Decision{Rule: string(said.Rule), Count: said.Count, Limit: said.Limit}
	}
	f.send("run/updated", &note)
	return nil
}

func (f *feed) ledger(ev store.Event) error {
	var data engine.LedgerEvent
	if err := json.Unmarshal([]byte(ev.Data), &data); err != nil {
		return err
	}
	f.send("ledger/changed", &schema.LedgerNote{
		Seq: ev.Seq, Plan: ev.Subject, ChangedIDs: data.Changed, Unseen: data.Unseen, Gone: data.Gone,
		Stale: data.Stale, StaleReason: data.StaleReason,
		Fingerprint: schema.Fingerprint{MtimeMS: data.MtimeMs, Size: data.Size, Hash: data.Hash},
	})
	return nil
}

// redeliver announces the next few of the notices that are open, and gives the time until it wants to
// go on: a host that reads gets them all, and nobody gets them all at once. What cannot be read now is
// announced in the next round.
func (f *feed) redeliver(ctx context.Context) time.Duration {
	var open []store.Notice
	err := f.engine.View(ctx, func(tx store.Tx) (err error) {
		open, err = tx.Notices("", f.round, redeliverAtOnce)
		return err
	})
	for _, n := range open {
		f.round = n.Position
		if n.Position <= f.after.Seq { // else it is announced as news
			f.notice(n.Position, n)
		}
	}
	if err != nil || len(open) < redeliverAtOnce {
		f.round = 0
		return redeliverEvery
	}
	return redeliverPause
}
