package api

import (
	"context"
	"fmt"
	"slices"

	"waybill/core"
	"waybill/engine"
	"waybill/ledger"
	"waybill/schema"
	"waybill/store"
)

func (s *Service) explain(ctx context.Context, p *schema.ExplainParams) (*schema.Explanation, error) {
	if p.SubjectID == "" && (p.Plan == "" || p.ItemID == "") {
		return nil, badParam("/subject_id", "an id; or plan together with item_id", p.SubjectID)
	}
	if p.SubjectID != "" && (p.Plan != "" || p.ItemID != "") {
		return nil, badParam("/subject_id", "absent when plan and item_id say what is meant", p.SubjectID)
	}
	if p.SubjectID == "" {
		return s.explainItem(ctx, p.Plan, p.ItemID)
	}
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	var found core.Explanation
	err = e.View(ctx, func(tx store.Tx) error {
		found, err = engine.Explain(tx, p.SubjectID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return wireExplanation(found), nil
}

// explainItem says why an item of a plan is as it is: what the plan says, what holds it back, and what its
// newest run says.
func (s *Service) explainItem(ctx context.Context, name, itemID string) (*schema.Explanation, error) {
	e, plan, err := s.plan(ctx, name)
	if err != nil {
		return s.explainLost(ctx, name, itemID, err)
	}
	item, ok := plan.Reading.Item(itemID)
	if !ok {
		return nil, &ledger.ItemError{Plan: plan.Path, ItemID: itemID}
	}
	ready, err := e.Readiness(ctx, plan)
	if err != nil {
		return nil, err
	}
	holds := holdsOf(ready, itemID)
	found := &schema.Explanation{
		Subject: plan.Path + " " + itemID, State: effective(item.Status, holds, itemID).String(),
		Because: []schema.Because{{Rule: "plan.mark", Text: fmt.Sprintf("line %d of %s says %s", item.Line, plan.Path, item.Status)}},
	}
	found.Because = append(found.Because, readyReasons(holds, itemID)...)
	err = e.View(ctx, func(tx store.Tx) error {
		run, ok, err := tx.LatestRun(plan.Path, itemID)
		if err != nil || !ok {
			return err
		}
		why, err := engine.Explain(tx, run.ID)
		w := wireExplanation(why)
		found.Because, found.Next = append(found.Because, w.Because...), w.Next
		return err
	})
	if len(found.Next) == 0 {
		found.Next = itemSteps(plan.Reading, holds, itemID)
	}
	return found, err
}

// explainLost explains an item of a plan that cannot be read by its newest run. Without one, the fault is all
// there is to say.
func (s *Service) explainLost(ctx context.Context, name, itemID string, fault error) (*schema.Explanation, error) {
	e, plans, err := s.backend()
	if err != nil {
		return nil, fault
	}
	run, err := latestRun(ctx, e, plans, name, itemID)
	if err != nil {
		return nil, fault
	}
	var why core.Explanation
	err = e.View(ctx, func(tx store.Tx) error {
		why, err = engine.Explain(tx, run.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	w := wireExplanation(why)
	w.Because = append([]schema.Because{{Rule: "plan.unreadable", Text: fault.Error()}}, w.Because...)
	return w, nil
}

// effective gives the status of an item as it is, whatever the file has been told of it.
func effective(marked ledger.Status, holds []ledger.Hold, itemID string) ledger.Status {
	for _, h := range holds {
		switch {
		case h.Kind == ledger.HeldByEnd && marked != ledger.Skipped:
			return ledger.Completed
		case h.Kind == ledger.HeldByWork:
			return ledger.InProgress
		case h.Kind == ledger.HeldByBlock && h.ItemID == itemID:
			return ledger.Blocked
		}
	}
	return marked
}

// holdsOf gives the reasons why an item cannot be begun, or none if it can.
func holdsOf(r ledger.Readiness, itemID string) []ledger.Hold {
	for _, w := range r.Waiting {
		if w.ItemID == itemID {
			return w.Because
		}
	}
	return nil
}

// readyReasons says whether an item can be begun now, and if not, why.
func readyReasons(holds []ledger.Hold, itemID string) []schema.Because {
	if len(holds) == 0 {
		return []schema.Because{{Rule: "plan.ready", Text: "it can be begun: everything that it depends on is done"}}
	}
	return mapped(holds, func(h ledger.Hold) schema.Because {
		return schema.Because{Rule: "plan." + string(h.Kind), Text: holdText(h, itemID)}
	})
}

// itemSteps says what moves an item on that never had a run.
func itemSteps(plan *ledger.Reading, holds []ledger.Hold, itemID string) []schema.NextStep {
	if len(holds) == 0 {
		return []schema.NextStep{{Action: "init_run", Text: "starts the work on this item"}}
	}
	var steps []schema.NextStep
	for _, h := range holds {
		step, ok := holdStep(plan, h, itemID)
		if ok && !slices.Contains(steps, step) { // an item may both be depended on and be blocked
			steps = append(steps, step)
		}
	}
	return steps
}

// holdStep says what ends a hold, unless what stands before it has said so.
func holdStep(plan *ledger.Reading, h ledger.Hold, itemID string) (step schema.NextStep, ok bool) {
	switch h.Kind {
	case ledger.HeldByDependency, ledger.HeldByBlock:
		if h.ItemID == itemID {
			return schema.NextStep{Action: "get_plan", Text: "shows how the file marks it and what it waits for; it can be begun when the file says otherwise"}, true
		}
		if _, known := plan.Item(h.ItemID); !known {
			return schema.NextStep{Action: "get_plan", Text: fmt.Sprintf("shows the items that there are; item %q is none of them", h.ItemID)}, true
		}
		return schema.NextStep{Action: "explain", Text: fmt.Sprintf("of item %q says what moves that one on", h.ItemID)}, true
	case ledger.HeldByWork:
		return schema.NextStep{Action: "init_run", Text: "takes the work over, if nobody is at it any more"}, true
	case ledger.HeldByEnd:
		return schema.NextStep{Action: "init_run", Text: "starts a run of it all the same"}, true
	case ledger.HeldByParent:
		return schema.NextStep{Action: "ready_items", Text: "says which of its children can be begun now"}, h.ItemID == ""
	}
	panic("api: unknown hold " + string(h.Kind))
}

func holdText(h ledger.Hold, itemID string) string {
	switch h.Kind {
	case ledger.HeldByDependency:
		return fmt.Sprintf("it depends on item %q, which is not done", h.ItemID)
	case ledger.HeldByBlock:
		if h.ItemID == itemID {
			return "it is blocked, until a person decides"
		}
		return fmt.Sprintf("item %q is blocked, and what depends on it waits", h.ItemID)
	case ledger.HeldByWork:
		return "somebody is at it"
	case ledger.HeldByEnd:
		return "it is done"
	case ledger.HeldByParent:
		if h.ItemID == "" {
			return "it is a group, worked on through its children"
		}
		return fmt.Sprintf("what group %q depends on holds it back", h.ItemID)
	}
	panic("api: unknown hold " + string(h.Kind))
}

func wireExplanation(x core.Explanation) *schema.Explanation {
	return &schema.Explanation{
		Subject: x.Subject, State: x.State,
		Because: mapped(x.Because, func(r core.Reason) schema.Because { return schema.Because(r) }),
		Next: mapped(x.Next, func(a core.Action) schema.NextStep {
			return schema.NextStep{Action: a.Name, Text: a.Text}
		}),
	}
}
