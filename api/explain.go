package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"waybill/api/entity"
	"waybill/core"
	"waybill/core/run"
	"waybill/engine"
	"waybill/plan"
	"waybill/schema"
	"waybill/store"
)

func (s *Service) explain(ctx context.Context, p *schema.ExplainParams) (*schema.Explanation, error) {
	if p.SubjectID == "" && (p.Plan == "" || p.ItemID == "") {
		return nil, badParam("/subject_id", "an id; or plan together with item_id", p.SubjectID)
	}
	if p.SubjectID != "" && (p.Plan != "" || p.ItemID != "") {
		return nil, badParam("/subject_id", "absent when plan and item_id are set", p.SubjectID)
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

// explainItem returns what the plan says of an item, what holds it back, and the explanation of its newest run.
func (s *Service) explainItem(ctx context.Context, name, itemID string) (*schema.Explanation, error) {
	e, p, err := s.plan(ctx, name)
	if err != nil {
		return s.explainLost(ctx, name, itemID, err)
	}
	item, ok := p.Reading.Item(itemID)
	if !ok {
		return nil, &plan.ItemError{Plan: p.Path, ItemID: itemID}
	}
	ready, err := e.Readiness(ctx, p)
	if err != nil {
		return nil, err
	}
	holds := holdsOf(ready, itemID)
	mark := core.Reason{
		Rule: "plan.mark", Text: fmt.Sprintf("line %d of %s says %s", item.Line, p.Path, item.Status), IDs: []string{itemID},
	}
	found := core.Explanation{
		Subject: subjectOf(p.Path, itemID), State: effective(item.Status, holds, itemID).String(),
		Because: append([]core.Reason{mark}, readyReasons(p.Reading, holds, itemID)...),
	}
	cycle := cycleOf(ready, itemID)
	if len(cycle) > 0 {
		found.Because = append(found.Because, core.Reason{
			Rule: "plan.cycle", Text: "these items wait for each other: " + cycleText(cycle), IDs: cycle[:min(len(cycle), core.MostNamed)],
		})
	}
	err = e.View(ctx, func(tx store.Tx) error {
		r, ok, err := tx.LatestRun(p.Path, itemID)
		if err != nil {
			return err
		}
		if ok {
			why, err := engine.Explain(tx, r.ID)
			if err != nil {
				return err
			}
			why.Because[0].IDs = append(why.Because[0].IDs, r.ID)
			found.Because, found.Next = append(found.Because, why.Because...), why.Next
		}
		switch {
		case len(found.Next) > 0:
			if ownBlock(holds, itemID) && r.State != run.Blocked {
				found.Next = append([]core.Action{reopen(p.Path, itemID)}, found.Next...)
			}
		case len(cycle) > 0:
			found.Next = []core.Action{breakCycle(p, item, cycle)}
		default:
			found.Next, err = itemSteps(tx, p.Path, p.Reading, ready, itemID, map[string]bool{itemID: true})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return wireExplanation(found), nil
}

// cycleOf returns the shortest dependency cycle through an item, starting with the item, or nil.
func cycleOf(ready plan.Readiness, itemID string) []string {
	waits := make(map[string][]plan.Hold, len(ready.Waiting))
	for _, w := range ready.Waiting {
		waits[w.ItemID] = w.Because
	}
	from := map[string]string{} // the predecessor of each visited item
	for queue := []string{itemID}; len(queue) > 0; queue = queue[1:] {
		for _, h := range waits[queue[0]] {
			_, seen := from[h.ItemID]
			if h.Kind != plan.HeldByDependency || h.ItemID == "" || seen {
				continue
			}
			from[h.ItemID] = queue[0]
			if h.ItemID != itemID {
				queue = append(queue, h.ItemID)
				continue
			}
			cycle := []string{}
			for at := from[itemID]; at != itemID; at = from[at] {
				cycle = append(cycle, at)
			}
			slices.Reverse(cycle)
			return append([]string{itemID}, cycle...)
		}
	}
	return nil
}

// maxCycleNamed bounds the items of a cycle that a sentence names.
const maxCycleNamed = 12

func cycleText(cycle []string) string {
	shown := strings.Join(cycle[:min(len(cycle), maxCycleNamed)], " -> ")
	if more := len(cycle) - maxCycleNamed; more > 0 {
		shown += fmt.Sprintf(" -> … %d more …", more)
	}
	return shown + " -> " + cycle[0]
}

// breakCycle returns the step that ends a cycle. No method does, because only a person knows which dependency is
// wrong.
func breakCycle(plan engine.Plan, item plan.Item, cycle []string) core.Action {
	text := fmt.Sprintf("edit %s:%d so that item %q does not wait for item %q", plan.Path, item.Line, item.ID, cycle[1%len(cycle)])
	if len(cycle) > 1 {
		text += ", or break the cycle at another of its items"
	}
	return core.Act(subjectOf(plan.Path, item.ID), "edit_plan", text)
}

func subjectOf(plan, itemID string) string { return plan + " " + itemID }

// ownBlock reports whether an item is blocked by its own mark.
func ownBlock(holds []plan.Hold, itemID string) bool {
	return slices.Contains(holds, plan.Hold{Kind: plan.HeldByBlock, ItemID: itemID})
}

// explainLost explains an item of an unreadable plan by its newest run. Without a run it returns the fault.
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

// effective returns the status of an item from its mark and its runs.
func effective(marked plan.Status, holds []plan.Hold, itemID string) plan.Status {
	for _, h := range holds {
		switch {
		case h.Kind == plan.HeldByEnd && marked != plan.Skipped:
			return plan.Completed
		case h.Kind == plan.HeldByWork:
			return plan.InProgress
		case h.Kind == plan.HeldByBlock && h.ItemID == itemID:
			return plan.Blocked
		}
	}
	return marked
}

// holdsOf returns why an item cannot be started, or nil if it can.
func holdsOf(r plan.Readiness, itemID string) []plan.Hold {
	for _, w := range r.Waiting {
		if w.ItemID == itemID {
			return w.Because
		}
	}
	return nil
}

// readyReasons returns whether an item can be started now, and otherwise why not.
func readyReasons(p *plan.Reading, holds []plan.Hold, itemID string) []core.Reason {
	if len(holds) == 0 {
		return []core.Reason{{Rule: "plan.ready", Text: "it can be started: all its dependencies are done"}}
	}
	return entity.All(holds, func(h plan.Hold) core.Reason {
		reason := core.Reason{Rule: "plan." + string(h.Kind), Text: holdText(h, itemID)}
		switch {
		case h.ItemID != "":
			reason.IDs = []string{h.ItemID}
		case h.Kind == plan.HeldByParent:
			var children core.Group
			for _, item := range p.Items() {
				if item.ParentID == itemID {
					children.Add(item.ID)
				}
			}
			reason.IDs = children.IDs
			reason.Text += ": " + core.Named(children.IDs, children.Count)
		}
		return reason
	})
}

// itemSteps returns the next steps for an item without a run. seen are the items that have theirs already.
func itemSteps(tx store.RunRecords, path string, plan *plan.Reading, ready plan.Readiness, itemID string, seen map[string]bool) ([]core.Action, error) {
	holds := holdsOf(ready, itemID)
	if len(holds) == 0 {
		return []core.Action{core.Act(subjectOf(path, itemID), "init_run", "starts the work on this item", core.WorkOn(path)...)}, nil
	}
	steps := []core.Action{}
	for _, h := range holds {
		if h.ItemID == "" || h.ItemID == itemID {
			steps = append(steps, ownSteps(path, h, itemID)...)
			continue
		}
		if seen[h.ItemID] || len(seen) > core.MostNamed {
			continue // an item can be both a dependency and blocked
		}
		seen[h.ItemID] = true
		more, err := stepsTowards(tx, path, plan, ready, h.ItemID, seen)
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	return steps, nil
}

// stepsTowards returns the next steps for an item that another item waits for. If it waits, too, they are those for
// the items that it waits for.
func stepsTowards(tx store.RunRecords, path string, plan *plan.Reading, ready plan.Readiness, itemID string, seen map[string]bool) ([]core.Action, error) {
	subject := subjectOf(path, itemID)
	if _, known := plan.Item(itemID); !known {
		text := fmt.Sprintf("lists the items of the plan; item %q is not among them", itemID)
		return []core.Action{core.Act(path, "get_plan", text, "plan", path)}, nil
	}
	run, ok, err := tx.LatestRun(path, itemID)
	if err != nil {
		return nil, err
	}
	holds := holdsOf(ready, itemID)
	switch {
	case ok && run.Live():
		return run.Moves(), nil
	case len(holds) == 0:
		return []core.Action{core.Act(subject, "init_run", fmt.Sprintf("starts the work on item %q", itemID), core.WorkOn(path)...)}, nil
	case ownBlock(holds, itemID):
		return []core.Action{reopen(path, itemID)}, nil
	}
	if steps, err := itemSteps(tx, path, plan, ready, itemID, seen); err != nil || len(steps) > 0 {
		return steps, err
	}
	text := fmt.Sprintf("explains what item %q needs", itemID)
	return []core.Action{core.Act(subject, "explain", text, "explain", path, itemID)}, nil
}

// reopen returns the step that removes the blocked mark of an item.
func reopen(path, itemID string) core.Action {
	return core.Act(subjectOf(path, itemID), "set_item_status", "with pending removes the blocked mark, once a person has decided",
		"plan", "set", path, itemID, "pending")
}

// ownSteps returns the steps that end a hold without another item.
func ownSteps(path string, h plan.Hold, itemID string) []core.Action {
	subject := subjectOf(path, itemID)
	act := func(method, text string, command ...string) []core.Action {
		return []core.Action{core.Act(subject, method, text, command...)}
	}
	switch h.Kind {
	case plan.HeldByDependency:
		return act("get_plan", "shows what the item waits for; the plan says that it waits for itself", "plan", path)
	case plan.HeldByBlock:
		return []core.Action{reopen(path, itemID)}
	case plan.HeldByWork:
		return append(act("init_run", "takes over the work, if no agent does it any more"),
			act("set_item_status", "with pending lets waybill work begin it, if no agent does it any more", "plan", "set", path, itemID, "pending")...)
	case plan.HeldByEnd:
		return act("init_run", "starts another run of it")
	case plan.HeldByParent:
		return act("ready_items", "lists its children that can be started now", "plan", path)
	}
	panic("api: unknown hold " + string(h.Kind))
}

func holdText(h plan.Hold, itemID string) string {
	switch h.Kind {
	case plan.HeldByDependency:
		return fmt.Sprintf("it depends on item %q, which is not done", h.ItemID)
	case plan.HeldByBlock:
		if h.ItemID == itemID {
			return "it is blocked, until a person decides"
		}
		return fmt.Sprintf("item %q is blocked, so its dependents wait", h.ItemID)
	case plan.HeldByWork:
		return "it is in progress"
	case plan.HeldByEnd:
		return "it is done"
	case plan.HeldByParent:
		if h.ItemID == "" {
			return "it is a group; its children are worked on instead"
		}
		return fmt.Sprintf("its group %q waits for a dependency", h.ItemID)
	}
	panic("api: unknown hold " + string(h.Kind))
}

func wireExplanation(x core.Explanation) *schema.Explanation {
	return &schema.Explanation{
		Subject: x.Subject, State: x.State,
		Because: entity.All(x.Because, func(r core.Reason) schema.Because { return schema.Because(r) }),
		Next: entity.All(x.Next, func(a core.Action) schema.NextStep {
			step := schema.NextStep{
				Action: a.Name, Text: a.Text, Subject: a.Subject, By: entity.All(a.By, func(by core.Actor) string { return string(by) }),
			}
			if a.Command != nil {
				step.Command = append([]string{"waybill"}, a.Command...)
			}
			return step
		}),
	}
}
