package engine

import (
	"fmt"
	"strings"
	"unicode"

	"waybill/core"
	"waybill/store"
)

// instructionEvent is the data of the instruction events: what moved, and where it is now.
type instructionEvent struct {
	Session  string     `json:"session_id"`
	State    core.State `json:"state"`
	Sends    int        `json:"sends"`
	SendsMax int        `json:"sends_max"`
	Tracked  bool       `json:"tracked,omitempty"`
	By       string     `json:"by,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Bytes    int        `json:"content_bytes,omitempty"`
}

func describe(in core.Instruction, kind core.EventType) instructionEvent {
	ev := instructionEvent{
		Session: in.Session, State: in.State(), Sends: in.Sends(), SendsMax: in.SendsMax(), Tracked: in.Tracked,
	}
	if kind == core.InstructionQueued {
		ev.Bytes = len(in.Content)
	}
	switch p := in.Phase.(type) {
	case core.Acknowledged:
		ev.By = string(p.By)
	case core.Cancelled:
		ev.Reason = p.Reason
	case core.Queued, core.Sent, core.Failed:
	}
	return ev
}

// Queue accepts a new instruction and gives it its id, its position and its phase.
func (tx *Tx) Queue(in core.Instruction) (core.Instruction, error) {
	if err := tx.admit(); err != nil {
		return in, err
	}
	newest, err := tx.Seq()
	if err != nil {
		return in, err
	}
	in.ID = tx.engine.o.NewID("ins_")
	in.CreatedAt = tx.now
	in.Position = newest + 1 // the number of the event that records it
	in.Phase = core.Queued{}
	return in, tx.save(in, core.Enqueue())
}

// save puts an instruction and performs its effects.
func (tx *Tx) save(in core.Instruction, effects []core.Effect) error {
	if err := tx.PutInstruction(in); err != nil {
		return err
	}
	for _, effect := range effects {
		switch e := effect.(type) {
		case core.Deliver: // whoever stepped the instruction hands it out
		case core.Record:
			if e.Type == core.InstructionQueued || e.Type == core.InstructionUndelivered {
				tx.touched = append(tx.touched, in.Session)
			}
			if e.Type == core.InstructionAcknowledged {
				tx.account.acknowledged(tx.now - in.CreatedAt)
			}
			if err := tx.record(e.Type, in.ID, describe(in, e.Type)); err != nil {
				return err
			}
		case core.Post:
			if err := tx.post(failureNotice(in, e.Kind)); err != nil {
				return err
			}
		}
	}
	return nil
}

// step steps an instruction, saves what it became, and gives that.
func (tx *Tx) step(in core.Instruction, event core.Event) (next core.Instruction, moved bool, err error) {
	next, effects, err := in.Step(event)
	if err != nil || len(effects) == 0 {
		return next, false, err
	}
	return next, true, tx.save(next, effects)
}

// load gets an instruction that must be there.
func (tx *Tx) load(id string) (core.Instruction, error) {
	in, ok, err := tx.Instruction(id)
	if err == nil && !ok {
		err = core.Missing("instruction", id)
	}
	return in, err
}

// admit refuses when too many instructions are outstanding. The count is an estimate between two
// real counts: it grows with every instruction and is counted anew when it reaches the bound.
func (tx *Tx) admit() error {
	e := tx.engine
	if e.o.MaxPending == 0 {
		return nil
	}
	e.mu.Lock()
	estimate := e.pending
	e.mu.Unlock()
	pending := estimate
	if pending < 0 || pending >= e.o.MaxPending {
		var err error
		if pending, err = tx.outstanding(); err != nil {
			return err
		}
	}
	if pending >= e.o.MaxPending {
		return &core.Refusal{
			Kind: core.QueueFull, Noun: "instruction",
			Message: fmt.Sprintf("%d instructions are outstanding already, and no more than %d may be; "+
				"dispatch, acknowledge or cancel some first", pending, e.o.MaxPending),
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pending == estimate { // else another process has just made it unknown
		e.pending = pending + 1
	}
	return nil
}

func (tx *Tx) outstanding() (int, error) {
	queued, err := tx.CountInstructions(store.InstructionQuery{State: core.StateQueued})
	if err != nil {
		return 0, err
	}
	sent, err := tx.CountInstructions(store.InstructionQuery{State: core.StateSent, Tracked: true})
	return queued + sent, err
}

// Acknowledge confirms an instruction. already reports whether that was known before, and before
// whether nothing had been sent yet.
func (tx *Tx) Acknowledge(id string) (in core.Instruction, already, before bool, err error) {
	in, err = tx.load(id)
	if err != nil {
		return in, false, false, err
	}
	before = in.State() == core.StateQueued
	next, moved, err := tx.step(in, core.Acknowledge{At: tx.now, By: core.ByCall})
	return next, !moved && err == nil, before, err
}

// Report acknowledges every outstanding instruction of the session, or of all sessions if it is
// empty, whose rule matches the event. It gives their ids in the order in which they were queued.
func (tx *Tx) Report(session, eventType, data string) ([]string, error) {
	ids := []string{}
	var after int64
	for {
		page, err := tx.Instructions(store.InstructionQuery{Session: session, AckEvent: eventType, After: after})
		if err != nil || len(page) == 0 {
			return ids, err
		}
		for _, in := range page {
			after = in.Position
			if !in.AckOn.Matches(eventType, data) {
				continue
			}
			if _, _, err := tx.step(in, core.Acknowledge{At: tx.now, By: core.ByEvent}); err != nil {
				return nil, err
			}
			ids = append(ids, in.ID)
		}
	}
}

// Cancel withdraws one instruction.
func (tx *Tx) Cancel(id, reason string) (core.Instruction, bool, error) {
	in, err := tx.load(id)
	if err != nil {
		return in, false, err
	}
	return tx.step(in, core.Cancel{At: tx.now, Reason: reason})
}

// CancelSession withdraws everything outstanding of a session and counts it.
func (tx *Tx) CancelSession(session, reason string) (int, error) {
	cancelled := 0
	for _, state := range []core.State{core.StateQueued, core.StateSent} {
		q := store.InstructionQuery{Session: session, State: state, Tracked: state == core.StateSent}
		for {
			page, err := tx.Instructions(q)
			if err != nil {
				return 0, err
			}
			if len(page) == 0 {
				break
			}
			for _, in := range page {
				q.After = in.Position
				if _, _, err := tx.step(in, core.Cancel{At: tx.now, Reason: reason}); err != nil {
					return 0, err
				}
				cancelled++
			}
		}
	}
	return cancelled, nil
}

// failureNotice says that an instruction was never acknowledged.
func failureNotice(in core.Instruction, kind core.NoticeKind) store.Notice {
	times := "once"
	if in.Sends() != 1 {
		times = fmt.Sprintf("%d times", in.Sends())
	}
	return store.Notice{
		Kind: kind, Session: in.Session, Subject: in.ID,
		Text: fmt.Sprintf("an instruction for session %s was sent %s and never acknowledged: %s",
			in.Session, times, excerpt(in.Content)),
		Data: fmt.Sprintf(`{"sends":%d,"sends_max":%d}`, in.Sends(), in.SendsMax()),
	}
}

// excerptRunes bounds what a notice quotes.
const excerptRunes = 120

// excerpt quotes the beginning of a text on one line, so that the text cannot pass for a part of the
// sentence around it.
func excerpt(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n == excerptRunes {
			b.WriteRune('…')
			break
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			r = ' '
		}
		if r == '"' {
			r = '\''
		}
		b.WriteRune(r)
		n++
	}
	return `"` + b.String() + `"`
}
