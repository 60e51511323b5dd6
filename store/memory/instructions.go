package memory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"waybill/core"
	"waybill/store"
)

func (t *tx) Instruction(id string) (in core.Instruction, ok bool, err error) {
	if err := t.getting(); err != nil {
		return in, false, err
	}
	in, ok = t.state.instruction(id)
	return in, ok, nil
}

func (t *tx) PutInstruction(in core.Instruction) error {
	if err := t.putting(); err != nil {
		return err
	}
	if err := t.permitted(in); err != nil {
		return fmt.Errorf("put instruction %s: %w", in.ID, err)
	}
	t.state.putInstruction(in)
	t.writes++
	return nil
}

// permitted reports which rule of PutInstruction the value breaks, or nil.
func (t *tx) permitted(in core.Instruction) error {
	if in.Position < 1 {
		return fmt.Errorf("position %d is below 1", in.Position)
	}
	if old, ok := t.state.instruction(in.ID); ok {
		old.Phase = in.Phase
		if old != in {
			return errors.New("only its phase can be replaced")
		}
		return nil
	}
	if other, ok := t.state.instructions.get(in.Position); ok {
		return fmt.Errorf("position %d is taken by %s", in.Position, other.ID)
	}
	return nil
}

func (t *tx) Instructions(q store.InstructionQuery) ([]core.Instruction, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	if q.After != 0 && q.Order != store.ByPosition {
		return nil, errors.New("instructions: After goes with the order ByPosition only")
	}
	limit := q.Limit
	if limit <= 0 {
		limit = store.DefaultLimit
	}
	var page []core.Instruction
	for _, in := range t.state.instructions.after(q.After) {
		if !selects(q, in) {
			continue
		}
		page = append(page, in)
		if q.Order == store.ByPosition && len(page) == limit {
			break
		}
	}
	slices.SortStableFunc(page, order(q.Order))
	return page[:min(limit, len(page))], nil
}

func (t *tx) CountInstructions(q store.InstructionQuery) (int, error) {
	if err := t.getting(); err != nil {
		return 0, err
	}
	n := 0
	for _, in := range t.state.instructions.all() {
		if selects(q, in) {
			n++
		}
	}
	return n, nil
}

func (t *tx) InstructionCounts() (map[core.State]int, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	counts := make(map[core.State]int)
	for i, state := range core.States() {
		counts[state] = t.state.counts[i]
	}
	return counts, nil
}

func selects(q store.InstructionQuery, in core.Instruction) bool {
	switch {
	case q.Session != "" && in.Session != q.Session,
		q.State != "" && in.State() != q.State,
		q.Tracked && !in.Tracked,
		q.AckEvent != "" && (in.AckOn.EventType != q.AckEvent || !in.Outstanding()),
		q.Exhausted != nil && *q.Exhausted != (in.Sends() >= in.SendsMax()):
		return false
	case q.SentBefore == 0:
		return true
	}
	sent := in.LastSentAt()
	return in.Sends() > 0 && (sent <= q.SentBefore || sent > q.Now)
}

// order compares by everything but the position, by which the instructions are sorted already.
func order(o store.Order) func(a, b core.Instruction) int {
	switch o {
	case store.ByPosition:
		return func(core.Instruction, core.Instruction) int { return 0 }
	case store.ByUrgency:
		return func(a, b core.Instruction) int { return rank(b.Priority) - rank(a.Priority) }
	case store.ByLastSend:
		return func(a, b core.Instruction) int {
			return cmp.Or(rank(a.Sends() > 0)-rank(b.Sends() > 0), cmp.Compare(a.LastSentAt(), b.LastSentAt()))
		}
	}
	panic(fmt.Sprintf("memory: unknown order %d", o))
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}
