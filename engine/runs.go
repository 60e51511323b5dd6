package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"waybill/core/audit"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/engine/commit"
	"waybill/ledger"
	"waybill/plan"
	"waybill/store"
)

// StartRun starts the run of an item. Unless renew is set, it returns the live run, or the one in which the item was
// approved. start is the state of the workspace, as far as the host knows it. created reports whether the run is new.
func (tx *Tx) StartRun(progress ledger.ProgressLedger, policy run.Policy, start audit.Start, renew bool) (r run.Run, created bool, err error) {
	live, ok, err := tx.LatestRun(progress.Plan, progress.ItemID)
	switch {
	case err != nil:
		return r, false, err
	case ok && !renew && (live.Live() || live.State == run.Done && ledger.SameItem(live.Frontier, progress.CurrentItem)):
		return live, false, nil
	case ok && live.Live():
		if err := tx.withdraw(live, "was superseded", task.StatusQueued, task.StatusBlocked, task.StatusAwaiting, task.StatusRunning); err != nil {
			return r, false, err
		}
		next, effects := live.Supersede(tx.now)
		if err := tx.saveRun(next, effects, RunRecord{}); err != nil {
			return r, false, err
		}
	}
	frontier := ledger.Frontier(progress.CurrentItem, nil)
	r, effects := run.Start(tx.engine.o.NewID("run_"), progress.Plan, progress.ItemID, frontier, policy, tx.now)
	task := ledger.NewTaskLedger(r.ID, r.ItemID).Counted(counts(r))
	if err := tx.saveRun(r, effects, RunRecord{Start: start}); err != nil {
		return r, false, err
	}
	return r, true, tx.PutFacts(r.ID, append(ledger.TaskFacts(task), ledger.ProgressFacts(progress)...))
}

// replacePlanFacts replaces the facts of a run that come from its plan. It changes nothing if another process already
// did.
func (tx *Tx) replacePlanFacts(v RunView) (run.Run, []ledger.Fact, error) {
	run, facts, err := tx.loadRun(v.Run.ID)
	before := ledger.SourceHash(facts)
	if err != nil || before == v.Progress.Fingerprint.Hash {
		return run, facts, err
	}
	tx.stats.rebuilt = rebuildFor(before, v)
	run, effects := run.Reread(tx.now)
	if err := tx.saveRun(run, effects, RunRecord{}); err != nil {
		return run, nil, err
	}
	facts = ledger.Renew(facts, ledger.ProgressFacts(v.Progress))
	return run, facts, tx.PutFacts(run.ID, facts)
}

func (tx *Tx) loadRun(id string) (run.Run, []ledger.Fact, error) { return loadRun(tx.Tx, id) }

func loadRun(tx store.Tx, id string) (run.Run, []ledger.Fact, error) {
	run, err := found("run", id, tx.Run)
	if err != nil {
		return run, nil, err
	}
	facts, err := tx.Facts(id)
	return run, facts, err
}

// A RunView is the current state of a run together with its ledgers.
type RunView struct {
	Run      run.Run
	Task     ledger.TaskLedger
	Progress ledger.ProgressLedger
	Rounds   Rounds
	// Plan is the last good reading of the plan, or nil.
	Plan *plan.Reading
	// Gone is the *plan.ItemError if the plan no longer has the item. Progress then has no current item, and no agent
	// should work on it.
	Gone error
	// Rebuilt reports whether the facts were rebuilt from the plan for this view.
	Rebuilt bool
	// Fallback, if not empty, says why Progress does not show the current file. Fault is the error, and Since is when
	// this process first found the plan unreadable.
	Fallback string
	Fault    error
	Since    time.Time
	unstored bool        // the facts of the view must be stored
	readNo   int64       // increases with each reading
	tip      store.Point // of the log when the run was read
}

// A Stamp identifies the contents of a view. Stamps can be compared.
type Stamp struct {
	run     string
	tip     store.Point // every change of a run appends an event
	reading *plan.Reading
}

// Stamp returns the stamp of the view: views of one engine with equal stamps are equal. A view that may still change
// has none: its facts are not stored, its item is gone, or its plan is unreadable.
func (v *RunView) Stamp() (Stamp, bool) {
	if v.unstored || v.Gone != nil || v.Fallback != "" || v.Plan == nil {
		return Stamp{}, false
	}
	return Stamp{run: v.Run.ID, tip: v.tip, reading: v.Plan}, true
}

// Look returns a run with its ledgers. It reads the plan, and stores the facts of the run if the plan changed. If the
// plan is unreadable, the view shows the last reading of any process and says so.
func (e *Engine) Look(ctx context.Context, id string) (RunView, error) {
	v, err := e.view(ctx, id)
	if err != nil || !v.unstored {
		return v, err
	}
	return e.awaitStored(ctx, v)
}

// awaitStored returns a view once its facts are stored.
func (e *Engine) awaitStored(ctx context.Context, v RunView) (RunView, error) {
	type outcome struct {
		run run.Run
		err error
	}
	stored := make(chan outcome, 1)
	e.renew(v, func(run run.Run, err error) { stored <- outcome{run, err} })
	unless := ctx.Done()
	for {
		select {
		case o := <-stored:
			v.Run = o.run
			return v, o.err
		case <-unless:
			if !errors.Is(context.Cause(ctx), commit.ErrHurry) {
				return v, context.Cause(ctx)
			}
			unless = nil // the write was submitted, so wait for it anyway
		}
	}
}

// Peek is Look without waiting for the disk: the facts are stored soon after. It waits only to report a missing item,
// because that answer is final.
func (e *Engine) Peek(ctx context.Context, id string) (RunView, error) {
	v, err := e.view(ctx, id)
	switch {
	case err != nil || !v.unstored:
		return v, err
	case v.Gone != nil:
		return e.awaitStored(ctx, v)
	}
	fresh := e.renew(v, func(run.Run, error) {})
	v.Rebuilt = v.Rebuilt && fresh
	return v, nil
}

// view builds the view of a run.
func (e *Engine) view(ctx context.Context, id string) (RunView, error) {
	known, err := e.stored(ctx, id)
	if err != nil {
		return RunView{Run: known.run}, err
	}
	v, facts := known.view(), known.facts
	plan, err := e.readPlan(ctx, v.Run.Plan, facts)
	v.readNo, v.Plan = plan.readNo, plan.Reading
	if err != nil {
		if plan.unrecorded {
			e.recordPlanChanges(ctx, plan.Path)
		}
		v.Fallback, v.Fault, v.Since = staleness(err), err, plan.Since
		return v, v.setFacts(facts)
	}
	v.Fallback, v.Fault, v.Since = plan.Stale, plan.Fault, plan.Since
	if plan.Stale != "" && !e.isNewestReading(ctx, plan, known) && v.setFacts(facts) == nil {
		if plan.unrecorded {
			e.recordPlanChanges(ctx, plan.Path)
		}
		return v, nil
	}
	v.unstored = known.source != plan.Reading.Hash
	v.Rebuilt = v.unstored && plan.Stale == ""
	if plan.unrecorded && !v.unstored {
		e.recordPlanChanges(ctx, plan.Path)
	}
	if known.reading == plan.Reading {
		v.Progress = known.progress
		return v, nil
	}
	v.setReading(plan.Reading)
	if v.Gone == nil {
		known.reading, known.progress = plan.Reading, v.Progress
		e.cacheRead(known, known.tip)
	}
	return v, nil
}

// isNewestReading reports whether this process has the newest good reading of a plan. The store decides, because file
// times may go back when a file is replaced. An unrecorded reading is the newest if no other process recorded one since.
func (e *Engine) isNewestReading(ctx context.Context, plan Plan, known storedRun) bool {
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
	return err == nil && (last.Hash == hash || plan.aheadOfLog && (seq <= plan.logState.seq || slices.Contains(plan.ours, last.Hash)))
}

// setReading fills the view from a reading. If the item is gone, its facts are removed, so that no later prompt uses
// them.
func (v *RunView) setReading(r *plan.Reading) {
	v.Progress, v.Gone = ledger.Progress(r, v.Run.Plan, v.Run.Plan, v.Run.ItemID)
	if v.Gone != nil {
		v.Progress = ledger.ProgressLedger{
			Plan: v.Run.Plan, ItemID: v.Run.ItemID, SourcePath: v.Run.Plan,
			Fingerprint: r.Fingerprint, Dialect: r.Dialect, Totals: r.Totals, ActiveItemID: r.Active(),
		}
	}
}

// setFacts fills the view from the stored facts.
func (v *RunView) setFacts(facts []ledger.Fact) (err error) {
	v.Progress, err = ledger.ParseProgressFacts(facts)
	if err == nil && v.Progress.CurrentItem == nil {
		v.Gone = &plan.ItemError{Plan: v.Run.Plan, ItemID: v.Run.ItemID}
	}
	return err
}

// A storedRun is the stored state of a run at one end of the log.
type storedRun struct {
	tip    store.Point
	run    run.Run
	task   ledger.TaskLedger
	facts  []ledger.Fact
	rounds Rounds
	source string       // the source hash of the facts
	at     store.Moment // the store's moment at the time of reading, if timed
	timed  bool

	reading  *plan.Reading // the last reading; nil if the item was gone
	progress ledger.ProgressLedger
}

func (r storedRun) view() RunView {
	return RunView{Run: r.run, Task: r.task, Rounds: r.rounds, tip: r.tip}
}

// stored returns the run and its task ledger. Every change of a run appends an event, so the cache is valid while the
// log has the same end.
func (e *Engine) stored(ctx context.Context, id string) (storedRun, error) {
	e.mu.Lock()
	last := e.runs[id]
	e.mu.Unlock()
	cached := last.tip
	now, known := e.storeMoment() // read first, so that the run is never older
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
		if last.rounds, err = parseRounds(last.facts); err != nil {
			return last, err
		}
		if last.task, err = ledger.ParseTaskFacts(id, last.run.ItemID, last.facts); err != nil {
			return last, err
		}
	}
	last.at, last.timed = now, known
	e.cacheRead(last, cached)
	return last, nil
}

// storeMoment identifies the contents of the store, if the store supports it.
func (e *Engine) storeMoment() (store.Moment, bool) {
	if m, ok := e.changes.StoreIfOpen().(store.Moments); ok {
		return m.Moment()
	}
	return store.Moment{}, false
}

// maxRuns bounds the cached runs.
const maxRuns = 256

// cacheRead caches a run that was read, unless the cache changed since the caller saw it. A slow reader would otherwise
// put back the run from before the facts were stored, and the next view would store them again.
func (e *Engine) cacheRead(r storedRun, seen store.Point) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs[r.run.ID].tip == seen {
		e.cacheRun(r)
	}
}

// cacheRun caches a run. The caller holds e.mu.
func (e *Engine) cacheRun(r storedRun) {
	if len(e.runs) >= maxRuns {
		clear(e.runs)
	}
	e.runs[r.run.ID] = r
}
