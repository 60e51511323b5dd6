package work

import (
	"context"
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

	live  map[string]*journey // by item
	over  map[string]string   // how those went on that are not live any more, in this walk
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
	ready, err := w.look(ctx)
	for err == nil {
		if len(w.live) == 0 {
			break
		}
		select {
		case j := <-w.ended:
			w.end(j)
		case <-time.After(again): // somebody else may have made it possible to begin another one
		}
		ready, err = w.look(ctx)
	}
	for len(w.live) > 0 {
		w.end(<-w.ended)
	}
	if err != nil {
		return err
	}
	w.tell(Event{Kind: Ended, Plan: plan, Message: summary(ready)})
	if !ready.Completed {
		return ErrUnfinished
	}
	return nil
}

func summary(r schema.ReadyItems) string {
	if r.Completed {
		return "the plan is completed"
	}
	return fmt.Sprintf("%d left, %d of them can be begun", r.Left, r.ReadyTotal)
}

// end notes how a journey ended.
func (w *walk) end(j *journey) {
	delete(w.live, j.item)
	w.over[j.item] = j.end
}

// look begins what can be begun and has room.
func (w *walk) look(ctx context.Context) (schema.ReadyItems, error) {
	var ready schema.ReadyItems
	if err := w.persist(ctx, "ready_items", schema.ReadyItemsParams{Plan: w.plan}, &ready); err != nil {
		if ctx.Err() != nil {
			return ready, nil // which is no fault of the plan
		}
		return ready, err
	}
	if w.claiming.Err() != nil {
		return ready, nil
	}
	under, err := w.underWay(ctx)
	if err != nil {
		return ready, err
	}
	for _, item := range slices.Concat(under, ready.Ready) {
		busy := w.busy()
		if w.live[item] != nil || w.over[item] != "" || busy >= w.o.Parallel {
			continue
		}
		if busy > 0 && !slices.Contains(under, item) && !slices.Contains(ready.Parallel, item) {
			continue
		}
		j := &journey{walk: w, item: item}
		w.live[item] = j
		go func() { // ends when the item is done, cannot go on, or nothing new is to be begun
			j.end = j.travel(ctx)
			w.ended <- j
		}()
	}
	return ready, nil
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

// underWay gives the items of the plan that have a live run.
func (w *walk) underWay(ctx context.Context) (items []string, err error) {
	p := schema.ListRunsParams{Plan: w.plan, State: "running"}
	for {
		var page schema.RunList
		if err := w.persist(ctx, "list_runs", p, &page); err != nil {
			if ctx.Err() != nil {
				return nil, nil
			}
			return nil, err
		}
		for _, r := range page.Items {
			items = append(items, r.ItemID)
		}
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			return items, nil
		}
	}
}
