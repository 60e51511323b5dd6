package engine

import (
	"context"
	"time"
)

// Follow looks at every plan of the workspace, and again at each one that take names whenever wake is
// signalled, so that a change of a plan is recorded soon after it happened. A path that is none of a plan is
// one at which a plan may have appeared, so that all are searched for. When another event log took the place of the one
// before, all plans are looked at. A file that is caught half-written, or
// not there, is looked at once more when it has had time to settle. Follow returns when ctx ends.
func (e *Engine) Follow(ctx context.Context, wake <-chan struct{}, take func() []string) {
	paths, err := e.o.Plans.List()
	if err != nil {
		e.o.Logger.Warn("not every plan was found", "err", err)
	}
	again := time.NewTimer(0) // for the first look, and then for what settles
	defer again.Stop()
	settling := paths
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
			settling = e.glance(ctx, append(settling, e.moved(take())...))
		case <-e.rewound:
			settling = e.glance(ctx, append(settling, e.o.Plans.Known()...))
		case <-again.C:
			settling = e.glance(ctx, settling)
		}
		if len(settling) > 0 {
			again.Reset(settlePeriod)
		}
	}
}

// moved gives the plans that the changed paths are about, and those that nobody has read yet.
func (e *Engine) moved(changed []string) []string {
	var paths []string
	search := false
	for _, name := range changed {
		about := e.o.Plans.concerned(name)
		paths = append(paths, about...)
		search = search || len(about) == 0
	}
	if !search {
		return paths
	}
	found, err := e.o.Plans.List()
	if err != nil { // which list_plans and get_status say as well, as long as it is so
		e.o.Logger.Debug("not every plan was found", "err", err)
	}
	for _, name := range found {
		if !e.o.Plans.remembers(name) {
			paths = append(paths, name)
		}
	}
	return paths
}

// glance looks at the plans and gives those that have to be looked at again soon.
func (e *Engine) glance(ctx context.Context, paths []string) []string {
	var settling []string
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[path] {
			continue
		}
		seen[path] = true
		if plan, _ := e.Plan(ctx, path); plan.again {
			settling = append(settling, path)
		}
	}
	return settling
}
