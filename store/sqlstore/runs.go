package sqlstore

import (
	"bytes"

	"waybill/core"
	"waybill/core/run"
	"waybill/store"
)

const (
	runColumns = `number, id, plan, item_id, state, invalid_retries, reviewer_fresh_runs, worker_failures_max,
		review_rejections_max, stalled_threshold, review_loop_threshold, invalid_worker, invalid_spec, invalid_quality,
		worker_failures, review_rejections, stalled, review_loop, check_failures_max, check_failures, plan_version, revision, created_at, updated_at,
		halt, reviewers, standing_worker, standing_spec, standing_quality, naming, findings_spec, findings_quality, frontier,
		result_form, require_key, proof, sum`

	selectRun       = "SELECT " + runColumns + " FROM runs WHERE runs.workspace = :w AND id = ?"
	selectLatestRun = "SELECT " + runColumns + " FROM runs WHERE runs.workspace = :w AND plan = ? AND item_id = ? ORDER BY number DESC LIMIT 1"
	runValues       = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
	insertRun       = "INSERT INTO runs (workspace, " + runColumns + ") VALUES (:w, " + runValues + ")"
	updateRun       = "UPDATE runs SET (" + runColumns + ") = (" + runValues + ") WHERE runs.workspace = :w AND id = ?"

	factColumns = "run_id, key, value, sum"
	selectFacts = "SELECT " + factColumns + " FROM facts WHERE facts.workspace = :w AND run_id = ? ORDER BY key"
	insertFact  = "INSERT INTO facts (workspace, " + factColumns + ") VALUES (:w, ?, ?, ?, ?)"
)

// numbersOf returns the integers of a run in the order of their columns.
func numbersOf(run run.Run) [19]int64 {
	p, n := run.Policy, run.Counters
	return [...]int64{
		int64(p.InvalidRetries), int64(p.ReviewerFreshRuns), int64(p.WorkerFailures),
		int64(p.ReviewRejections), int64(p.StalledThreshold), int64(p.ReviewLoopThreshold),
		int64(n.InvalidResults[0]), int64(n.InvalidResults[1]), int64(n.InvalidResults[2]),
		int64(n.WorkerFailures), int64(n.ReviewRejections), int64(n.Stalled), int64(n.ReviewLoop),
		int64(p.CheckFailures), int64(n.CheckFailures),
		int64(run.PlanVersion), run.Revision, int64(run.CreatedAt), int64(run.UpdatedAt),
	}
}

// takeRun takes runColumns and checks them against their sum.
func takeRun(r *Row, buf *encoder) (number int64, itemRun run.Run, err error) {
	number, itemRun.ID, itemRun.Plan, itemRun.ItemID = r.Integer(), r.Text(), r.Text(), r.Text()
	itemRun.State = run.State(r.Text())
	next := func() int { return int(r.Integer()) }
	itemRun.Policy = run.Policy{
		InvalidRetries: next(), ReviewerFreshRuns: next(), WorkerFailures: next(),
		ReviewRejections: next(), StalledThreshold: next(), ReviewLoopThreshold: next(),
	}
	itemRun.Counters = run.Counters{
		InvalidResults: [core.Roles]int{next(), next(), next()},
		WorkerFailures: next(), ReviewRejections: next(), Stalled: next(), ReviewLoop: next(),
	}
	itemRun.Policy.CheckFailures, itemRun.Counters.CheckFailures = next(), next()
	itemRun.PlanVersion, itemRun.Revision = next(), r.Integer()
	itemRun.CreatedAt, itemRun.UpdatedAt = core.Instant(r.Integer()), core.Instant(r.Integer())
	stands := takeLateColumns(r, &itemRun)
	sum := r.blob()
	*buf = buf.run(number, itemRun).columns(stands)
	if r.err != nil || !bytes.Equal(sum, buf.sum()) {
		return number, itemRun, Damaged("run " + itemRun.ID)
	}
	return number, itemRun, nil
}

func (t *Tx) Run(id string) (run run.Run, ok bool, err error) {
	err = t.get(func() error {
		_, run, ok, err = t.run(selectRun, id)
		return err
	})
	return run, ok, err
}

func (t *Tx) LatestRun(plan, itemID string) (run run.Run, ok bool, err error) {
	err = t.get(func() error {
		_, run, ok, err = t.run(selectLatestRun, plan, itemID)
		return err
	})
	return run, ok, err
}

func (t *Tx) run(text string, args ...any) (number int64, run run.Run, ok bool, err error) {
	err = t.c.Query(func(r *Row) error {
		number, run, err = takeRun(r, &t.buf)
		ok = err == nil
		return err
	}, text, args...)
	return number, run, ok, err
}

func (t *Tx) PutRun(run run.Run) error {
	return t.put(func() error {
		number, _, ok, err := t.run(selectRun, run.ID)
		if err != nil {
			return err
		}
		if ok {
			_, err = t.c.Exec(updateRun, append(runArgs(number, run, &t.buf), run.ID)...)
		} else {
			err = t.createRun(run)
		}
		if err == nil {
			t.writes++
		}
		return err
	})
}

func (t *Tx) createRun(run run.Run) error {
	last, err := Number(t.c, "SELECT coalesce(max(number), 0) FROM runs WHERE runs.workspace = :w")
	if err != nil {
		return err
	}
	_, err = t.c.Exec(insertRun, runArgs(last+1, run, &t.buf)...)
	return err
}

// runArgs returns the values of runColumns.
func runArgs(number int64, run run.Run, buf *encoder) []any {
	args := []any{number, run.ID, run.Plan, run.ItemID, string(run.State)}
	for _, n := range numbersOf(run) {
		args = append(args, n)
	}
	stands := lateColumns(run)
	*buf = buf.run(number, run).columns(stands)
	return append(append(args, stands...), buf.sum())
}

func (t *Tx) RunCounts() (counts map[run.State]int, err error) {
	err = t.get(func() error {
		counts = make(map[run.State]int)
		for _, state := range run.States() {
			counts[state] = 0
		}
		return t.c.Query(func(r *Row) error {
			state := run.State(r.Text())
			counts[state] = int(r.Integer())
			return r.err
		}, "SELECT state, count(*) FROM runs WHERE runs.workspace = :w GROUP BY state")
	})
	return counts, err
}

func (t *Tx) Facts(runID string) (facts []store.Fact, err error) {
	err = t.get(func() error {
		return t.c.Query(func(r *Row) error {
			_, f, err := takeFact(r, &t.buf)
			facts = append(facts, f)
			return err
		}, selectFacts, runID)
	})
	if err != nil {
		return nil, err
	}
	return facts, nil
}

func takeFact(r *Row, buf *encoder) (runID string, f store.Fact, err error) {
	runID, f.Key, f.Value = r.Text(), r.Text(), r.Text()
	sum := r.blob()
	*buf = buf.fact(runID, f)
	if r.err != nil || !bytes.Equal(sum, buf.sum()) {
		return runID, f, Damaged("fact " + f.Key + " of run " + runID)
	}
	return runID, f, nil
}

func (t *Tx) PutFacts(runID string, facts []store.Fact) error {
	return t.put(func() error {
		if err := t.factsAllowed(runID, facts); err != nil {
			return err
		}
		left, err := t.makeRoom(runID, facts)
		if err != nil {
			return err
		}
		for _, f := range facts {
			if _, there := left[f.Key]; there {
				continue
			}
			if err := t.insertFact(runID, f); err != nil {
				return err
			}
		}
		t.writes++
		return nil
	})
}

// makeRoom deletes the facts of a run that differ from the given ones, and returns the values of the remaining ones.
// Few facts change at a time, and unchanged ones cost no page. If one fact is damaged, makeRoom deletes all.
func (t *Tx) makeRoom(runID string, facts []store.Fact) (left map[string]string, err error) {
	wanted := make(map[string]string, len(facts))
	for _, f := range facts {
		wanted[f.Key] = f.Value
	}
	left = make(map[string]string, len(facts))
	var gone []string
	broken := false
	err = t.c.Query(func(r *Row) error {
		_, f, err := takeFact(r, &t.buf)
		broken = broken || err != nil
		if value, ok := wanted[f.Key]; ok && value == f.Value {
			left[f.Key] = f.Value
		} else {
			gone = append(gone, f.Key)
		}
		return nil
	}, selectFacts, runID)
	if err != nil {
		return nil, err
	}
	if broken {
		_, err := t.c.Exec("DELETE FROM facts WHERE facts.workspace = :w AND run_id = ?", runID)
		return nil, err
	}
	for _, key := range gone {
		if _, err := t.c.Exec("DELETE FROM facts WHERE facts.workspace = :w AND run_id = ? AND key = ?", runID, key); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func (t *Tx) insertFact(runID string, f store.Fact) error {
	t.buf = t.buf.fact(runID, f)
	_, err := t.c.Exec(insertFact, runID, f.Key, f.Value, t.buf.sum())
	return err
}

// factsAllowed looks before anything is deleted, so that a refusal leaves the facts as they are.
func (t *Tx) factsAllowed(runID string, facts []store.Fact) error {
	keys := make(map[string]bool, len(facts))
	for _, f := range facts {
		if keys[f.Key] {
			return refuse("put facts of run %s: the key %q is given twice", runID, f.Key)
		}
		keys[f.Key] = true
	}
	n, err := Number(t.c, "SELECT count(*) FROM runs WHERE runs.workspace = :w AND id = ?", runID)
	if err == nil && n == 0 {
		return refuse("put facts: there is no run %q", runID)
	}
	return err
}
