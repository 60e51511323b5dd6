package engine

import (
	"context"
	"errors"
	"time"

	"waybill/core"
	"waybill/ledger"
	"waybill/store"
)

// StartRun starts the run of an item, or gives the live one that there is already, or the one in which the item
// was approved, unless a new one is asked for. created reports which.
func (tx *Tx) StartRun(progress ledger.ProgressLedger, policy core.Policy, renew bool) (run core.Run, created bool, err error) {
	live, ok, err := tx.LatestRun(progress.Plan, progress.ItemID)
	switch {
	case err != nil:
		return run, false, err
	case ok && !renew && (live.Live() || live.State == core.RunDone && ledger.SameItem(live.Frontier, progress.CurrentItem)):
		return live, false, nil
	case ok && live.Live():
		if err := tx.withdraw(live, "was superseded", core.StatusQueued, core.StatusBlocked, core.StatusAwaiting, core.StatusRunning); err != nil {
			return run, false, err
		}
		next, effects := live.Supersede(tx.now)
		if err := tx.saveRun(next, effects, RunRecord{}); err != nil {
			return run, false, err
		}
	}
	frontier := ledger.Frontier(progress.CurrentItem, nil)
	run, effects := core.StartRun(tx.engine.o.NewID("run_"), progress.Plan, progress.ItemID, frontier, policy, tx.now)
	task := ledger.NewTaskLedger(run.ID, run.ItemID).Counted(counts(run))
	if err := tx.saveRun(run, effects, RunRecord{}); err != nil {
		return run, false, err
	}
	facts := append(ledger.TaskFacts(task), ledger.ProgressFacts(progress)...)
	return run, true, tx.PutFacts(run.ID, stored(facts))
}

// reread replaces the facts of a run that come from its plan by those of the view, and gives both as they are then.
// It changes nothing if another process was faster.
func (tx *Tx) reread(v RunView) (core.Run, []ledger.Fact, error) {
	run, facts, err := tx.loadRun(v.Run.ID)
	before := ledger.SourceHash(facts)
	if err != nil || before == v.Progress.Fingerprint.Hash {
		return run, facts, err
	}
	tx.account.rebuilt = rebuildFor(before, v)
	run, effects := run.Reread(tx.now)
	if err := tx.saveRun(run, effects, RunRecord{}); err != nil {
		return run, nil, err
	}
	facts = ledger.Renew(facts, ledger.ProgressFacts(v.Progress))
	return run, facts, tx.PutFacts(run.ID, stored(facts))
}

func (tx *Tx) loadRun(id string) (core.Run, []ledger.Fact, error) { return loadRun(tx.Tx, id) }

func loadRun(tx store.Tx, id string) (core.Run, []ledger.Fact, error) {
	run, ok, err := tx.Run(id)
	if err != nil {
		return run, nil, err
	}
	if !ok {
		return run, nil, core.Missing("run", id)
	}
	facts, err := tx.Facts(id)
	return run, loaded(facts), err
}

func stored(facts []ledger.Fact) []store.Fact {
	out := make([]store.Fact, len(facts))
	for i, f := range facts {
		out[i] = store.Fact(f)
	}
	return out
}

func loaded(facts []store.Fact) []ledger.Fact {
	out := make([]ledger.Fact, len(facts))
	for i, f := range facts {
		out[i] = ledger.Fact(f)
	}
	return out
}

// A RunView is a run together with its ledgers, as they are now.
type RunView struct {
	Run      core.Run
	Task     ledger.TaskLedger
	Progress ledger.ProgressLedger
	// Plan is what the plan says, or said last; nil if nobody knows.
	Plan *ledger.Reading
	// Gone, if not nil, is the *ledger.ItemError for an item that the plan does not have any more.
	// Then Progress has no current item, and nobody is to be asked to work on it.
	Gone error
	// Rebuilt reports whether the plan was read anew for this view.
	Rebuilt bool
	// Fallback, if not empty, says why Progress is not what the file says now; Fault is the error, and Since when
	// this process first found that the plan cannot be read as it is.
	Fallback string
	Fault    error
	Since    time.Time
	unstored bool        // whether the facts of the view are still to be stored
	turn     int64       // of the reading; a later one has a higher one
	tip      store.Point // of the log when the run was read
}

// A Stamp names what a view says. Stamps can be compared.
type Stamp struct {
	run     string
	tip     store.Point // Every change of a run leaves an event.
	reading *ledger.Reading
}

// Stamp names the view: views of one engine with the same stamp say the same. There is none of a view that is about to
// change or may: of one whose facts are still to be stored, whose item is gone, or whose plan cannot be read.
func (v *RunView) Stamp() (Stamp, bool) {
	if v.unstored || v.Gone != nil || v.Fallback != "" || v.Plan == nil {
		return Stamp{}, false
	}
	return Stamp{run: v.Run.ID, tip: v.tip, reading: v.Plan}, true
}

// Look gives a run with its ledgers. The plan file is checked; if it reads differently than the
// stored facts say, the facts are renewed first. If it cannot be read, the view is made from what
// was read last by any process, and says so.
func (e *Engine) Look(ctx context.Context, id string) (RunView, error) {
	v, err := e.view(ctx, id)
	if err != nil || !v.unstored {
		return v, err
	}
	return e.awaited(ctx, v)
}

// awaited gives a view once its facts are stored.
func (e *Engine) awaited(ctx context.Context, v RunView) (RunView, error) {
	type outcome struct {
		run core.Run
		err error
	}
	stored := make(chan outcome, 1)
	e.renew(v, func(run core.Run, err error) { stored <- outcome{run, err} })
	unless := ctx.Done()
	for {
		select {
		case o := <-stored:
			v.Run = o.run
			return v, o.err
		case <-unless:
			if !errors.Is(context.Cause(ctx), ErrHurry) {
				return v, context.Cause(ctx)
			}
			unless = nil // nobody is to wait for long, but it is on its way already
		}
	}
}

// Peek is Look for a caller to whom the facts matter and not whether they are stored yet: it does
// not wait for the disk. They are stored soon after. That an item is gone is an answer for good, and waits.
func (e *Engine) Peek(ctx context.Context, id string) (RunView, error) {
	v, err := e.view(ctx, id)
	switch {
	case err != nil || !v.unstored:
		return v, err
	case v.Gone != nil:
		return e.awaited(ctx, v)
	}
	fresh := e.renew(v, func(core.Run, error) {})
	v.Rebuilt = v.Rebuilt && fresh
	return v, nil
}

// view makes the view of a run.
func (e *Engine) view(ctx context.Context, id string) (RunView, error) {
	known, err := e.stored(ctx, id)
	if err != nil {
		return RunView{Run: known.run}, err
	}
	v, facts := known.view(), known.facts
	plan, err := e.readPlan(ctx, v.Run.Plan, facts)
	v.turn, v.Plan = plan.turn, plan.Reading
	if err != nil {
		if plan.unannounced {
			e.announcePlan(ctx, plan.Path)
		}
		v.Fallback, v.Fault, v.Since = staleness(err), err, plan.Since
		return v, v.recall(facts)
	}
	v.Fallback, v.Fault, v.Since = plan.Stale, plan.Fault, plan.Since
	if plan.Stale != "" && !e.leads(ctx, plan, known) && v.recall(facts) == nil {
		if plan.unannounced {
			e.announcePlan(ctx, plan.Path)
		}
		return v, nil
	}
	v.unstored = known.source != plan.Reading.Hash
	v.Rebuilt = v.unstored && plan.Stale == ""
	if plan.unannounced && !v.unstored {
		e.announcePlan(ctx, plan.Path)
	}
	if known.reading == plan.Reading {
		v.Progress = known.progress
		return v, nil
	}
	v.take(plan.Reading)
	if v.Gone == nil {
		known.reading, known.progress = plan.Reading, v.Progress
		e.keep(id, known)
	}
	return v, nil
}

// leads reports whether the last good reading of this process is the newest that any process had of a plan. What
// the store has on record decides, and not the time of the file, which another file in its place may have an older one
// than. A reading that nobody has recorded yet leads if nobody has recorded another one since.
func (e *Engine) leads(ctx context.Context, plan Plan, known storedRun) bool {
	hash := plan.Reading.Hash
	if known.source == hash {
		return true
	}
	var last LedgerEvent
	var seq int64
	err := e.View(ctx, func(tx store.Tx) (err error) {
		last, seq, err = lastLedger(tx, plan.Path, 0)
		return err
	})
	return err == nil && (last.Hash == hash || plan.unsaid && (seq <= plan.said.seq || last.Hash == plan.said.Hash))
}

// take makes the view from a reading. If the item is gone from the plan, so are the facts about it,
// and no later prompt can be made from them.
func (v *RunView) take(r *ledger.Reading) {
	v.Progress, v.Gone = ledger.Progress(r, v.Run.Plan, v.Run.Plan, v.Run.ItemID)
	if v.Gone != nil {
		v.Progress = ledger.ProgressLedger{
			Plan: v.Run.Plan, ItemID: v.Run.ItemID, SourcePath: v.Run.Plan,
			Fingerprint: r.Fingerprint, Dialect: r.Dialect, Totals: r.Totals, ActiveItemID: r.Active(),
		}
	}
}

// recall makes the view from the stored facts.
func (v *RunView) recall(facts []ledger.Fact) (err error) {
	v.Progress, err = ledger.ParseProgressFacts(facts)
	if err == nil && v.Progress.CurrentItem == nil {
		v.Gone = &ledger.ItemError{Plan: v.Run.Plan, ItemID: v.Run.ItemID}
	}
	return err
}

// A storedRun is what the store said about a run when the log had that tip.
type storedRun struct {
	tip    store.Point
	run    core.Run
	task   ledger.TaskLedger
	facts  []ledger.Fact
	source string       // the hash of the plan that the facts are from
	at     store.Moment // since which nothing was committed, if timed
	timed  bool

	reading  *ledger.Reading // of the plan that was looked at last; nil if its item was gone
	progress ledger.ProgressLedger
}

func (r storedRun) view() RunView { return RunView{Run: r.run, Task: r.task, tip: r.tip} }

// stored gives the run and its task ledger. Every change of a run leaves an event, so that what was read before is
// still true while the tip of the log is the same; and that is, while nothing was committed.
func (e *Engine) stored(ctx context.Context, id string) (storedRun, error) {
	e.mu.Lock()
	last := e.runs[id]
	e.mu.Unlock()
	now, known := e.moment() // before the store is read: what is read may be newer, and never older
	if known && last.timed && last.at == now {
		return last, nil
	}
	err := e.View(ctx, func(tx store.Tx) error {
		now, err := tx.Tip()
		if err != nil || (now == last.tip && last.run.ID != "") {
			return err
		}
		last = storedRun{tip: now}
		last.run, last.facts, err = loadRun(tx, id)
		return err
	})
	if err != nil {
		return storedRun{}, err
	}
	if last.task.RunID == "" {
		last.source = ledger.SourceHash(last.facts)
		if last.task, err = ledger.ParseTaskFacts(id, last.run.ItemID, last.facts); err != nil {
			return last, err
		}
	}
	last.at, last.timed = now, known
	e.keep(id, last)
	return last, nil
}

// moment names the contents of the store, if it is open and can tell.
func (e *Engine) moment() (store.Moment, bool) {
	select {
	case <-e.opened:
	default:
		return store.Moment{}, false
	}
	m, ok := e.st.(store.Moments)
	if !ok {
		return store.Moment{}, false
	}
	return m.Moment()
}

// maxRuns bounds the runs that are kept in memory; there are rarely more than a few under way.
const maxRuns = 256

func (e *Engine) keep(id string, r storedRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.runs) >= maxRuns {
		clear(e.runs)
	}
	e.runs[id] = r
}
