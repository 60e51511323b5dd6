package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"waybill/api/entity"
	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

func (s *Service) getStatus(ctx context.Context, _ *schema.None) (*schema.StatusResult, error) {
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	ws := s.ws
	s.mu.Unlock()
	st, err := e.StoreStatus(ctx)
	if err != nil {
		return nil, err
	}
	w := &schema.StatusResult{
		Version: s.o.Version, UptimeMS: s.o.Now().Sub(s.started).Milliseconds(), Workspace: entity.Workspace(ws),
		Store: schema.StoreStatus{
			Kind: st.Kind, Path: st.Path, SizeBytes: st.SizeBytes, Mode: storeMode(st), SchemaVersion: st.SchemaVersion,
		},
		Moves:   schema.Moves(e.Stats().Instructions),
		Watcher: s.o.Watcher(ctx), Connection: s.o.Connection(), Degraded: append([]string{}, st.Degraded...),
		Settings: append([]schema.Setting{}, s.o.Changed...),
		Dialects: entity.All(plans.Dialects(), func(r engine.DialectRule) schema.DialectRule { return schema.DialectRule(r) }),
	}
	w.Degraded = append(w.Degraded, otherVersions(st.Peers, s.o.Version)...)
	w.Degraded = append(w.Degraded, s.o.Degraded()...)
	if w.Watcher.Reason != "" {
		w.Degraded = append(w.Degraded, w.Watcher.Reason)
	}
	w.Degraded = append(w.Degraded, lostNotifications(w.Connection)...)
	var work core.Workload
	err = e.View(ctx, func(tx store.Tx) error {
		if err := count(tx, &w.Counts); err != nil {
			return err
		}
		work, err = store.Workload(tx)
		return err
	})
	w.Degraded = append(w.Degraded, stalePlans(ctx, e, plans, work.Plans)...)
	w.Watcher.Plans = len(plans.Known()) // with those that were just read
	w.Attention = entity.All(core.Attention(work, w.Degraded), wireConcern)
	w.Well = len(w.Attention) == 0
	return w, err
}

func wireConcern(c core.Concern) schema.Concern {
	w := schema.Concern{Kind: string(c.Kind), Text: c.Text, Count: c.Count, IDs: c.IDs}
	if c.Next != nil {
		w.Command = append([]string{"waybill"}, c.Next...)
	}
	return w
}

func storeMode(st store.Status) string {
	if st.ReadOnly {
		return "read_only"
	}
	return "read_write"
}

// otherVersions returns a sentence for each process of another version that uses the store.
func otherVersions(peers []store.Peer, ours string) (texts []string) {
	for _, peer := range peers {
		if peer.Version != ours {
			texts = append(texts, fmt.Sprintf("a waybill process of version %s (%v) uses this store, and this is version %s; "+
				"restart the older one", peer.Version, peer, ours))
		}
	}
	return texts
}

// lostNotifications returns a sentence for each kind of lost notification.
func lostNotifications(c *schema.ConnectionStatus) (texts []string) {
	if c == nil {
		return nil
	}
	if c.NotificationsFailed > 0 {
		texts = append(texts, fmt.Sprintf("notifications of the host that failed: %d; "+
			"send important calls as requests, which are answered", c.NotificationsFailed))
	}
	if c.NotificationsDropped > 0 {
		texts = append(texts, fmt.Sprintf("notifications dropped because the host did not read them in time: %d; "+
			"events_since returns their events", c.NotificationsDropped))
	}
	return texts
}

// sentences returns the parts of a joined error. The list is not nil.
func sentences(err error) []string {
	if err == nil {
		return []string{}
	}
	return strings.Split(err.Error(), "\n") // file names are quoted, so they contain no line ends
}

// allPlans returns the present and the former plans, and more that are known. The error names folders that could not be
// searched.
func allPlans(plans *engine.Plans, more []string) ([]string, error) {
	paths, err := plans.List()
	paths = slices.Concat(paths, plans.Known(), more)
	slices.Sort(paths)
	return slices.Compact(paths), err
}

// count sets the counts, with a zero for every empty state.
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
	for _, state := range instruction.States() {
		w.Instructions[string(state)] = instructions[state]
	}
	for _, status := range task.Statuses() {
		w.Tasks[string(status)] = tasks[status]
	}
	for _, state := range run.States() {
		w.Runs[string(state)] = runs[state]
	}
	w.NoticesOpen, err = tx.CountNotices()
	return err
}
