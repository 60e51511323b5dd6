package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

const (
	// redeliverEvery is the interval at which open notices are announced again.
	redeliverEvery = 5 * time.Minute
	// redeliverAtOnce bounds the notices announced in a row, and redeliverPause is the pause after them.
	redeliverAtOnce = 100
	redeliverPause  = 50 * time.Millisecond
	// batchPause is the pause after a sent page of events, so that rapid events are read in pages.
	batchPause = 5 * time.Millisecond
)

// Notify sends the notifications of the workspace until ctx ends. It sends one for each event after the store was
// opened, and one for each notice that was open before. Open notices are announced again every few minutes.
//
// If the event log was replaced, Notify says so and continues at the end of the new log with its open notices. send
// must not block.
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
	f := &feed{engine: e, after: e.Head(), send: send, pending: newNoticeBatches()}
	defer f.pending.timer.Stop()
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
		if f.after != before && !pause(ctx, batchPause) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		case <-f.pending.timer.C:
			f.flush(ctx)
		case <-again.C:
			again.Reset(f.redeliver(ctx))
		}
	}
}

// pause waits and reports whether ctx did not end.
func pause(ctx context.Context, d time.Duration) bool {
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
	after   store.Point                        // the last event sent
	round   int64                              // the last notice announced in this round
	rewound bool                               // the event log was replaced
	seen    map[string]instruction.Instruction // recent instructions; only their constant fields are valid
	send    func(method string, params any)

	pending *noticeBatches
}

// catchUp sends the notifications of new events. After a store error it tries again at the next wake.
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
			events = eventsBefore(events, f.engine.Unanswered())
			return f.sendPage(tx, events)
		})
		if _, unread := errors.AsType[*store.Error](err); unread || ctx.Err() != nil {
			return nil
		}
		if err != nil || len(events) < store.DefaultLimit {
			return err
		}
	}
}

// rewind moves to the end of a log that replaced the former one, and asks the host to read the lists again.
func (f *feed) rewind(tx store.EventLog) error {
	end, err := tx.Tip()
	if err != nil {
		return err
	}
	f.after, f.rewound = end, true
	f.round, f.seen = 0, nil
	f.pending.clear()
	f.send("log", &schema.LogNote{
		Level: "warning", Rewound: true, Cursor: cursorOf(end),
		Message: "the event log was replaced, for example by a restore; read the lists again and continue from cursor",
	})
	return nil
}

// eventsBefore returns the events before the first unanswered one, so that an answer precedes its notifications.
func eventsBefore(events []store.Event, unanswered int64) []store.Event {
	if unanswered == 0 {
		return events
	}
	i := slices.IndexFunc(events, func(ev store.Event) bool { return ev.Seq >= unanswered })
	if i < 0 {
		return events
	}
	return events[:i]
}

// sendPage sends the notifications for a page of events.
func (f *feed) sendPage(tx store.Tx, events []store.Event) error {
	f.prefetch(tx, events)
	for _, ev := range events {
		if err := f.sendEvent(tx, ev); err != nil {
			return err
		}
		f.after = store.Point{Seq: ev.Seq, Hash: ev.Hash}
	}
	return nil
}

// sendEvent sends the notification for one event. Events of missing subjects are skipped.
func (f *feed) sendEvent(tx store.Tx, ev store.Event) error {
	switch ev.Type {
	case core.InstructionQueued, core.InstructionDue, core.InstructionUndelivered:
		return f.instruction(tx, ev, "instruction/available")
	case core.InstructionSent, core.InstructionAcknowledged, core.InstructionFailed,
		core.InstructionCancelled, core.InstructionLateAck:
		return f.instruction(tx, ev, "instruction/updated")
	case core.TaskCreated, core.TaskReleased, core.TaskCancelRequested, core.TaskSettled, core.TaskReplied, core.TaskDefaulted, core.TaskRetried,
		core.AttemptStarted, core.AttemptReturned, core.AttemptBound, core.AttemptProgress, core.AttemptReported, core.AttemptFinished, core.AttemptScheduled:
		return f.task(tx, ev)
	case core.AttemptStale:
		return f.stale(ev)
	case core.RunStarted, core.RunSuperseded, core.RunOutcome, core.RunReplanned, core.RunUnblocked, core.ProofChanged:
		return f.run(ev)
	case core.LedgerChanged:
		return f.ledger(ev)
	case core.NoticePosted:
		n, ok, err := tx.Notice(ev.Subject)
		if ok && err == nil {
			f.notice(ev.Seq, n)
		}
		return err
	case core.RunLedger, core.ReceiptRecorded, core.ToolReported, core.NoticeConsumed,
		core.BreakerOpened, core.BreakerClosed:
	}
	return nil
}

// noteBytes is the largest content that a notification carries.
const noteBytes = 4 << 10

// maxSeen bounds the cached instructions. Most appear in another event soon.
const maxSeen = 1024

// prefetch reads the queued instructions of a page in one query, because their positions are the event numbers.
// Others are read one by one.
func (f *feed) prefetch(tx store.InstructionRecords, events []store.Event) {
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

// remember caches an instruction whose content fits into a notification.
func (f *feed) remember(in instruction.Instruction) {
	if f.seen == nil || len(f.seen) >= maxSeen {
		f.seen = map[string]instruction.Instruction{}
	}
	if len(in.Content) <= noteBytes {
		f.seen[in.ID] = in
	}
}

// cachedInstruction returns an instruction from the cache or the store. Only its constant fields are valid; the event
// has the others.
func (f *feed) cachedInstruction(tx store.InstructionRecords, id string) (in instruction.Instruction, ok bool, err error) {
	if in, ok = f.seen[id]; ok {
		return in, true, nil
	}
	in, ok, err = tx.Instruction(id)
	if ok && err == nil {
		f.remember(in)
	}
	return in, ok, err
}

func (f *feed) instruction(tx store.InstructionRecords, ev store.Event, name string) error {
	in, ok, err := f.cachedInstruction(tx, ev.Subject)
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
	if moved.State == string(instruction.StateArmed) {
		name = "instruction/updated" // it waits for its trigger, not for a dispatch
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
	var record engine.RunRecord
	if err := json.Unmarshal([]byte(ev.Data), &record); err != nil {
		return err
	}
	note := schema.RunNote{
		Seq: ev.Seq, SubjectID: ev.Subject, Event: string(ev.Type), RunID: ev.Subject, Plan: record.Plan, ItemID: record.ItemID,
		State: string(record.State), Reason: string(record.Halt), Revision: record.Revision,
		Role: record.Role, Verdict: string(record.Verdict), NextAction: string(record.NextAction),
	}
	if record.Rule != "" {
		note.Decision = &schema.Decision{Rule: string(record.Rule), Count: record.Count, Limit: record.Limit}
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

// redeliver announces the next open notices and returns the time until it must be called again. Many notices are
// spread over time, so that no host is flooded.
func (f *feed) redeliver(ctx context.Context) time.Duration {
	var open []store.Notice
	err := f.engine.View(ctx, func(tx store.Tx) (err error) {
		open, err = tx.Notices("", f.round, redeliverAtOnce)
		return err
	})
	for _, n := range open {
		f.round = n.Position
		if n.Position <= f.after.Seq { // a newer one is announced as an event
			f.notice(n.Position, n)
		}
	}
	if err != nil || len(open) < redeliverAtOnce {
		f.round = 0
		return redeliverEvery
	}
	return redeliverPause
}
