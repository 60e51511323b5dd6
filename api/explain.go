package api

import (
	"context"
	"fmt"

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
		return nil, err
	}
	item, ok := plan.Reading.Item(itemID)
	if !ok {
		return nil, &ledger.ItemError{Plan: plan.Path, ItemID: itemID}
	}
	ready, err := e.Readiness(ctx, plan)
	if err != nil {
		return nil, err
	}
	found := &schema.Explanation{
		Subject: plan.Path + " " + itemID, State: item.Status.String(),
		Because: []schema.Because{{Rule: "plan.mark", Text: fmt.Sprintf("line %d of %s says %s", item.Line, plan.Path, item.Status)}},
	}
	found.Because = append(found.Because, readyReasons(ready, itemID)...)
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
		found.Next = []schema.NextStep{{Action: "init_run", Text: "starts the work on this item"}}
	}
	return found, err
}

// readyReasons says whether an item can be begun now, and if not, why.
func readyReasons(r ledger.Readiness, itemID string) []schema.Because {
	for _, w := range r.Waiting {
		if w.ItemID == itemID {
			return mapped(w.Because, func(h ledger.Hold) schema.Because {
				return schema.Because{Rule: "plan." + string(h.Kind), Text: holdText(h, itemID)}
			})
		}
	}
	return []schema.Because{{Rule: "plan.ready", Text: "it can be begun: everything that it depends on is done"}}
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
