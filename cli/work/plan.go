package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"waybill/schema"
)

// again is how often is looked whether a task can be claimed, or an item begun, that waits for somebody else.
const again = time.Second

// A walk is the work on one plan.
type walk struct {
	*host
	plan     string
	claiming context.Context // ends when nothing new is to be begun
	slots    chan struct{}   // one is held for each command

	ready schema.ReadyItems   // as it was last said
	live  map[string]*journey // by item
	// over has how the runs stood of the items that were gone on with before, in this walk. One that stands otherwise can
	// be gone on with once more.
	over  map[string]string
	ended chan *journey
}

// Plan works on the items of a plan, until all are done or nothing more can be begun, until drain is closed and what was
// begun is over, or until ctx ends, which ends what was begun. The runs of the plan that are under way are gone on with.
// ErrUnfinished says that items are left; any other error, why the plan cannot be worked on.
func Plan(ctx context.Context, drain <-chan struct{}, plan string, o Options) error {
	h := newHost(o, drain)
	claiming, stop := h.claiming(ctx)
	defer stop()
	w := &walk{
		host: h, plan: plan, claiming: claiming, slots: make(chan struct{}, h.o.Parallel),
		live: map[string]*journey{}, over: map[string]string{}, ended: make(chan *journey),
	}
	for {
		if err := w.look(ctx); err != nil {
			if len(w.live) == 0 {
				return err
			}
			w.tell(Event{Kind: Trouble, Plan: plan, Message: err.Error()})
		}
		if len(w.live) == 0 {
			return w.sum(context.WithoutCancel(ctx))
		}
		select {
		case j := <-w.ended:
			delete(w.live, j.item)
			w.over[j.item] = standing(j.run)
		case <-time.After(again): // somebody else may have made it possible to begin another one
		}
	}
}

// sum tells how the plan stands in the end.
func (w *walk) sum(ctx context.Context) error {
	if err := w.failure(); err != nil {
		return err
	}
	for range 5 {
		if err := w.persist(ctx, "ready_items", schema.ReadyItemsParams{Plan: w.plan}, &w.ready); err != nil {
			return err
		}
		if w.ready.Stale == "" || !pause(ctx, again) { // it may have been in the midst of being written
			break
		}
	}
	if w.ready.Completed {
		w.tell(Event{Kind: Ended, Plan: w.plan, Message: "the plan is completed"})
		return nil
	}
	w.tell(Event{Kind: Ended, Plan: w.plan, Message: fmt.Sprintf("%d left, %d of them can be begun", w.ready.Left, w.ready.ReadyTotal)})
	return ErrUnfinished
}

// look begins what can be begun and has room.
func (w *walk) look(ctx context.Context) error {
	if w.claiming.Err() != nil {
		return nil
	}
	var ready schema.ReadyItems
	err := w.persist(ctx, "ready_items", schema.ReadyItemsParams{Plan: w.plan}, &ready)
	var under []schema.Run
	if err == nil {
		under, err = w.underWay(ctx)
	}
	if w.claiming.Err() != nil {
		return nil // which is no fault of the plan
	}
	if err != nil {
		return err
	}
	for _, r := range under {
		if stood, before := w.over[r.ItemID]; !before || stood != standing(r) {
			w.set(ctx, r.ItemID, true)
		}
	}
	for _, item := range ready.Ready {
		if _, before := w.over[item]; !before {
			w.set(ctx, item, slices.Contains(ready.Parallel, item))
		}
	}
	return nil
}

// set sends somebody to an item, if there is nobody at it and somebody is left. beside says that others may be at work.
func (w *walk) set(ctx context.Context, item string, beside bool) {
	busy := w.busy()
	if w.live[item] != nil || busy >= w.o.Parallel || busy > 0 && !beside {
		return
	}
	j := &journey{walk: w, item: item}
	w.live[item] = j
	go func() { // ends when the item is done, cannot go on, or nothing new is to be begun
		j.travel(ctx)
		w.ended <- j
	}()
}

// busy counts the items that need somebody. One that waits for the answer of a person needs nobody.
func (w *walk) busy() (n int) {
	for _, j := range w.live {
		if !j.waits.Load() {
			n++
		}
	}
	return n
}

// underWay gives the live runs of the plan.
func (w *walk) underWay(ctx context.Context) (runs []schema.Run, err error) {
	p := schema.ListRunsParams{Plan: w.plan, State: "running"}
	for {
		var page schema.RunList
		if err := w.persist(ctx, "list_runs", p, &page); err != nil {
			return nil, err
		}
		runs = append(runs, page.Items...)
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			return runs, nil
		}
	}
}

// standing sums up how a run stands, for it to be seen whether that has changed.
func standing(r schema.Run) string {
	return fmt.Sprint(r.RunID, r.State, r.Counters, r.Standing, r.PlanVersion)
}

// mayPass reports whether an error may be over in a moment, such as that of a file that is just being written.
func mayPass(err error) bool {
	fault, ok := errors.AsType[*schema.Error](err)
	return ok && fault.Data.Retryable
}
