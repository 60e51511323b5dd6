package inbox

import (
	"context"
	"fmt"

	"waybill/cli/program"
	"waybill/engine/inbox"
	"waybill/schema"
)

// act carries out a request of the screen by the same methods as everywhere, and says how that ended.
func (a commands) act(ctx context.Context, r request) (said string, err error) {
	if r.action == inbox.Unblock {
		if err := a.RefuseAgents("only a person unblocks runs"); err != nil {
			return "", err
		}
	}
	err = a.At(r.entry.Place.Root).With(func(l *program.Local) error {
		said, err = carryOut(ctx, l, r)
		return err
	})
	return said, err
}

func carryOut(ctx context.Context, l *program.Local, r request) (string, error) {
	id := r.entry.ID
	switch r.action {
	case inbox.Answer:
		p := schema.ReplyParams{TaskID: id, Reply: r.text, Option: r.option, AttemptID: r.entry.AttemptID}
		return "answered", l.Call(ctx, "reply", p, &schema.ReplyResult{})
	case inbox.Retry:
		var done schema.RetryTaskResult
		err := l.Call(ctx, "retry_task", schema.RetryTaskParams{TaskID: id}, &done)
		return fmt.Sprintf("attempt %d is queued", done.Attempt.AttemptNumber), err
	case inbox.Cancel:
		if r.entry.Kind == inbox.FailedInstruction {
			return "cancelled", l.Call(ctx, "cancel_instruction", schema.CancelInstructionParams{InstructionID: id}, &schema.CancelInstructionResult{})
		}
		return "cancelled", l.Call(ctx, "cancel_task", schema.CancelTaskParams{TaskID: id}, &schema.TaskResult{})
	case inbox.Unblock:
		var done schema.UnblockRunResult
		err := l.Call(ctx, "unblock_run", schema.UnblockRunParams{RunID: id}, &done)
		return "unblocked; next: " + done.NextAction, err
	case inbox.Dismiss:
		p := schema.ConsumeNoticesParams{NoticeIDs: r.entry.Notices}
		return "dismissed", l.Call(ctx, "consume_notices", p, &schema.ConsumeNoticesResult{})
	}
	panic("inbox: unknown action " + string(r.action))
}
