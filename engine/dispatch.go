package engine

import (
	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
)

// A Pass limits one dispatch.
type Pass struct {
	Session  string
	Limit    int   // the most instructions; at least 1
	MaxBytes int   // the most content in bytes; a larger instruction is sent alone
	MinAge   int64 // microseconds that must pass after a send before it is repeated or fails
}

// A Delivery is one instruction that a pass sends.
type Delivery struct {
	Instruction instruction.Instruction
	Send        int
	previous    core.Instant // when it was sent before
}

// A Dispatched is the result of a pass.
type Dispatched struct {
	Deliveries []Delivery
	Failed     []instruction.Instruction
	Remaining  int          // how many more could be sent now
	Due        core.Instant // when an instruction becomes due without further events, or zero
}

// Empty reports whether the pass changed nothing.
func (d Dispatched) Empty() bool { return len(d.Deliveries) == 0 && len(d.Failed) == 0 }

// Dispatch carries out one pass. Queued instructions come first, then the oldest unacknowledged ones again. The
// repeats are selected before anything is sent, so that no instruction is sent twice in a pass. Instructions without
// sends left fail.
//
// A pass that is too large for one answer continues in the next call, as Remaining says. Until the pass is complete,
// nothing is sent a second time.
func (tx *Tx) Dispatch(p Pass) (Dispatched, error) {
	var d Dispatched
	began := tx.engine.passBegan(p.Session, tx.now)
	failed, err := tx.exhaust(p, began)
	if err != nil {
		return d, err
	}
	d.Failed = failed
	queued := store.InstructionQuery{Session: p.Session, State: instruction.StateQueued, Order: store.ByUrgency}
	repeats := tx.repeats(p, began)
	found, err := tx.upTo(p.Limit, queued, repeats)
	if err != nil {
		return d, err
	}
	chosen := fit(found, p.MaxBytes)
	if len(chosen) < len(found) || len(found) == p.Limit {
		if d.Remaining, err = tx.remaining(queued, repeats, len(chosen)); err != nil {
			return d, err
		}
	}
	if d.Deliveries, err = tx.send(chosen, p); err != nil {
		return d, err
	}
	tx.engine.passLeft(p.Session, min(began, tx.now-1), d.Remaining)
	if d.Empty() && p.MinAge > 0 {
		d.Due, err = tx.nextDue(p)
	}
	return d, err
}

// upTo returns at most limit instructions, those of the first query before those of the second.
func (tx *Tx) upTo(limit int, first, second store.InstructionQuery) ([]instruction.Instruction, error) {
	first.Limit = limit
	found, err := tx.Instructions(first)
	if err != nil || len(found) >= limit {
		return found, err
	}
	second.Limit = limit - len(found)
	more, err := tx.Instructions(second)
	return append(found, more...), err
}

// repeats selects the unacknowledged instructions that were sent before the pass began and may be sent again now.
func (tx *Tx) repeats(p Pass, began core.Instant) store.InstructionQuery {
	return store.InstructionQuery{
		Session: p.Session, State: instruction.StateSent, Exhausted: new(bool),
		SentBefore: min(tx.now-core.Instant(p.MinAge), began), Now: tx.now, Order: store.ByLastSend,
	}
}

// passBegan returns the latest time whose sends may be repeated: now, or the start of a pass that is still
// incomplete.
func (e *Engine) passBegan(session string, now core.Instant) core.Instant {
	e.mu.Lock()
	defer e.mu.Unlock()
	if began, going := e.passes[session]; going {
		return began
	}
	return now
}

// passLeft stores the start of a pass that is incomplete. It is kept in memory only: after a crash, the rest of the
// pass may repeat an instruction early.
func (e *Engine) passLeft(session string, before core.Instant, remaining int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.passes, session)
	if remaining > 0 {
		e.passes[session] = before
	}
}

// exhaust fails the instructions that have no sends left, at most as many as fit into one answer.
func (tx *Tx) exhaust(p Pass, began core.Instant) ([]instruction.Instruction, error) {
	q := tx.repeats(p, began)
	*q.Exhausted = true
	used, err := tx.Instructions(q)
	if err != nil {
		return nil, err
	}
	used = fit(used, p.MaxBytes)
	failed := make([]instruction.Instruction, 0, len(used))
	for _, in := range used {
		next, moved, err := tx.step(in, instruction.Dispatch{At: tx.now, MinAge: p.MinAge})
		if err != nil {
			return nil, err
		}
		if moved {
			failed = append(failed, next)
		}
	}
	return failed, nil
}

// fit returns the first instructions with at most maxBytes of content together, and at least one.
func fit(list []instruction.Instruction, maxBytes int) []instruction.Instruction {
	bytes := 0
	for i, in := range list {
		bytes += len(in.Content)
		if i > 0 && bytes > maxBytes {
			return list[:i]
		}
	}
	return list
}

func (tx *Tx) remaining(queued, repeats store.InstructionQuery, chosen int) (int, error) {
	first, err := tx.CountInstructions(queued)
	if err != nil {
		return 0, err
	}
	again, err := tx.CountInstructions(repeats)
	return first + again - chosen, err
}

func (tx *Tx) send(chosen []instruction.Instruction, p Pass) ([]Delivery, error) {
	deliveries := make([]Delivery, 0, len(chosen))
	for _, in := range chosen {
		next, effects, err := in.Step(instruction.Dispatch{At: tx.now, MinAge: p.MinAge})
		if err != nil {
			return nil, err
		}
		for _, effect := range effects {
			if out, ok := effect.(instruction.Deliver); ok {
				deliveries = append(deliveries, Delivery{next, out.Send, in.LastSentAt()})
			}
		}
		if err := tx.save(next, effects); err != nil {
			return nil, err
		}
	}
	return deliveries, nil
}

// nextDue returns when the oldest sent instruction may be repeated.
func (tx *Tx) nextDue(p Pass) (core.Instant, error) {
	oldest, err := tx.Instructions(store.InstructionQuery{
		Session: p.Session, State: instruction.StateSent, Order: store.ByLastSend, Limit: 1,
	})
	if err != nil || len(oldest) == 0 {
		return 0, err
	}
	return oldest[0].LastSentAt() + core.Instant(p.MinAge), nil
}

// Undeliver takes back the sends of an answer that never reached the host. It skips instructions that were
// acknowledged, cancelled or sent again since.
func (tx *Tx) Undeliver(deliveries []Delivery) error {
	for _, d := range deliveries {
		in, ok, err := tx.Instruction(d.Instruction.ID)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if _, _, err := tx.step(in, instruction.Undeliver{Send: d.Send, At: d.Instruction.LastSentAt(), Previous: d.previous}); err != nil {
			return err
		}
	}
	return nil
}
