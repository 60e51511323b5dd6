package engine

import (
	"waybill/core"
	"waybill/store"
)

// A Pass says what one dispatch pass is about.
type Pass struct {
	Session  string
	Limit    int   // at most so many instructions; at least 1
	MaxBytes int   // at most so much content; a larger one goes alone
	MinAge   int64 // microseconds since the last send before a repeat or a failure
}

// A Delivery is one instruction that a pass hands out.
type Delivery struct {
	Instruction core.Instruction
	Send        int
	previous    core.Instant // the send before it
}

// A Dispatched is what a pass came to.
type Dispatched struct {
	Deliveries []Delivery
	Failed     []core.Instruction
	Remaining  int          // how many more could be handed out now
	Due        core.Instant // when time alone makes something due, or zero
}

// Empty reports whether the pass moved nothing.
func (d Dispatched) Empty() bool { return len(d.Deliveries) == 0 && len(d.Failed) == 0 }

// Dispatch carries out one pass. First come the queued instructions, then once more those that were
// sent and not acknowledged, longest unsent first. What was sent first in this pass is not repeated
// in it, because the repeats are looked up before anything is sent. Instructions whose sends are
// used up fail.
//
// A pass that is too large for one answer goes on in the next call: Remaining says so, and until it
// is through, nothing that it has sent is sent again.
func (tx *Tx) Dispatch(p Pass) (Dispatched, error) {
	var d Dispatched
	began := tx.engine.passBegan(p.Session, tx.now)
	failed, err := tx.exhaust(p, began)
	if err != nil {
		return d, err
	}
	d.Failed = failed
	queued := store.InstructionQuery{Session: p.Session, State: core.StateQueued, Order: store.ByUrgency}
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

// upTo gives at most limit instructions, those of the first query before those of the second.
func (tx *Tx) upTo(limit int, first, second store.InstructionQuery) ([]core.Instruction, error) {
	first.Limit = limit
	found, err := tx.Instructions(first)
	if err != nil || len(found) >= limit {
		return found, err
	}
	second.Limit = limit - len(found)
	more, err := tx.Instructions(second)
	return append(found, more...), err
}

// repeats selects what was sent before the pass began, waits for its acknowledgement, and may be sent
// once more now.
func (tx *Tx) repeats(p Pass, began core.Instant) store.InstructionQuery {
	left := false
	return store.InstructionQuery{
		Session: p.Session, State: core.StateSent, Tracked: true, Exhausted: &left,
		SentBefore: min(tx.now-core.Instant(p.MinAge), began), Now: tx.now, Order: store.ByLastSend,
	}
}

// passBegan gives the last moment whose sends may be repeated: now, unless an earlier call has left a
// part of its pass.
func (e *Engine) passBegan(session string, now core.Instant) core.Instant {
	e.mu.Lock()
	defer e.mu.Unlock()
	if began, going := e.passes[session]; going {
		return began
	}
	return now
}

// passLeft notes whether a part of the pass, which began after that moment, is left for the next call.
// That is kept in memory only:
// at worst a pass that a crash cut in two repeats something early.
func (e *Engine) passLeft(session string, before core.Instant, remaining int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.passes, session)
	if remaining > 0 {
		e.passes[session] = before
	}
}

// exhaust fails what has used up its sends. What is too much for one answer fails in a later pass.
func (tx *Tx) exhaust(p Pass, began core.Instant) ([]core.Instruction, error) {
	q := tx.repeats(p, began)
	*q.Exhausted = true
	used, err := tx.Instructions(q)
	if err != nil {
		return nil, err
	}
	used = fit(used, p.MaxBytes)
	failed := make([]core.Instruction, 0, len(used))
	for _, in := range used {
		next, moved, err := tx.step(in, core.Dispatch{At: tx.now, MinAge: p.MinAge})
		if err != nil {
			return nil, err
		}
		if moved {
			failed = append(failed, next)
		}
	}
	return failed, nil
}

// fit gives the beginning of the list that has at most maxBytes of content. One larger content goes
// alone.
func fit(list []core.Instruction, maxBytes int) []core.Instruction {
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

func (tx *Tx) send(chosen []core.Instruction, p Pass) ([]Delivery, error) {
	deliveries := make([]Delivery, 0, len(chosen))
	for _, in := range chosen {
		next, effects, err := in.Step(core.Dispatch{At: tx.now, MinAge: p.MinAge})
		if err != nil {
			return nil, err
		}
		for _, effect := range effects {
			if out, ok := effect.(core.Deliver); ok {
				deliveries = append(deliveries, Delivery{next, out.Send, in.LastSentAt()})
			}
		}
		if err := tx.save(next, effects); err != nil {
			return nil, err
		}
	}
	return deliveries, nil
}

// nextDue gives the moment at which the longest unsent instruction is old enough.
func (tx *Tx) nextDue(p Pass) (core.Instant, error) {
	oldest, err := tx.Instructions(store.InstructionQuery{
		Session: p.Session, State: core.StateSent, Tracked: true, Order: store.ByLastSend, Limit: 1,
	})
	if err != nil || len(oldest) == 0 {
		return 0, err
	}
	return oldest[0].LastSentAt() + core.Instant(p.MinAge), nil
}

// Undeliver takes back what a pass handed out but never reached the host, so that it uses up no
// send. What was acknowledged, cancelled or sent again in the meantime stays as it is.
func (tx *Tx) Undeliver(deliveries []Delivery) error {
	for _, d := range deliveries {
		in, ok, err := tx.Instruction(d.Instruction.ID)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if _, _, err := tx.step(in, core.Undeliver{Send: d.Send, Previous: d.previous}); err != nil {
			return err
		}
	}
	return nil
}
