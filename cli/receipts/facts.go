package receipts

import (
	"context"
	"encoding/json"
	"slices"

	"waybill/check"
	"waybill/core"
	"waybill/core/audit"
	"waybill/core/proof"
	"waybill/schema"
)

// A runEvent has the members of an event of a run that facts need.
type runEvent struct {
	Role    string      `json:"role"`
	Verdict string      `json:"verdict"`
	Start   audit.Start `json:"start"`
	Said    audit.Said  `json:"said"`
}

// Start returns the state of the workspace when the work of a run began, as far as it is known.
func (c *Checks) Start(ctx context.Context, run string) (audit.Start, error) {
	began, err := c.lastOf(ctx, run, core.RunStarted)
	return began.Start, err
}

// lastOf returns the last event of a type in the log of a run, for outcomes that of a worker's pass, or none.
func (c *Checks) lastOf(ctx context.Context, run string, kind core.EventType) (last runEvent, err error) {
	p := schema.EventsSinceParams{Cursor: "0", Subject: run, Types: []string{string(kind)}}
	for more := true; more; {
		var page schema.EventList
		if err := c.Call(ctx, "events_since", p, &page); err != nil {
			return last, err
		}
		for _, ev := range page.Events {
			var e runEvent
			passes := json.Unmarshal(ev.Data, &e) == nil && e.Role == core.Worker.String() && e.Verdict == "pass"
			if kind != core.RunOutcome || passes {
				last = e
			}
		}
		p.Cursor, more = page.Cursor, page.More
	}
	return last, nil
}

// lookAtFacts looks at the facts of the last result of a worker, and returns their receipt.
func (c *Checks) lookAtFacts(ctx context.Context, run string) (r schema.CheckRun, err error) {
	start, err := c.Start(ctx, run)
	if err != nil {
		return r, err
	}
	said, err := c.lastOf(ctx, run, core.RunOutcome)
	if err != nil {
		return r, err
	}
	if said.Verdict == "" {
		return schema.CheckRun{Check: proof.Facts, Outcome: proof.NotRun.String(), Reason: "the log no longer has the result"}, nil
	}
	told, err := c.falseOn(ctx, run)
	if err != nil {
		return r, err
	}
	return check.Facts(ctx, c.Dir, said.Said, start, func(tree string) bool { return slices.Contains(told, tree) })
}

// falseOn returns the trees on which facts of a run were false.
func (c *Checks) falseOn(ctx context.Context, run string) (trees []string, err error) {
	p := schema.ListReceiptsParams{RunID: run}
	for {
		var page schema.ReceiptList
		if err := c.Call(ctx, "list_receipts", p, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			if r.Check == proof.Facts && r.Outcome == proof.Red.String() {
				trees = append(trees, r.TreeAfter)
			}
		}
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			return trees, nil
		}
	}
}
