package api

import (
	"context"
	"slices"

	"waybill/core"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store"
)

func (s *Service) getStatus(ctx context.Context, _ *schema.None) (*schema.StatusResult, error) {
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	st, err := e.StoreStatus(ctx)
	if err != nil {
		return nil, err
	}
	w := &schema.StatusResult{
		Version: s.o.Version, UptimeMS: s.o.Now().Sub(s.started).Milliseconds(), Workspace: wireWorkspace(s.workspace()),
		Store: schema.StoreStatus{
			Kind: st.Kind, Path: st.Path, SizeBytes: st.SizeBytes, Mode: storeMode(st), SchemaVersion: st.SchemaVersion,
		},
		Watcher: s.o.Watcher(), Degraded: append([]string{}, st.Degraded...),
	}
	if w.Watcher.Reason != "" {
		w.Degraded = append(w.Degraded, w.Watcher.Reason)
	}
	w.Degraded = append(w.Degraded, stalePlans(ctx, e, plans)...)
	w.Watcher.Plans = len(plans.Known()) // with those that were just read
	return w, e.View(ctx, func(tx store.Tx) error { return count(tx, &w.Counts) })
}

func (s *Service) workspace() workspace.Workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ws
}

func storeMode(st store.Status) string {
	if st.ReadOnly {
		return "read_only"
	}
	return "read_write"
}

// stalePlans gives a sentence for each plan that is not read as it is, or has gone.
func stalePlans(ctx context.Context, e *engine.Engine, plans *engine.Plans) []string {
	var sentences []string
	paths, err := allPlans(plans)
	if err != nil {
		sentences = append(sentences, err.Error())
	}
	for _, path := range paths {
		plan, err := e.Plan(ctx, path)
		if err == nil {
			err = plan.Fault
		}
		if err != nil {
			sentences = append(sentences, "plan "+path+": "+err.Error())
		}
	}
	return sentences
}

// allPlans gives the plans that are there and those that were, so that none goes without a word. The
// error says which folder could not be searched.
func allPlans(plans *engine.Plans) ([]string, error) {
	paths, err := plans.List()
	paths = append(paths, plans.Known()...)
	slices.Sort(paths)
	return slices.Compact(paths), err
}

// count fills the counts in, with a zero for every state that nothing is in.
func count(tx store.Tx, w *schema.Counts) error {
	instructions, err := tx.InstructionCounts()
	if err != nil {
		return err
	}
	runs, err := tx.RunCounts()
	if err != nil {
		return err
	}
	w.Instructions, w.Runs, w.Tasks = map[string]int{}, map[string]int{}, map[string]int{}
	for _, state := range core.States() {
		w.Instructions[string(state)] = instructions[state]
	}
	for _, state := range core.RunStates() {
		w.Runs[string(state)] = runs[state]
	}
	w.NoticesOpen, err = tx.CountNotices()
	return err
}
