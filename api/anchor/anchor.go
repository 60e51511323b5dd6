// Package anchor collects the facts from which an agent continues after its memory was cut. It changes nothing and sends
// no instruction; package prompt makes the text.
package anchor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"waybill/api/entity"
	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/engine"
	"waybill/ledger"
	"waybill/plan"
	"waybill/prompt"
	"waybill/store"
)

// most bounds each list of facts. An anchor has no room for more.
const most = 50

// Collect returns the facts for a session, its own work first. A plan is being worked on if it has a live run, or if it has
// the newest run of all and work is left. The facts are read in several views, so a change in between may show in some only.
func Collect(ctx context.Context, e *engine.Engine, session string) (in prompt.AnchorInput, err error) {
	c := collector{engine: e, session: session, in: &in, tasks: map[string][]task.Task{}}
	var runs []run.Run
	err = e.View(ctx, func(tx store.Tx) (err error) {
		if runs, err = c.liveRuns(tx); err != nil {
			return err
		}
		if err = c.liveTasks(tx, runs); err != nil {
			return err
		}
		if err = c.questions(tx); err != nil {
			return err
		}
		return c.instructions(tx)
	})
	if err != nil {
		return in, err
	}
	if runs, err = c.addWork(ctx, runs); err != nil {
		return in, err
	}
	return in, c.plans(ctx, runs)
}

// A collector fills the facts of an anchor.
type collector struct {
	engine  *engine.Engine
	session string
	in      *prompt.AnchorInput
	newest  run.Run                // the newest run of all
	tasks   map[string][]task.Task // the live tasks of each live run, and the running ones of no run
}

// liveRuns returns the runs that are running or blocked, the newest first, and counts those beyond the bound.
func (c *collector) liveRuns(tx store.RunRecords) (live []run.Run, err error) {
	newest, err := tx.Runs(store.RunQuery{Limit: 1})
	if err != nil {
		return nil, err
	}
	for _, r := range newest {
		c.newest = r
	}
	counts, err := tx.RunCounts()
	if err != nil {
		return nil, err
	}
	for _, state := range []run.State{run.Running, run.Blocked} {
		found, err := tx.Runs(store.RunQuery{State: state, Limit: most})
		if err != nil {
			return nil, err
		}
		live = append(live, found...)
		c.in.MoreWork += counts[state] - len(found)
	}
	return live, nil
}

// liveTasks collects the tasks of the live runs, and the running ones without a run up to the bound.
func (c *collector) liveTasks(tx store.TaskRecords, runs []run.Run) error {
	seen := map[string]bool{} // the running ones
	for _, r := range runs {
		found, err := tx.Tasks(store.TaskQuery{Live: true, RunID: r.ID, Limit: most})
		if err != nil {
			return err
		}
		c.tasks[r.ID] = found
		for _, t := range found {
			if t.Status() == task.StatusRunning {
				seen[t.ID] = true
			}
		}
	}
	newest, err := tx.Tasks(store.TaskQuery{Status: task.StatusRunning, Newest: true, Limit: most})
	if err != nil {
		return err
	}
	for _, t := range newest {
		seen[t.ID] = true
		if t.Spec.RunID == "" {
			c.tasks[""] = append(c.tasks[""], t)
		}
	}
	counts, err := tx.TaskCounts()
	c.in.MoreWork += counts[task.StatusRunning] - len(seen)
	return err
}

// holder returns why the session does not simply go on with a live task.
func (c *collector) holder(t task.Task) prompt.AnchorHolder {
	switch {
	case t.Status() == task.StatusAwaiting:
		return prompt.AskedPerson
	case t.Status() == task.StatusQueued:
		return prompt.TaskQueue
	case t.Current.Session() == "":
		return prompt.UnboundWorker
	case t.Current.Session() == c.session:
		return prompt.NoHolder
	}
	return prompt.OtherSession
}

// questions collects the tasks that wait for a person's answer.
func (c *collector) questions(tx store.TaskRecords) error {
	asking := store.TaskQuery{Status: task.StatusAwaiting, Limit: most}
	waiting, err := tx.Tasks(asking)
	if err != nil {
		return err
	}
	for _, t := range waiting {
		c.in.Questions = append(c.in.Questions, prompt.AnchorQuestion{TaskID: t.ID, Text: cmp.Or(t.Question, t.Spec.Description)})
	}
	counts, err := tx.TaskCounts()
	c.in.MoreQuestions = counts[task.StatusAwaiting] - len(waiting)
	return err
}

// instructions collects the instructions of the session that were never sent, then those without an acknowledgement, even
// if they have no sends left.
func (c *collector) instructions(tx store.InstructionRecords) error {
	for _, q := range []store.InstructionQuery{
		{State: instruction.StateQueued, Order: store.ByUrgency},
		{State: instruction.StateSent, Order: store.ByLastSend},
	} {
		q.Session, q.Limit = c.session, most
		found, err := tx.Instructions(q)
		if err != nil {
			return err
		}
		total, err := tx.CountInstructions(q)
		if err != nil {
			return err
		}
		for _, in := range found {
			c.in.Instructions = append(c.in.Instructions, in.Content)
		}
		c.in.MoreInstructions += total - len(found)
	}
	return nil
}

// addWork adds the live runs and the tasks without a run, those of the session first, and returns the runs that can be
// read.
func (c *collector) addWork(ctx context.Context, runs []run.Run) (read []run.Run, err error) {
	for _, r := range runs {
		w, err := c.run(ctx, r)
		if damaged(err) {
			c.in.Unreadable = append(c.in.Unreadable, r.ID)
			continue
		}
		if err != nil {
			return nil, err
		}
		read = append(read, r)
		c.in.Work = append(c.in.Work, w)
	}
	for _, t := range c.tasks[""] {
		c.in.Work = append(c.in.Work, prompt.AnchorWork{
			TaskID: t.ID, Title: cmp.Or(t.Spec.Description, t.Spec.Prompt), Next: "go on with the task", Holder: c.holder(t),
		})
	}
	slices.SortStableFunc(c.in.Work, func(a, b prompt.AnchorWork) int { return cmp.Compare(rank(a), rank(b)) })
	return read, nil
}

// damaged reports whether only the records of one run cannot be read.
func damaged(err error) bool {
	_, fact := errors.AsType[*ledger.FactError](err)
	fault, ok := errors.AsType[*store.Error](err)
	return fact || ok && fault.Kind == store.Corrupt
}

// rank orders the work: that of the session, that of no session, free work, queued work, blocked work, work that waits
// for an answer, that of other sessions.
func rank(w prompt.AnchorWork) int {
	if w.Blocked != "" {
		return 4
	}
	switch w.Holder {
	case prompt.NoHolder:
		if w.TaskID != "" {
			return 0
		}
		return 2
	case prompt.UnboundWorker:
		return 1
	case prompt.TaskQueue:
		return 3
	case prompt.AskedPerson:
		return 5
	case prompt.OtherSession:
		return 6
	}
	panic(fmt.Sprintf("anchor: unknown holder %d", w.Holder))
}

// run returns a live run as work.
func (c *collector) run(ctx context.Context, r run.Run) (w prompt.AnchorWork, err error) {
	view, err := c.engine.Peek(ctx, r.ID)
	if err != nil {
		return w, err
	}
	outlook, err := c.engine.Standing(ctx, view)
	if err != nil {
		return w, err
	}
	next := outlook.Next
	w = prompt.AnchorWork{
		RunID: r.ID, Plan: r.Plan, ItemID: r.ItemID, Next: next.Sentence(), Blocked: string(view.Run.Halt),
		Due: next.Checks.List(), Unreadable: view.Fallback,
	}
	if next.Role != 0 {
		w.Role = next.Role.String()
	}
	if view.Progress.CurrentItem != nil {
		w.Title = view.Progress.CurrentItem.Title
	}
	if view.Gone != nil {
		w.Blocked = "its item is no longer in the plan"
	}
	for _, t := range c.tasks[r.ID] {
		if holder := c.holder(t); w.TaskID == "" || holder < w.Holder {
			w.TaskID, w.Holder = t.ID, holder
		}
	}
	return w, c.engine.View(ctx, func(tx store.Tx) (err error) {
		w.Green, err = green(tx, view.Run)
		return err
	})
}

// green returns, for each check of a run that is green now, its newest green receipt.
func green(tx store.EventLog, r run.Run) (list []prompt.AnchorReceipt, err error) {
	checks := r.Proof.Green.List()
	if len(checks) == 0 {
		return nil, nil
	}
	last := map[string]string{}
	for after := int64(0); ; {
		page, err := store.EventsAfter(tx, r.ID, after, store.DefaultLimit, []core.EventType{core.ReceiptRecorded})
		if err != nil {
			return nil, err
		}
		for _, ev := range page {
			receipt, err := entity.ReceiptOf(ev)
			if err != nil {
				return nil, err
			}
			after = ev.Seq
			if receipt.Outcome == proof.Green.String() || receipt.Outcome == proof.Protected.String() {
				last[receipt.Check] = receipt.ReceiptID
			}
		}
		if len(page) < store.DefaultLimit {
			break
		}
	}
	for _, name := range checks {
		if id := last[name]; id != "" { // otherwise retention removed it
			list = append(list, prompt.AnchorReceipt{Check: name, ID: id})
		}
	}
	return list, nil
}

// plans adds the plans that are being worked on, that of the first run first.
func (c *collector) plans(ctx context.Context, live []run.Run) error {
	paths := make([]string, 0, len(live)+1)
	for _, w := range c.in.Work {
		if w.Plan != "" {
			paths = append(paths, w.Plan)
		}
	}
	if c.newest.ID != "" {
		paths = append(paths, c.newest.Plan)
	}
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[path] {
			continue
		}
		seen[path] = true
		p, err := c.engine.Plan(ctx, path)
		if p.Reading == nil {
			continue // the runs say why, if the plan has live ones
		}
		if err != nil {
			return err
		}
		known, err := c.progress(ctx, p)
		if err != nil {
			return err
		}
		hasRuns := slices.ContainsFunc(live, func(r run.Run) bool { return r.Plan == path })
		if known.left > 0 || hasRuns {
			c.in.Plans = append(c.in.Plans, known.AnchorPlan)
		}
	}
	return nil
}

type knownPlan struct {
	prompt.AnchorPlan
	left int
}

// progress returns what is done in a plan.
func (c *collector) progress(ctx context.Context, p engine.Plan) (known knownPlan, err error) {
	ready, err := c.engine.Readiness(ctx, p)
	if err != nil {
		return known, err
	}
	known.Path, known.Ready, known.left = p.Path, ready.Ready, ready.Left
	err = c.engine.View(ctx, func(tx store.Tx) error {
		outcomes, err := engine.Outcomes(tx, p.Reading, p.Path)
		if err != nil {
			return err
		}
		done := make(map[string]run.Run, len(outcomes))
		var proven []run.Run
		for _, o := range outcomes {
			done[o.Item.ID] = o.Run
			if o.Run.ID != "" && o.Run.Proof.State() == proof.Proven {
				proven = append(proven, o.Run)
			}
		}
		known.addSpans(p.Reading.Items(), done)
		slices.SortFunc(proven, func(a, b run.Run) int {
			return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(b.ID, a.ID))
		})
		known.MoreProofs = max(0, len(proven)-most)
		for _, r := range proven[:min(len(proven), most)] {
			receipts, err := green(tx, r)
			if err != nil {
				return err
			}
			if len(receipts) > 0 {
				known.Proofs = append(known.Proofs, prompt.AnchorProof{ItemID: r.ItemID, Receipts: receipts})
			}
		}
		return nil
	})
	return known, err
}

// addSpans counts the items and adds the series of finished ones.
func (p *knownPlan) addSpans(items []plan.Item, done map[string]run.Run) {
	groups := map[string]bool{}
	for _, it := range items {
		groups[it.ParentID] = true
	}
	var series *prompt.AnchorSpan // the one that the item before belongs to, or nil
	wasProven := false
	for _, it := range items {
		if groups[it.ID] {
			continue
		}
		p.Total++
		r, is := done[it.ID]
		if !is {
			series = nil
			continue
		}
		p.Done++
		proven := r.ID != "" && r.Proof.State() == proof.Proven
		if series == nil || proven != wasProven {
			list := &p.Said
			if proven {
				list = &p.Proven
			}
			*list = append(*list, prompt.AnchorSpan{First: it.ID})
			series, wasProven = &(*list)[len(*list)-1], proven
		}
		series.Last = it.ID
		series.Count++
	}
}
