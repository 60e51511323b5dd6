package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"waybill/schema"
)

// planName is the plan of the example workspace.
const planName = "tasks.md"

func (p *play) compile(ctx context.Context) error {
	var plan schema.Plan
	if err := p.call(ctx, "get_plan", map[string]any{"plan": planName}, &plan, func() string {
		return fmt.Sprintf("%d items, %d of %d done, %d diagnostics, dialect %s",
			len(plan.Items), plan.Totals.Completed, plan.Totals.Total, len(plan.Diagnostics), plan.Dialect)
	}); err != nil {
		return err
	}
	item := inProgress(plan.Items)
	var run schema.InitRunResult
	if err := p.call(ctx, "init_run", map[string]any{"plan": planName, "item_id": item.ItemID}, &run, func() string {
		return fmt.Sprintf("%s for item %s: %s", run.Run.RunID, item.ItemID, item.Title)
	}); err != nil {
		return err
	}
	p.runID = run.Run.RunID
	c, err := p.prompt(ctx)
	if err != nil {
		return err
	}
	for _, line := range tail(c.Prompt, 6) {
		p.Print("      %s\n", p.Faint(line))
	}
	return must(c.LedgerMode == "ledger_only", "ledger_mode is %s", c.LedgerMode)
}

func inProgress(items []schema.Item) schema.Item {
	for _, it := range items {
		if it.Status == "in_progress" && it.DerivedStatus == "" {
			return it
		}
	}
	return items[0]
}

func (p *play) prompt(ctx context.Context) (schema.CompilePromptResult, error) {
	var c schema.CompilePromptResult
	err := p.call(ctx, "compile_prompt", map[string]any{"run_id": p.runID, "role": "worker"}, &c, func() string {
		return fmt.Sprintf("%d tokens of %d, prefix %.8s, packet cursor %s, totals %s",
			c.PromptTokensAfter, c.PromptTokenBudget, c.StablePrefixHash, c.Packet.Cursor, c.Packet.Facts["ledger.progress.totals"])
	})
	return c, err
}

// edit saves the plan as an editor does, by writing a new file and renaming it over the old one.
func (p *play) edit(ctx context.Context) error {
	before, err := p.prompt(ctx)
	if err != nil {
		return err
	}
	id, err := p.completeOne(ctx)
	if err != nil {
		return err
	}
	raw, err := p.child.await(ctx, "ledger/changed", func(params json.RawMessage) bool {
		var n schema.LedgerNote
		return json.Unmarshal(params, &n) == nil && slices.Contains(n.ChangedIDs, id)
	})
	if err != nil {
		return err
	}
	var n schema.LedgerNote
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	p.Print("  %s ledger/changed  items %v, hash %.8s\n", p.Faint("⇠"), n.ChangedIDs, n.Fingerprint.Hash)
	after, err := p.prompt(ctx)
	if err != nil {
		return err
	}
	return errors.Join(
		must(after.StablePrefixHash == before.StablePrefixHash, "the stable prefix changed"),
		must(after.Packet.Cursor != before.Packet.Cursor, "the packet did not change"),
		must(after.FullPromptHash != before.FullPromptHash, "the prompt did not change"),
	)
}
