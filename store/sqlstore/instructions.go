package sqlstore

import (
	"waybill/core/instruction"
	"waybill/store"
)

func (t instructionRecords) Instruction(id string) (in instruction.Instruction, ok bool, err error) {
	err = t.get(func() error {
		in, ok, err = t.instruction(id)
		return err
	})
	return in, ok, err
}

func (t instructionRecords) instruction(id string) (in instruction.Instruction, ok bool, err error) {
	if in, ok = t.met(id); ok {
		return in, true, nil
	}
	if in, ok, err = one(t.c, &instructionRows, " AND id = ?", id); ok {
		t.remember(in)
	}
	return in, ok, err
}

// met returns the stored instruction if the transaction knows it without a query.
func (t instructionRecords) met(id string) (in instruction.Instruction, ok bool) {
	if in, ok = t.known[id]; !ok && t.writable {
		in, ok = t.recent.instructions[id]
	}
	return in, ok
}

// remember notes what is stored, for a putting verb to come.
func (t instructionRecords) remember(in instruction.Instruction) {
	if t.writable {
		t.known[in.ID] = in
	}
}

func (t instructionRecords) PutInstruction(in instruction.Instruction) error {
	return t.put(func() error { return t.putInstruction(in) })
}

// putInstruction tries to insert an instruction that the transaction has not read. The most frequent case, a new
// instruction, then costs one statement.
func (t instructionRecords) putInstruction(in instruction.Instruction) error {
	if in.Position < 1 {
		return refuse("put instruction %s: position %d is below 1", in.ID, in.Position)
	}
	old, ok := t.met(in.ID)
	if !ok {
		err := t.create(in)
		if !t.c.Refused(err) {
			return err
		}
		if old, ok, err = t.instruction(in.ID); err != nil {
			return err
		}
		if !ok {
			return refuse("put instruction %s: position %d is taken or below 1, or a law of core is broken: %v",
				in.ID, in.Position, err)
		}
	}
	fixed := old
	fixed.Phase = in.Phase
	if fixed != in {
		return refuse("put instruction %s: only its phase can be replaced", in.ID)
	}
	return t.replacePhase(old, in)
}

func (t instructionRecords) create(in instruction.Instruction) error {
	h, err := t.ChangeHead()
	if err != nil {
		return err
	}
	text, args := instructionRows.insert(in)
	if err := t.run(text, args); err != nil {
		return err
	}
	h.counts[stateIndex(in.Phase.State())]++
	t.known[in.ID] = in
	t.writes++
	return nil
}

func (t instructionRecords) replacePhase(old, in instruction.Instruction) error {
	h, err := t.ChangeHead()
	if err != nil {
		return err
	}
	text, args := instructionRows.update(old, in)
	if err := t.run(text, args); err != nil {
		return err
	}
	h.counts[stateIndex(old.Phase.State())]--
	h.counts[stateIndex(in.Phase.State())]++
	t.known[in.ID] = in
	t.writes++
	return nil
}

func (t instructionRecords) Instructions(q store.InstructionQuery) (page []instruction.Instruction, err error) {
	err = t.get(func() error {
		if q.After != 0 && q.Order != store.ByPosition {
			return refuse("instructions: After goes with the order ByPosition only")
		}
		where, args := conditions(q)
		limit := q.Limit
		if limit <= 0 {
			limit = store.DefaultLimit
		}
		page, err = every(t.c, &instructionRows, where+order(q.Order)+limited, append(args, int64(limit))...)
		for _, in := range page {
			t.remember(in)
		}
		return err
	})
	return page, err
}

func (t instructionRecords) CountInstructions(q store.InstructionQuery) (n int, err error) {
	err = t.get(func() error {
		q.After = 0
		where, args := conditions(q)
		count, err := Number(t.c, countInstructions+where, args...)
		n = int(count)
		return err
	})
	return n, err
}

func (t instructionRecords) InstructionCounts() (counts map[instruction.State]int, err error) {
	err = t.get(func() error {
		h, err := t.theHead()
		if err != nil {
			return err
		}
		counts = make(map[instruction.State]int)
		for i, state := range phases {
			counts[state] = int(h.counts[i])
		}
		where, args := conditions(store.InstructionQuery{State: instruction.StateSent})
		waiting, err := Number(t.c, countInstructions+where, args...)
		counts[instruction.StateDelivered] = counts[instruction.StateSent] - int(waiting)
		counts[instruction.StateSent] = int(waiting)
		return err
	})
	return counts, err
}

const countInstructions = "SELECT count(*) FROM instructions WHERE instructions.workspace = :w"

// conditions returns the conditions of a query and its arguments. The statement contains the words of a state or a kind
// literally, because the planner uses a partial index only if the text itself matches it.
func conditions(q store.InstructionQuery) (where string, args []any) {
	add := func(term string, values ...any) {
		where += " AND " + term
		args = append(args, values...)
	}
	if q.Session != "" {
		add("session = ?", q.Session)
	}
	if q.State != "" {
		add(stateTerm(q.State))
	}
	if q.SentBefore != 0 {
		add("sends > 0 AND (sent_at <= ? OR sent_at > ?)", int64(q.SentBefore), int64(q.Now))
	}
	if q.Exhausted != nil {
		add("sends " + map[bool]string{false: "<", true: ">="}[*q.Exhausted] + " 1 + tracked * max_retries")
	}
	if q.AckEvent != "" {
		add("ack_event = ? AND state IN ('queued', 'sent') AND (state = 'queued' OR tracked = 1)", q.AckEvent)
	}
	if q.Trigger != "" {
		add("trigger_event = ? AND state IN ('armed', 'queued', 'sent')", q.Trigger)
	}
	if q.After != 0 {
		add("position > ?", q.After)
	}
	return where, args
}

// stateTerm returns the condition of a state. The column has the state of the phase, which is the same for delivered
// instructions and those that wait for an acknowledgement.
func stateTerm(state instruction.State) string {
	switch {
	case state == instruction.StateSent:
		return "state = 'sent' AND tracked = 1"
	case state == instruction.StateDelivered:
		return "state = 'sent' AND tracked = 0"
	case stateIndex(state) < 0:
		return "FALSE"
	}
	return "state = '" + string(state) + "'"
}

func order(o store.Order) string {
	switch o {
	case store.ByPosition:
		return " ORDER BY position"
	case store.ByUrgency:
		return " ORDER BY priority DESC, position"
	case store.ByLastSend:
		return " ORDER BY sent_at NULLS FIRST, position" // never sent is NULL
	}
	panic("sqlstore: unknown order")
}
