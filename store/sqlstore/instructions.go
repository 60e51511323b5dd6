package sqlstore

import (
	"bytes"
	"strings"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
	"waybill/store/sqlstore/phase"
)

const (
	instructionColumns = `position, id, session, content, tracked, priority, max_retries, ack_event, ack_match,
		trigger_event, trigger_match, trigger_path, created_at, state, sends, sent_at, ended_at, ack_by, reason, late_ack_at, sum`

	selectInstruction = "SELECT " + instructionColumns + " FROM instructions WHERE instructions.workspace = :w AND id = ?"

	// A new instruction is nearly always queued, and each value that need not be bound counts.
	insertQueued = `INSERT INTO instructions (workspace, position, id, session, content, tracked, priority, max_retries,
		ack_event, ack_match, created_at, state, sends, sum) VALUES (:w, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', 0, ?)`

	insertInstruction = "INSERT INTO instructions (workspace, " + instructionColumns + `)
		VALUES (:w, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	updatePhase = `UPDATE instructions SET state = ?, sends = ?, sent_at = ?, ended_at = ?, ack_by = ?,
		reason = ?, late_ack_at = ?, sum = ? WHERE instructions.workspace = :w AND position = ?`
)

// takePhase takes the columns of a phase.
func takePhase(r *Row) phase.Row {
	return phase.Row{
		State: instruction.State(r.Text()), Sends: r.Integer(),
		SentAt: core.Instant(r.maybeInteger()), EndedAt: core.Instant(r.maybeInteger()),
		AckBy: instruction.AckSource(r.maybeText()), Reason: r.maybeText(), LateAckAt: core.Instant(r.maybeInteger()),
	}
}

// takeInstruction takes instructionColumns and checks them against their sum.
func takeInstruction(r *Row, buf *encoder) (in instruction.Instruction, err error) {
	in.Position, in.ID, in.Session, in.Content = r.Integer(), r.Text(), r.Text(), r.Text()
	in.Tracked, in.Priority, in.MaxRetries = r.Integer() != 0, r.Integer() != 0, int(r.Integer())
	in.AckOn = instruction.AckRule{EventType: r.maybeText(), Match: r.maybeText()}
	in.Trigger = instruction.Trigger{EventType: r.maybeText(), Match: r.maybeText(), Path: r.maybeText()}
	in.CreatedAt = core.Instant(r.Integer())
	in.Phase = takePhase(r).Phase()
	sum := r.blob()
	if r.err != nil || in.Phase == nil {
		return in, Damaged("instruction " + in.ID)
	}
	*buf = buf.instruction(in)
	if !bytes.Equal(sum, buf.sum()) {
		return in, Damaged("instruction " + in.ID)
	}
	return in, nil
}

func (t *Tx) Instruction(id string) (in instruction.Instruction, ok bool, err error) {
	err = t.get(func() error {
		in, ok, err = t.instruction(id)
		return err
	})
	return in, ok, err
}

func (t *Tx) instruction(id string) (in instruction.Instruction, ok bool, err error) {
	if in, ok = t.met(id); ok {
		return in, true, nil
	}
	err = t.c.Query(func(r *Row) error {
		in, err = takeInstruction(r, &t.buf)
		ok = err == nil
		return err
	}, selectInstruction, id)
	if ok {
		t.remember(in)
	}
	return in, ok, err
}

// met returns the stored instruction if the transaction knows it without a query.
func (t *Tx) met(id string) (in instruction.Instruction, ok bool) {
	if in, ok = t.known[id]; !ok && t.writable {
		in, ok = t.recent.instructions[id]
	}
	return in, ok
}

// remember notes what is stored, for a putting verb to come.
func (t *Tx) remember(in instruction.Instruction) {
	if t.writable {
		t.known[in.ID] = in
	}
}

func (t *Tx) PutInstruction(in instruction.Instruction) error {
	return t.put(func() error { return t.putInstruction(in) })
}

// putInstruction tries to insert an instruction that the transaction has not read. The most frequent case, a new
// instruction, then costs one statement.
func (t *Tx) putInstruction(in instruction.Instruction) error {
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

func (t *Tx) create(in instruction.Instruction) error {
	h, err := t.ChangeHead()
	if err != nil {
		return err
	}
	t.buf = t.buf.instruction(in)
	ackEvent, ackMatch := any(nil), any(nil)
	if in.AckOn != (instruction.AckRule{}) {
		ackEvent, ackMatch = in.AckOn.EventType, in.AckOn.Match
	}
	args := append(make([]any, 0, 21), in.Position, in.ID, in.Session, in.Content, flag(in.Tracked), flag(in.Priority),
		int64(in.MaxRetries), ackEvent, ackMatch)
	text := insertQueued
	if in.State() != instruction.StateQueued || in.Standing() {
		trigger := [3]any{}
		if in.Standing() {
			trigger = [3]any{in.Trigger.EventType, in.Trigger.Match, in.Trigger.Path}
		}
		p := phase.Of(in.Phase).Columns()
		text, args = insertInstruction, append(append(append(args, trigger[:]...), int64(in.CreatedAt)), p[:]...)
	} else {
		args = append(args, int64(in.CreatedAt))
	}
	if _, err := t.c.Try(text, append(args, t.buf.sum())...); err != nil {
		return err
	}
	h.counts[stateIndex(in.Phase.State())]++
	t.known[in.ID] = in
	t.writes++
	return nil
}

func (t *Tx) replacePhase(old, in instruction.Instruction) error {
	h, err := t.ChangeHead()
	if err != nil {
		return err
	}
	t.buf = t.buf.instruction(in)
	p := phase.Of(in.Phase).Columns()
	if _, err := t.c.Exec(updatePhase, p[0], p[1], p[2], p[3], p[4], p[5], p[6], t.buf.sum(), in.Position); err != nil {
		return err
	}
	h.counts[stateIndex(old.Phase.State())]--
	h.counts[stateIndex(in.Phase.State())]++
	t.known[in.ID] = in
	t.writes++
	return nil
}

func (t *Tx) Instructions(q store.InstructionQuery) (page []instruction.Instruction, err error) {
	err = t.get(func() error {
		if q.After != 0 && q.Order != store.ByPosition {
			return refuse("instructions: After goes with the order ByPosition only")
		}
		where, args := conditions(q)
		limit := q.Limit
		if limit <= 0 {
			limit = store.DefaultLimit
		}
		text := "SELECT " + instructionColumns + " FROM instructions" + where + order(q.Order) + limited
		return t.c.Query(func(r *Row) error {
			in, err := takeInstruction(r, &t.buf)
			if err != nil {
				return err
			}
			t.remember(in)
			page = append(page, in)
			return nil
		}, text, append(args, int64(limit))...)
	})
	return page, err
}

func (t *Tx) CountInstructions(q store.InstructionQuery) (n int, err error) {
	err = t.get(func() error {
		q.After = 0
		where, args := conditions(q)
		count, err := Number(t.c, "SELECT count(*) FROM instructions"+where, args...)
		n = int(count)
		return err
	})
	return n, err
}

func (t *Tx) InstructionCounts() (counts map[instruction.State]int, err error) {
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
		waiting, err := Number(t.c, "SELECT count(*) FROM instructions"+where, args...)
		counts[instruction.StateDelivered] = counts[instruction.StateSent] - int(waiting)
		counts[instruction.StateSent] = int(waiting)
		return err
	})
	return counts, err
}

// conditions returns the WHERE of a query and its arguments. The statement contains the words of a state or a kind
// literally, because the planner uses a partial index only if the text itself matches it.
func conditions(q store.InstructionQuery) (where string, args []any) {
	terms := []string{"instructions.workspace = :w"}
	add := func(term string, values ...any) {
		terms = append(terms, term)
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
	return " WHERE " + strings.Join(terms, " AND "), args
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
