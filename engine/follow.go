package engine

import (
	"context"
	"time"
)

// Follow records changes of plans soon after they happen. It reads every plan once, and after each wake the plans at
// the paths that take returns. An unknown path may be a new plan, so it triggers a search.
//
// A file that is half-written or missing is read again after it had time to settle. If the event log was replaced,
// all plans are read. Follow returns when ctx ends.
func (e *Engine) Follow(ctx context.Context, wake <-chan struct{}, take func() []string) {
	paths, err := e.o.Plans.List()
	if err != nil {
		e.o.Logger.Warn("the search for plans failed in part", "err", err)
	}
	again := time.NewTimer(0) // for the first reading, then for files that settle
	defer again.Stop()
	settling := paths
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
			settling = e.checkPlans(ctx, append(settling, e.changedPlans(take())...))
		case <-e.rewound:
			settling = e.checkPlans(ctx, append(settling, e.o.Plans.Known()...))
		case <-again.C:
			settling = e.checkPlans(ctx, settling)
		}
		if len(settling) > 0 {
			again.Reset(settlePeriod)
		}
	}
}

// changedPlans returns the plans at the changed paths, and the plans that were not read yet.
func (e *Engine) changedPlans(changed []string) []string {
	var paths []string
	search := false
	for _, name := range changed {
		about := e.o.Plans.plansAt(name)
		paths = append(paths, about...)
		search = search || len(about) == 0
	}
	if !search {
		return paths
	}
	found, err := e.o.Plans.List()
	if err != nil { // list_plans and get_status report it too
		e.o.Logger.Debug("the search for plans failed in part", "err", err)
	}
	for _, name := range found {
		if !e.o.Plans.remembers(name) {
			paths = append(paths, name)
		}
	}
	return paths
}

// checkPlans reads the plans and returns those that must be read again soon.
func (e *Engine) checkPlans(ctx context.Context, paths []string) []string {
	var settling []string
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[path] {
			continue
		}
		seen[path] = true
		if plan, _ := e.Plan(ctx, path); plan.recheck {
			settling = append(settling, path)
		}
	}
	return settling
}
