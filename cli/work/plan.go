package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"waybill/schema"
)

// pollInterval is the interval of looks for tasks and items that wait for other processes.
const pollInterval = time.Second

// A walk is the work on one plan.
type walk struct {
	*host
	plan  string
	slots commandSlots

	live map[string]*itemRunner // by item
	// over maps each item to the state of its run after this walk last worked on it. If the state has changed since,
	// the item may be picked again.
	finished map[string]string
	ended    chan *itemRunner
	open     []string // items without children that were not done when the walk began
}

// Plan works on the items of a plan, and continues its live runs, until no item can begin. Closing drain lets begun
// items end and starts no other; the end of ctx also ends begun ones. ErrUnfinished says that items are left; any
// other error says why the plan cannot be worked on.
func Plan(ctx context.Context, drain <-chan struct{}, plan string, o Options) error {
	h := newHost(ctx, o, drain)
	defer h.stop()
	w := &walk{
		host: h, plan: plan, slots: commandSlots{seats: h.o.Parallel, left: make(chan struct{})},
		live: map[string]*itemRunner{}, finished: map[string]string{}, ended: make(chan *itemRunner),
	}
	if err := w.o.Checks.Begin(ctx); err != nil {
		w.tell(Event{Kind: Trouble, Plan: plan, Message: err.Error()})
	}
	for {
		if err := w.startReady(ctx); err != nil {
			if len(w.live) == 0 {
				return err
			}
			w.tell(Event{Kind: Trouble, Plan: plan, Message: err.Error()})
		}
		if len(w.live) == 0 {
			return w.reportEnd(ctx)
		}
		select {
		case j := <-w.ended:
			delete(w.live, j.item)
			w.finished[j.item] = j.lastStanding
		case <-time.After(pollInterval): // another process may have made an item ready
		}
	}
}

// A commandSlots limits the commands that run at a time. A command that must run alone takes all of it.
type commandSlots struct {
	seats int

	mu    sync.Mutex    // guards the fields below
	taken int           // slots in use
	first int           // commands that must run alone and wait
	alone bool          // a command that must run alone has a slot
	left  chan struct{} // closed and replaced when a slot becomes free
}

// acquire waits for a slot, and reports whether it got one before ctx ended. A command that must run alone comes before
// those that may run beside others, because they would otherwise keep it waiting.
func (d *commandSlots) acquire(ctx context.Context, beside bool) bool {
	if !beside {
		d.wait(1)
		defer d.wait(-1)
	}
	for {
		d.mu.Lock()
		free := d.taken == 0 && (!beside || d.first == 0) || d.taken < d.seats && beside && !d.alone && d.first == 0
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

func (d *commandSlots) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken--
	d.alone = false
	d.changed()
}

// wait changes the number of commands that must run alone and wait.
func (d *commandSlots) wait(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.first += n
	d.changed()
}

// changed wakes everything that waits for a slot. The caller holds d.mu.
func (d *commandSlots) changed() {
	close(d.left)
	d.left = make(chan struct{})
}

// reportEnd runs the checks of a plan whose items are done, and sends an event about the state of the plan at the end.
func (w *walk) reportEnd(ctx context.Context) error {
	if err := w.failure(); err != nil {
		return err
	}
	reading := context.WithoutCancel(ctx)
	var ready schema.ReadyItems
	for range planRetries {
		ready = schema.ReadyItems{}
		if err := w.callUntilDone(reading, "ready_items", schema.ReadyItemsParams{Plan: w.plan}, &ready); err != nil {
			return err
		}
		if ready.Stale == "" || !pause(reading, pollInterval) { // it may have been in the midst of being written
			break
		}
	}
	approved, proven, last, err := w.proven(reading)
	if err != nil {
		return err
	}
	how := fmt.Sprintf("%d proven, %d only said", proven, len(approved)-proven)
	if closed := closedSince(w.open, ready, approved); len(closed) > 0 {
		how += ", and closed in the file by others: " + strings.Join(closed, ", ")
	}
	if !ready.Completed {
		if ready.Unread > 0 {
			how = fmt.Sprintf("boxes that are no items: %d (waybill plan shows them); %s", ready.Unread, how)
		}
		w.tell(Event{Kind: Ended, Plan: w.plan, Message: fmt.Sprintf("%d left, %d of them can be begun; %s", ready.Left, ready.ReadyTotal, how)})
		return ErrUnfinished
	}
	why, err := w.runPlanChecks(ctx, last)
	switch {
	case err != nil:
		return err
	case why != "":
		w.tell(Event{Kind: Ended, Plan: w.plan, Message: "the plan is not completed: " + why + "; " + how})
		return ErrUnfinished
	}
	w.tell(Event{Kind: Ended, Plan: w.plan, Message: "the plan is completed: " + how})
	return nil
}

// closedSince returns the items that are no longer open although no run of them was approved: an agent may tick every box, or
// remove items.
func closedSince(before []string, now schema.ReadyItems, approved map[string]bool) []string {
	open := openItems(now, true)
	return slices.DeleteFunc(slices.Clone(before), func(id string) bool { return approved[id] || slices.Contains(open, id) })
}

// openItems returns the items that are not done, with or without those whose work happens in their children.
func openItems(r schema.ReadyItems, parents bool) []string {
	open := slices.Clone(r.Ready)
	for _, item := range r.Waiting {
		why := item.Because[0]
		if why.Kind != "done" && (parents || why != (schema.Hold{Kind: "parent"})) {
			open = append(open, item.ItemID)
		}
	}
	return open
}

// startReady starts every item that can begin and has room.
func (w *walk) startReady(ctx context.Context) error {
	if w.closing() {
		return nil
	}
	var ready schema.ReadyItems
	err := w.callUntilDone(ctx, "ready_items", schema.ReadyItemsParams{Plan: w.plan}, &ready)
	var under []schema.Run
	if err == nil {
		if w.open == nil {
			w.open = openItems(ready, false)
		}
		under, err = w.underWay(ctx)
	}
	if w.closing() {
		return nil // not a fault of the plan
	}
	if err != nil {
		return err
	}
	for _, r := range under {
		if stood, before := w.finished[r.ItemID]; !before || stood != standing(r) {
			w.start(ctx, &itemRunner{walk: w, item: r.ItemID, lastStanding: standing(r), again: before})
		}
	}
	for _, item := range ready.Ready {
		if _, before := w.finished[item]; !before {
			w.start(ctx, &itemRunner{walk: w, item: item, parallel: slices.Contains(ready.Parallel, item)})
		}
	}
	return nil
}

// start starts a worker for an item, unless the item has one or no worker is free.
func (w *walk) start(ctx context.Context, j *itemRunner) {
	busy := w.busy()
	if w.live[j.item] != nil || busy >= w.o.Parallel || busy > 0 && !j.parallel {
		return
	}
	w.live[j.item] = j
	go func() { // ends when the item is done, cannot go on, or nothing new is to be begun
		j.workOnItem(ctx)
		w.ended <- j
	}()
}

// busy returns the number of items that need a worker. An item that waits for a person needs none.
func (w *walk) busy() (n int) {
	for _, j := range w.live {
		if !j.awaitsReply.Load() {
			n++
		}
	}
	return n
}

// underWay returns the live runs of the plan.
func (w *walk) underWay(ctx context.Context) (runs []schema.Run, err error) {
	p := schema.ListRunsParams{Plan: w.plan, State: "running"}
	for {
		var page schema.RunList
		if err := w.callUntilDone(ctx, "list_runs", p, &page); err != nil {
			return nil, err
		}
		runs = append(runs, page.Items...)
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			return runs, nil
		}
	}
}

// standing returns a summary of a run that changes when the run moves.
func standing(r schema.Run) string {
	return fmt.Sprint(r.RunID, r.State, r.Counters, r.Standing, r.PlanVersion, r.Proof)
}

// mayPassSoon reports whether an error may pass in a moment, such as that of a half-written file.
func mayPassSoon(err error) bool {
	fault, ok := errors.AsType[*schema.Error](err)
	return ok && fault.Data.Retryable
}
