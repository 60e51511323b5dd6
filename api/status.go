package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
		Watcher: s.o.Watcher(ctx), Connection: s.o.Connection(), Degraded: append([]string{}, st.Degraded...),
		Settings: append([]schema.Setting{}, s.o.Changed...),
		Dialects: mapped(plans.Dialects(), func(r engine.DialectRule) schema.DialectRule { return schema.DialectRule(r) }),
	}
	w.Degraded = append(w.Degraded, otherVersions(st.Peers, s.o.Version)...)
	w.Degraded = append(w.Degraded, s.o.Degraded()...)
	if w.Watcher.Reason != "" {
		w.Degraded = append(w.Degraded, w.Watcher.Reason)
	}
	w.Degraded = append(w.Degraded, unheard(w.Connection)...)
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

// otherVersions gives a sentence for each process of another version that works on the store.
func otherVersions(peers []store.Peer, ours string) (said []string) {
	for _, peer := range peers {
		if peer.Version != ours {
			said = append(said, fmt.Sprintf("another waybill of version %s (%v) works on this store, and this is version %s; "+
				"restart the older one", peer.Version, peer, ours))
		}
	}
	return said
}

// unheard gives a sentence for what host and waybill did not hear of each other.
func unheard(c *schema.ConnectionStatus) (said []string) {
	if c == nil {
		return nil
	}
	if c.NotificationsFailed > 0 {
		said = append(said, fmt.Sprintf("notifications of the host that failed: %d; "+
			"send what must not fail as requests, which are answered", c.NotificationsFailed))
	}
	if c.NotificationsDropped > 0 {
		said = append(said, fmt.Sprintf("notifications that the host did not read in time and that were dropped: %d; "+
			"events_since has what they told of", c.NotificationsDropped))
	}
	return said
}

// sentences gives the parts of a joined error, each by itself. The list is not nil.
func sentences(err error) []string {
	if err == nil {
		return []string{}
	}
	return strings.Split(err.Error(), "\n") // names of files are quoted, so no other line ends are in it
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
	tasks, err := tx.TaskCounts()
	if err != nil {
		return err
	}
	w.Instructions, w.Runs, w.Tasks = map[string]int{}, map[string]int{}, map[string]int{}
	for _, state := range core.States() {
		w.Instructions[string(state)] = instructions[state]
	}
	for _, status := range core.TaskStatuses() {
		w.Tasks[string(status)] = tasks[status]
	}
	for _, state := range core.RunStates() {
		w.Runs[string(state)] = runs[state]
	}
	w.NoticesOpen, err = tx.CountNotices()
	return err
}
