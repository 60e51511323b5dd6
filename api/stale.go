package api

import (
	"context"
	"fmt"
	"time"

	"waybill/engine"
	"waybill/schema"
)

// A staleness is what hosts are told of a plan that cannot be read as it is: for how long, and of when that is
// which is used instead. The zero value is that it can be read.
type staleness struct{ since, asOf schema.Time }

// stalenessOf describes a plan, also one without a reading.
func stalenessOf(plan engine.Plan) (s staleness) {
	if plan.Since.IsZero() {
		return s
	}
	s.since = schema.TimeOf(plan.Since)
	if plan.Reading != nil {
		s.asOf = writtenAt(plan.Reading.MtimeMs)
	}
	return s
}

// fallbackOf describes the plan of a run.
func fallbackOf(view engine.RunView) (s staleness) {
	if view.Fallback != "" {
		s = staleness{schema.TimeOf(view.Since), writtenAt(view.Progress.Fingerprint.MtimeMs)}
	}
	return s
}

// writtenAt spells the time at which a file was written.
func writtenAt(mtimeMs int64) schema.Time { return schema.TimeOf(time.UnixMilli(mtimeMs)) }

func fallbackDetail(view engine.RunView) string {
	if view.Fault == nil {
		return ""
	}
	return view.Fault.Error()
}

// stalePlans gives a sentence for each plan that is not read as it is, or has gone.
func stalePlans(ctx context.Context, e *engine.Engine, plans *engine.Plans) []string {
	paths, err := allPlans(plans)
	said := sentences(err)
	for _, path := range paths {
		plan, err := e.Plan(ctx, path)
		if err == nil {
			err = plan.Fault
		}
		if err != nil {
			said = append(said, "plan "+path+": "+staleSentence(plan, err))
		}
	}
	return said
}

// staleSentence says what is wrong with a plan, since when, and what is used meanwhile.
func staleSentence(plan engine.Plan, fault error) string {
	s := stalenessOf(plan)
	instead := "nothing was read from it before, so its runs go on with what they know, and calls that need it are refused"
	if plan.Reading != nil {
		instead = "meanwhile it counts as it was written at " + string(s.asOf)
	}
	return fmt.Sprintf("%v (%s since %s); %s", fault, plan.Reason, s.since, instead)
}
