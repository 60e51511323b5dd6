package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"waybill/schema"
)

// left are the notices that must be open in the end: nobody has consumed any.
var left = []string{
	"instruction.failed", "task.retry_scheduled", "task.retry_session_ready", "task.awaiting_response", "task.finished", "run.blocked",
}

func (p *play) goodbye(ctx context.Context) error {
	var notices schema.NoticeList
	if err := p.call(ctx, "list_notices", map[string]any{}, &notices, func() string {
		return fmt.Sprintf("%d open: they were delivered, but nobody consumed them, so they are still there", len(notices.Items))
	}); err != nil {
		return err
	}
	var kinds, ids []string
	for _, n := range notices.Items {
		kinds, ids = append(kinds, n.Kind), append(ids, n.NoticeID)
	}
	if err := must(slices.Equal(kinds, left), "the open notices are %v, not %v", kinds, left); err != nil {
		return err
	}
	var consumed schema.ConsumeNoticesResult
	if err := p.call(ctx, "consume_notices", map[string]any{"notice_ids": ids}, &consumed, func() string {
		return "consumed: " + strings.Join(kinds, ", ")
	}); err != nil {
		return err
	}
	if err := must(slices.Equal(consumed.Consumed, ids), "only %v were consumed", consumed.Consumed); err != nil {
		return err
	}
	if err := p.child.leave(ctx); err != nil {
		return err
	}
	p.Print("  shutdown, exit: the process ended with status 0\n")
	return nil
}
