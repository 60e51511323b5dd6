package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"waybill/schema"
)

// again is how often is looked whether a task can be claimed, or an item begun, that waits for somebody else.
const again = time.Second

// A walk is the work on one plan.
type walk struct {
	*host
	plan string
	desk desk

	live map[string]*journey // by item
	// over has how the runs stood of the items that were gone on with before, in this walk. One that stands otherwise can
	// be gone on with once more.
	over  map[string]string
	ended chan *journey
}

// Plan works on the items of a plan, until all are done or nothing more can be begun, until drain is closed and what was
// begun is over, or until ctx ends, which ends what was begun. The runs of the plan that are under way are gone on with.
// ErrUnfinished says that items are left; any other error, why the plan cannot be worked on.
func Plan(ctx context.Context, drain <-chan struct{}, plan string, o Options) error {
	h := newHost(ctx, o, drain)
	defer h.stop()
	w := &walk{
		host: h, plan: plan, desk: desk{seats: h.o.Parallel, left: make(chan struct{})},
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
			w.over[j.item] = j.stood
		case <-time.After(again): // somebody else may have made it possible to begin another one
		}
	}
}

// A desk has a seat for each command that runs. Whoever may not work beside others has it for himself.
type desk struct {
	seats int

	mu    sync.Mutex    // guards what follows
	taken int           // seats
	alone bool          // the one who has a seat may not work beside others
	left  chan struct{} // closed, and replaced, when a seat is free again
}

// sit waits for a seat, and reports whether there is one before ctx ends.
func (d *desk) sit(ctx context.Context, beside bool) bool {
	for {
		d.mu.Lock()
		free := d.taken == 0 || d.taken < d.seats && beside && !d.alone
		if free {
			d.taken++
			d.alone = !beside
		}
		left := d.left
		d.mu.Unlock()
		if free {
			return true
		}
		select {
		case <-left:
		case <-ctx.Done():
			return false
		}
	}
}

func (d *desk) rise() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken--
	d.alone = false
	close(d.left)
	d.left = make(chan struct{})
}

// sum tells how the plan stands in the end.
func (w *walk) sum(ctx context.Context) error {
	if err := w.failure(); err != nil {
		return err
	}
	var ready schema.ReadyItems
	for range wishes {
		ready = schema.ReadyItems{}
		if err := w.persist(ctx, "ready_items", schema.ReadyItemsParams{Plan: w.plan}, &ready); err != nil {
			return err
		}
		if ready.Stale == "" || !pause(ctx, again) { // it may have been in the midst of being written
			break
		}
	}
	if ready.Completed {
		w.tell(Event{Kind: Ended, Plan: w.plan, Message: "the plan is completed"})
		return nil
	}
	w.tell(Event{Kind: Ended, Plan: w.plan, Message: fmt.Sprintf("%d left, %d of them can be begun", ready.Left, ready.ReadyTotal)})
	return ErrUnfinished
}

// look begins what can be begun and has room.
func (w *walk) look(ctx context.Context) error {
	if w.closing() {
		return nil
	}
	var ready schema.ReadyItems
	err := w.persist(ctx, "ready_items", schema.ReadyItemsParams{Plan: w.plan}, &ready)
	var under []schema.Run
	if err == nil {
		under, err = w.underWay(ctx)
	}
	if w.closing() {
		return nil // which is no fault of the plan
	}
	if err != nil {
		return err
	}
	for _, r := range under {
		if stood, before := w.over[r.ItemID]; !before || stood != standing(r) {
			w.set(ctx, &journey{walk: w, item: r.ItemID, stood: standing(r)})
		}
	}
	for _, item := range ready.Ready {
		if _, before := w.over[item]; !before {
			w.set(ctx, &journey{walk: w, item: item, beside: slices.Contains(ready.Parallel, item)})
		}
	}
	return nil
}

// set sends somebody to an item, if there is nobody at it and somebody is left.
func (w *walk) set(ctx context.Context, j *journey) {
	busy := w.busy()
	if w.live[j.item] != nil || busy >= w.o.Parallel || busy > 0 && !j.beside {
		return
	}
	w.live[j.item] = j
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
