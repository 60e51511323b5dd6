package api

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"waybill/api/entity"
	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/schema/codec"
	"waybill/store"
)

// defaultSession is the session of a call that names none.
const defaultSession = "default"

func (s *Service) queueInstruction(_ context.Context, p *schema.QueueInstructionParams) (*prepared[schema.InstructionResult], error) {
	in, err := newInstruction(p.Content, p.SessionID, p.Priority)
	if err != nil {
		return nil, err
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.InstructionResult, error) {
		queued, err := tx.Queue(in)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.InstructionResult{Instruction: entity.Instruction(queued), Seq: seq}, err
	})
}

func (s *Service) queueInstructionWithAck(_ context.Context, p *schema.QueueInstructionWithAckParams) (*prepared[schema.QueueInstructionWithAckResult], error) {
	in, err := newInstruction(p.Content, p.SessionID, p.Priority)
	if err != nil {
		return nil, err
	}
	in.Tracked, in.MaxRetries = true, or(p.MaxRetries, 3)
	if err := setRules(&in, p); err != nil {
		return nil, err
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.QueueInstructionWithAckResult, error) {
		queued, err := tx.Queue(in)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.QueueInstructionWithAckResult{
			InstructionID: queued.ID, Instruction: entity.Instruction(queued), Seq: seq,
		}, err
	})
}

func newInstruction(content, session string, priority bool) (instruction.Instruction, error) {
	if err := within("/content", len(content), schema.MaxContentBytes); err != nil {
		return instruction.Instruction{}, err
	}
	return instruction.Instruction{Session: orDefault(session), Content: content, Priority: priority}, nil
}

// within refuses a text that exceeds its limit in bytes.
func within(pointer string, size, limit int) error {
	if size <= limit {
		return nil
	}
	return schema.NewError(schema.TooLarge,
		fmt.Sprintf("%s has %d bytes; at most %d are allowed", pointer, size, limit)).
		With("limit", limit).With("size", size).With("pointer", pointer)
}

// setRules sets the rules of a tracked instruction.
func setRules(in *instruction.Instruction, p *schema.QueueInstructionWithAckParams) (err error) {
	if p.AckOn != nil {
		if in.AckOn, err = ruleOf("/ack_on", *p.AckOn, 0, instruction.NewAckRule); err != nil {
			return err
		}
	}
	t := p.Trigger
	switch {
	case t == nil && !p.Standing:
		return nil
	case t == nil:
		return badParam("/trigger", "present when standing is true: the event that makes the instruction due", nil)
	case !p.Standing:
		return badParam("/standing", "true when there is a trigger", p.Standing)
	}
	in.MaxRetries = or(p.MaxRetries, 0)
	in.Trigger, err = ruleOf("/trigger", schema.AckRule{EventType: t.EventType, Match: t.Match}, len(t.Path),
		func(eventType, match string) (instruction.Trigger, error) {
			return instruction.NewTrigger(eventType, match, t.Path, in.AckOn)
		})
	return err
}

// ruleOf returns a rule of a call that rule checks. more is the size of its other texts.
func ruleOf[R any](pointer string, w schema.AckRule, more int, rule func(eventType, match string) (R, error)) (r R, err error) {
	match, err := codec.Encode(w.Match)
	if err = cmp.Or(err, within(pointer, len(w.EventType)+len(match)+more, schema.MaxReplyBytes)); err != nil {
		return r, err
	}
	if r, err = rule(w.EventType, string(match)); err != nil {
		err = problem(pointer, pointer+" is not a valid rule: "+err.Error(), "a rule", string(match))
	}
	return r, err
}

// prepare returns the prepared change of a method.
func prepare[R any](s *Service, key schema.Keyed, apply func(tx *engine.Tx) (*R, error)) (*prepared[R], error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	return &prepared[R]{engine: e, apply: apply, key: key.IdempotencyKey}, nil
}

// finishing marks a change that only finishes existing work.
func finishing[R any](w *prepared[R], err error) (*prepared[R], error) {
	if err == nil {
		w.change.Finishes = true
	}
	return w, err
}

func (s *Service) dispatchInstructions(_ context.Context, p *schema.DispatchParams) (*prepared[schema.DispatchResult], error) {
	pass := engine.Pass{
		Session: orDefault(p.SessionID), Limit: or(p.Limit, schema.DefaultPage),
		MaxBytes: or(p.MaxBytes, schema.MaxContentBytes), MinAge: int64(p.MinAgeMS) * 1000,
	}
	var last engine.Dispatched // set by the last run of the change; read after the commit
	w, err := prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.DispatchResult, error) {
		d, err := tx.Dispatch(pass)
		if err != nil {
			return nil, err
		}
		last = d
		seq, err := tx.Seq()
		return &schema.DispatchResult{
			Instructions: entity.All(d.Deliveries, func(d engine.Delivery) schema.Send { return wireSend(d, or(p.Escalate, true)) }),
			Failed:       entity.All(d.Failed, entity.Failed), Remaining: d.Remaining, Seq: seq,
		}, err
	})
	if err != nil {
		return nil, err
	}
	w.change.Session, w.change.Wait = pass.Session, time.Duration(p.WaitMS)*time.Millisecond
	w.change.Idle = func(any) bool { return last.Empty() }
	w.change.Due = func(any) core.Instant { return last.Due }
	if w.key == "" { // with a key, the host can repeat the call to get this answer
		w.undelivered = func() { undoSends(w.engine, last.Deliveries) }
	}
	return w, nil
}

func orDefault(session string) string {
	if session == "" {
		return defaultSession
	}
	return session
}

// undoSends takes back the sends of an answer that did not reach the host. It does not wait, because the committing
// goroutine may call it. If it fails, the sends count: an instruction may then be sent once less, never once more.
func undoSends(e *engine.Engine, deliveries []engine.Delivery) {
	if len(deliveries) == 0 {
		return
	}
	e.Submit(context.Background(), engine.Change{Finishes: true, Apply: func(tx *engine.Tx) (any, error) {
		return nil, tx.Undeliver(deliveries)
	}}, func(any, error) {})
}

func (s *Service) acknowledge(_ context.Context, p *schema.AcknowledgeParams) (*prepared[schema.AcknowledgeResult], error) {
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.AcknowledgeResult, error) {
		in, already, before, err := tx.Acknowledge(p.InstructionID)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.AcknowledgeResult{
			Instruction: entity.Instruction(in), Already: already, BeforeDispatch: before, Seq: seq,
		}, err
	}))
}

// matchedRunes bounds what an answer repeats of an event, noticeRunes the notice of a host.
const matchedRunes, noticeRunes = 200, 500

func (s *Service) reportEvent(_ context.Context, p *schema.ReportEventParams) (*prepared[schema.ReportEventResult], error) {
	if err := within("/data", len(p.Data), schema.MaxContentBytes); err != nil {
		return nil, err
	}
	notice := safetext.OneLine(p.Notice, noticeRunes)
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.ReportEventResult, error) {
		acknowledged, due, err := tx.Report(p.SessionID, p.Type, cmp.Or(string(p.Data), "{}"), notice)
		if err != nil {
			return nil, err
		}
		result := &schema.ReportEventResult{Acknowledged: []string{}, Unmatched: len(acknowledged) == 0, Due: due}
		for _, a := range acknowledged {
			result.Acknowledged = append(result.Acknowledged, a.ID)
			for _, m := range a.Matches {
				result.Matched = append(result.Matched, schema.OperatorMatch{
					InstructionID: a.ID, Path: m.Path, Operator: m.Operator, Text: safetext.Truncate(m.Text, matchedRunes),
				})
			}
		}
		result.Seq, err = tx.Seq()
		return result, err
	}))
}

func (s *Service) cancelInstruction(_ context.Context, p *schema.CancelInstructionParams) (*prepared[schema.CancelInstructionResult], error) {
	if err := oneOrAll(p); err != nil {
		return nil, err
	}
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.CancelInstructionResult, error) {
		result := &schema.CancelInstructionResult{}
		var err error
		if p.All {
			result.Cancelled, err = tx.CancelSession(p.SessionID, p.Reason)
		} else {
			err = cancelOne(tx, p, result)
		}
		if err != nil {
			return nil, err
		}
		result.Seq, err = tx.Seq()
		return result, err
	}))
}

// oneOrAll refuses params that name neither an instruction nor all of a session, or both, and a reason that is too
// long.
func oneOrAll(p *schema.CancelInstructionParams) error {
	switch {
	case p.All && p.SessionID == "":
		return badParam("/session_id", "present when all is true", p.SessionID)
	case p.All && p.InstructionID != "":
		return badParam("/instruction_id", "absent when all is true", p.InstructionID)
	case !p.All && p.InstructionID == "":
		return badParam("/instruction_id", "present; or session_id together with all:true", p.InstructionID)
	}
	return within("/reason", len(p.Reason), schema.MaxReplyBytes)
}

func cancelOne(tx *engine.Tx, p *schema.CancelInstructionParams, result *schema.CancelInstructionResult) error {
	in, moved, err := tx.Cancel(p.InstructionID, p.Reason)
	if err != nil {
		return err
	}
	if moved {
		result.Cancelled = 1
	}
	w := entity.Instruction(in)
	result.Instruction = &w
	return nil
}

func (s *Service) getFailedInstructions(ctx context.Context, p *schema.FailedParams) (*schema.InstructionList, error) {
	return s.instructions(ctx, store.InstructionQuery{Session: p.SessionID, State: instruction.StateFailed}, p.Page)
}

func (s *Service) listInstructions(ctx context.Context, p *schema.ListInstructionsParams) (*schema.InstructionList, error) {
	if p.InstructionID != "" {
		e, _, err := s.backend()
		if err != nil {
			return nil, err
		}
		return oneInstruction(ctx, e, p)
	}
	return s.instructions(ctx, store.InstructionQuery{Session: p.SessionID, State: instruction.State(p.State)}, p.Page)
}

// oneInstruction returns a list with one instruction.
func oneInstruction(ctx context.Context, e *engine.Engine, p *schema.ListInstructionsParams) (*schema.InstructionList, error) {
	if err := requireAlone("instruction_id", [2]string{"/session_id", p.SessionID}, [2]string{"/state", p.State}, [2]string{"/cursor", p.Cursor}); err != nil {
		return nil, err
	}
	var in instruction.Instruction
	if err := e.View(ctx, func(tx store.Tx) error {
		var ok bool
		var err error
		if in, ok, err = tx.Instruction(p.InstructionID); err == nil && !ok {
			err = core.Missing("instruction", p.InstructionID)
		}
		return err
	}); err != nil {
		return nil, err
	}
	return &schema.InstructionList{Items: []schema.Instruction{entity.Instruction(in)}}, nil
}

func (s *Service) instructions(ctx context.Context, q store.InstructionQuery, page schema.Page) (*schema.InstructionList, error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	if q.After, err = pageAfter(page); err != nil {
		return nil, err
	}
	limit := or(page.Limit, schema.DefaultPage)
	q.Limit = limit + 1 // one more shows whether there is a next page
	var found []instruction.Instruction
	if err := e.View(ctx, func(tx store.Tx) error {
		found, err = tx.Instructions(q)
		return err
	}); err != nil {
		return nil, err
	}
	list := &schema.InstructionList{Items: []schema.Instruction{}}
	size := 0
	for i, in := range found {
		size += len(in.Content)
		if i == limit || (i > 0 && size > pageBytes) {
			list.NextCursor = strconv.FormatInt(found[i-1].Position, 10)
			break
		}
		list.Items = append(list.Items, entity.Instruction(in))
	}
	return list, nil
}

// pageBytes bounds the texts of a page, so that hosts can read the answer. A larger entry is returned alone.
const pageBytes = 512 << 10

// pageAfter reads the cursor of a list.
func pageAfter(p schema.Page) (int64, error) {
	if p.Cursor == "" {
		return 0, nil
	}
	after, err := strconv.ParseInt(p.Cursor, 10, 64)
	if err != nil || after < 0 {
		return 0, badParam("/cursor", "next_cursor of the previous page", p.Cursor)
	}
	return after, nil
}
