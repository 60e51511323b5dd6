package engine

import (
	"errors"
	"fmt"

	"waybill/core"
	"waybill/core/audit"
	"waybill/core/instruction"
	"waybill/core/task"
	"waybill/internal/safetext"
	"waybill/store"
)

// instructionEvent is the data of the instruction events.
type instructionEvent struct {
	Session  string            `json:"session_id"`
	State    instruction.State `json:"state"`
	Sends    int               `json:"sends"`
	SendsMax int               `json:"sends_max"`
	Tracked  bool              `json:"tracked,omitempty"`
	By       string            `json:"by,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Bytes    int               `json:"content_bytes,omitempty"`
}

func describe(in instruction.Instruction, kind core.EventType) instructionEvent {
	ev := instructionEvent{
		Session: in.Session, State: in.State(), Sends: in.Sends(), SendsMax: in.SendsMax(), Tracked: in.Tracked,
	}
	if kind == core.InstructionQueued {
		ev.Bytes = len(in.Content)
	}
	if kind == core.InstructionFailed {
		ev.Sends = in.SendsMax() // a standing instruction is armed or due again by now, and forgot them
	}
	switch p := in.Phase.(type) {
	case instruction.Acknowledged:
		ev.By = string(p.By)
	case instruction.Cancelled:
		ev.Reason = p.Reason
	case instruction.Armed, instruction.Queued, instruction.Sent, instruction.Failed:
	}
	return ev
}

// Queue stores a new instruction and sets its id, position and phase.
func (tx *Tx) Queue(in instruction.Instruction) (instruction.Instruction, error) {
	if err := tx.admitInstruction(); err != nil {
		return in, err
	}
	newest, err := tx.Seq()
	if err != nil {
		return in, err
	}
	in.ID = tx.engine.o.NewID("ins_")
	in.CreatedAt = tx.now
	in.Position = newest + 1 // the number of the event that records it
	in.Phase = instruction.Queued{}
	if in.Standing() {
		in.Phase = instruction.Armed{}
	}
	return in, tx.save(in, []core.Effect{core.Record{Type: core.InstructionQueued}})
}

// save stores an instruction and performs its effects.
func (tx *Tx) save(in instruction.Instruction, effects []core.Effect) error {
	if err := tx.PutInstruction(in); err != nil {
		return err
	}
	for _, effect := range effects {
		switch e := effect.(type) {
		case instruction.Deliver: // the caller sends the instruction
		case core.Record:
			if e.Type == core.InstructionAcknowledged {
				tx.stats.acknowledged(in, tx.now)
			}
			if e.Type == core.InstructionSent {
				tx.stats.sent(in.Sends(), 1)
			}
			if e.Type == core.InstructionUndelivered {
				tx.stats.sent(in.Sends()+1, -1)
			}
			if e.Type == core.InstructionFailed {
				tx.stats.failed = append(tx.stats.failed, in)
			}
			if in.State() == instruction.StateQueued || e.Type == core.InstructionUndelivered {
				tx.touched = append(tx.touched, in.Session)
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

// step steps an instruction, saves the result and returns it.
func (tx *Tx) step(in instruction.Instruction, event instruction.Event) (next instruction.Instruction, moved bool, err error) {
	next, effects, err := in.Step(event)
	if err != nil || len(effects) == 0 {
		return next, false, err
	}
	return next, true, tx.save(next, effects)
}

// admitInstruction refuses a new instruction if too many are outstanding. It uses an estimate, which every new
// instruction increases, and counts again when the estimate reaches the bound.
func (tx *Tx) admitInstruction() error {
	e := tx.engine
	if e.o.MaxPending == 0 {
		return nil
	}
	e.mu.Lock()
	estimate := e.pending
	e.mu.Unlock()
	pending := estimate
	if pending < 0 || pending >= e.o.MaxPending {
		counts, err := tx.InstructionCounts()
		if err != nil {
			return err
		}
		pending = counts[instruction.StateArmed] + counts[instruction.StateQueued] + counts[instruction.StateSent]
	}
	if pending >= e.o.MaxPending {
		return &core.Refusal{
			Kind: core.QueueFull, Noun: "instruction",
			Message: fmt.Sprintf("%d instructions are outstanding, and the limit is %d; "+
				"dispatch, acknowledge or cancel some first", pending, e.o.MaxPending),
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pending == estimate { // otherwise another process committed meanwhile
		e.pending = pending + 1
	}
	return nil
}

// Acknowledge confirms an instruction. already reports whether it was acknowledged before, and before whether it had
// not been sent yet. A standing instruction that waits for its trigger stays armed, and both are false: nothing of it is confirmed.
func (tx *Tx) Acknowledge(id string) (in instruction.Instruction, already, before bool, err error) {
	in, err = found("instruction", id, tx.Instruction)
	if err != nil {
		return in, false, false, err
	}
	before = in.State() == instruction.StateQueued
	next, moved, err := tx.step(in, instruction.Acknowledge{At: tx.now, By: instruction.ByCall})
	return next, !moved && err == nil && next.State() != instruction.StateArmed, before, err
}

// An Acknowledged is an instruction that an event acknowledged, and what the operators of its rule matched.
type Acknowledged struct {
	ID      string
	Matches []instruction.OperatorMatch
}

// Report acknowledges every outstanding instruction whose rule matches the event, then fires the standing instructions that
// it does not acknowledge. due are the ids of those that wait for a dispatch because of it. An empty session means all
// sessions. The results are in the order of queueing. It records a tool call of an attempt, and posts a notice unless that is "".
func (tx *Tx) Report(session, eventType, data, notice string) (acknowledged []Acknowledged, due []string, err error) {
	if notice != "" {
		err = tx.post(store.Notice{Kind: core.NoticeHostReported, Session: session, Subject: session, Text: notice, Data: data})
	}
	if err = errors.Join(err, recordTool(tx, session, eventType, data)); err != nil {
		return nil, nil, err
	}
	err = tx.each(store.InstructionQuery{Session: session, AckEvent: eventType}, func(in instruction.Instruction) error {
		matches, ok := in.AckOn.Matches(eventType, data)
		if !ok {
			return nil
		}
		acknowledged = append(acknowledged, Acknowledged{in.ID, matches})
		_, _, err := tx.step(in, instruction.Acknowledge{At: tx.now, By: instruction.ByEvent})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return acknowledged, due, tx.each(store.InstructionQuery{Session: session, Trigger: eventType}, func(in instruction.Instruction) error {
		if !in.FiredBy(eventType, data) {
			return nil
		}
		next, _, err := tx.step(in, instruction.Fire{At: tx.now, MinAge: instruction.TimeToAnswer})
		if next.State() == instruction.StateQueued {
			due = append(due, in.ID)
		}
		return err
	})
}

// A ToolRecord is the data of tool.reported.
type ToolRecord struct {
	AttemptID string `json:"attempt_id"`
	Session   string `json:"session_id"`
	RunID     string `json:"run_id,omitempty"`
	Type      string `json:"type"` // of the reported event
	audit.Tool
}

// recordTool records a tool call in the session of an attempt, so that an audit can compare it with the result. A damaged
// attempt has no tool calls.
func recordTool(tx *Tx, session, eventType, data string) error {
	tool, is := audit.ToolIn(eventType, data)
	if session == "" || !is {
		return nil
	}
	a, known, err := tx.AttemptOf(session)
	var t task.Task
	if known && err == nil {
		t, _, err = tx.Task(a.TaskID)
	}
	if damaged(err) {
		return nil
	}
	if err != nil || !known {
		return err
	}
	return tx.record(core.ToolReported, a.TaskID, ToolRecord{a.ID, session, t.Spec.RunID, eventType, tool})
}

// each calls do for the instructions of a query in the order of queueing. do may change the instruction.
func (tx *Tx) each(q store.InstructionQuery, do func(instruction.Instruction) error) error {
	for {
		page, err := tx.Instructions(q)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, in := range page {
			q.After = in.Position
			if err := do(in); err != nil {
				return err
			}
		}
	}
}

// Cancel cancels one instruction.
func (tx *Tx) Cancel(id, reason string) (instruction.Instruction, bool, error) {
	in, err := found("instruction", id, tx.Instruction)
	if err != nil {
		return in, false, err
	}
	return tx.step(in, instruction.Cancel{At: tx.now, Reason: reason})
}

// CancelSession cancels the armed and the outstanding instructions of a session and returns their number.
func (tx *Tx) CancelSession(session, reason string) (int, error) {
	cancelled := 0
	for _, state := range []instruction.State{instruction.StateArmed, instruction.StateQueued, instruction.StateSent} {
		err := tx.each(store.InstructionQuery{Session: session, State: state}, func(in instruction.Instruction) error {
			cancelled++
			_, _, err := tx.step(in, instruction.Cancel{At: tx.now, Reason: reason})
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return cancelled, nil
}

// failureNotice returns the notice that an instruction was never acknowledged.
func failureNotice(in instruction.Instruction, kind core.NoticeKind) store.Notice {
	times := "once"
	if in.SendsMax() != 1 {
		times = fmt.Sprintf("%d times", in.SendsMax())
	}
	return store.Notice{
		Kind: kind, Session: in.Session, Subject: in.ID,
		Text: fmt.Sprintf("an instruction for session %s was sent %s and never acknowledged: %s",
			in.Session, times, safetext.Quote(in.Content, excerptRunes)),
		Data: fmt.Sprintf(`{"sends":%d,"sends_max":%d}`, in.SendsMax(), in.SendsMax()),
	}
}

// warnOfFailures logs each instruction that failed, because a host may never read the notice.
func (e *Engine) warnOfFailures(failed []instruction.Instruction) {
	for _, in := range failed {
		e.o.Logger.Warn("an instruction failed: it has no sends left and was not acknowledged; "+
			"run `waybill explain "+in.ID+"`, and queue it again if it is still wanted",
			"instruction", in.ID, "session", in.Session, "sends", in.SendsMax())
	}
}

// excerptRunes bounds the text that a notice quotes.
const excerptRunes = 120
