package api

import (
	"context"
	"fmt"
	"time"

	"waybill/engine"
	"waybill/schema"
)

// A planAge says since when a plan is unreadable, and from when its last good reading is. The zero value means that
// the plan is readable.
type planAge struct{ since, asOf schema.Time }

// planAgeOf returns the age of a plan, also of one without a reading.
func planAgeOf(plan engine.Plan) (s planAge) {
	if plan.Since.IsZero() {
		return s
	}
	s.since = schema.TimeOf(plan.Since)
	if plan.Reading != nil {
		s.asOf = writtenAt(plan.Reading.MtimeMs)
	}
	return s
}

// viewAgeOf returns the age of a run's plan.
func viewAgeOf(view engine.RunView) (s planAge) {
	if view.Fallback != "" {
		s = planAge{schema.TimeOf(view.Since), writtenAt(view.Progress.Fingerprint.MtimeMs)}
	}
	return s
}

// writtenAt returns a modification time as the wire shows it.
func writtenAt(mtimeMs int64) schema.Time { return schema.TimeOf(time.UnixMilli(mtimeMs)) }

func fallbackDetail(view engine.RunView) string {
	if view.Fault == nil {
		return ""
	}
	return view.Fault.Error()
}

// stalePlans returns a sentence for each plan that is unreadable or gone, those of running runs among them.
func stalePlans(ctx context.Context, e *engine.Engine, plans *engine.Plans, running []string) []string {
	paths, err := allPlans(plans, running)
	texts := sentences(err)
	for _, path := range paths {
		plan, err := e.Plan(ctx, path)
		if err == nil {
			err = plan.Fault
		}
		if err != nil {
			texts = append(texts, "plan "+path+": "+staleSentence(plan, err))
		}
	}
	return texts
}

// staleSentence returns the problem of a plan, its start, and what is used meanwhile.
func staleSentence(plan engine.Plan, fault error) string {
	s := planAgeOf(plan)
	instead := "it was never read, so its runs use their stored facts, and calls that need the plan are refused"
	if plan.Reading != nil {
		instead = "meanwhile its version of " + string(s.asOf) + " is used"
	}
	return fmt.Sprintf("%v (%s since %s); %s", fault, plan.Reason, s.since, instead)
}
