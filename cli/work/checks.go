package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"waybill/check"
	"waybill/check/config"
	"waybill/cli/output"
	"waybill/core/audit"
	"waybill/core/proof"
	"waybill/schema"
)

// policy returns the policy of the runs that this process begins, or nil for the usual one.
func (h *host) policy() *schema.Policy {
	if len(h.required) == 0 && h.o.Facts == "" {
		return nil
	}
	return &schema.Policy{RequireChecks: h.required, Facts: string(h.o.Facts)}
}

// differs reports whether a run does not require a check of this process, or uses facts in another way than a person asked for.
func (h *host) differs(r schema.Run) bool {
	lacks := slices.ContainsFunc(h.required, func(name string) bool { return !slices.Contains(r.Policy.RequireChecks, name) })
	return lacks || h.o.FactsAsked && (h.o.Facts == FactsRequire) != requiresFacts(r)
}

// runChecks runs the due checks of the run, alone, and reports them. An error says why the run cannot go on.
func (j *itemRunner) runChecks(ctx context.Context, due step) error {
	names := strings.Split(due.checks, ",")
	for _, name := range names {
		if _, _, known := j.o.Checks.Command(name); !known {
			return fmt.Errorf("its run requires check %q, which has no command here: declare it in %s, or start this again with --check '%s=COMMAND'", name, config.Name, name)
		}
	}
	if !j.slots.acquire(j.claiming, false) {
		return nil
	}
	defer j.slots.release()
	var changed []string
	for _, name := range names {
		r, err := j.runCheck(ctx, j.run, j.item, name)
		if ctx.Err() != nil {
			return nil // the work is ended; the run waits for its checks
		}
		if err != nil {
			return err
		}
		if r.TreeBefore != r.TreeAfter {
			changed = append(changed, name)
		}
	}
	after, err := j.next(context.WithoutCancel(ctx))
	if err == nil && after == due {
		err = fmt.Errorf("check %s changes files while it runs, so its outcome belongs to no files: have git ignore what it writes",
			strings.Join(changed, ", "))
	}
	return err
}

// runCheck runs a check and reports it for a run. item is "" for a check of the plan; without any run, there is no receipt.
func (w *walk) runCheck(ctx context.Context, run schema.Run, item, name string) (schema.CheckRun, error) {
	if line, runs, _ := w.o.Checks.Command(name); runs {
		w.tell(Event{Kind: Checking, Plan: w.plan, ItemID: item, RunID: run.RunID, Message: line})
	}
	r, err := w.o.Checks.Run(ctx, run, name)
	if err != nil {
		return r, err
	}
	var answer schema.ReportCheckResult
	if run.RunID != "" {
		if err := w.callWithRetry(context.WithoutCancel(ctx), "report_check", w.o.Checks.Params(run, r), &answer); err != nil {
			return r, err
		}
	}
	if item == "" {
		answer.NextAction = "" // that of a run which is done already
	}
	w.tell(Event{
		Kind: Checked, Plan: w.plan, ItemID: item, RunID: run.RunID, Check: name, Verdict: r.Outcome, TookMS: r.DurationMS,
		Next: answer.NextAction, Message: failureOf(r),
	})
	return r, nil
}

// runPlanChecks runs the checks of the plan after its last item, and returns a sentence if they do not allow its completion.
// Their receipts are kept with the approved run that began last.
func (w *walk) runPlanChecks(ctx context.Context, last schema.Run) (why string, err error) {
	var failed []string
	for _, name := range w.o.Checks.Required(config.PerPlan) {
		if w.closing() {
			return "its items are done, but its checks have not run", nil
		}
		r, err := w.runCheck(ctx, last, "", name)
		switch {
		case ctx.Err() != nil:
			return "its items are done, but its checks have not run", nil
		case err != nil:
			return "", err
		case r.Outcome != proof.Green.String():
			failed = append(failed, name+" ("+r.Outcome+")")
		}
	}
	if len(failed) > 0 {
		why = "its items are done, but these checks of the plan are not green: " + strings.Join(failed, ", ")
	}
	return why, nil
}

// failureOf says how a check failed, with the last line of its output.
func failureOf(r schema.CheckRun) string {
	if r.Outcome == proof.Green.String() {
		return ""
	}
	if r.Outcome != proof.Red.String() {
		return r.Reason
	}
	how := r.Reason
	if r.ExitCode != nil {
		how = fmt.Sprintf("exit status %d", *r.ExitCode)
	}
	output := strings.TrimSpace(r.Output)
	if last := output[strings.LastIndexByte(output, '\n')+1:]; last != "" {
		how += ": " + last
	}
	return how
}

// tree returns the tree of the present files for the result of a reviewer, or "" if the run has no checks.
func (a *attempt) tree(ctx context.Context) string {
	if len(a.required) == 0 && !a.looks() || a.claim.Task.Role == "worker" {
		return ""
	}
	tree, _ := check.Tree(ctx, a.o.Dir) // without one, the checks run again
	return tree
}

// proven returns the items of the plan whose last run was approved, and counts those of them that are proven. last is the approved
// run that began last.
func (w *walk) proven(ctx context.Context) (approved map[string]bool, proven int, last schema.Run, err error) {
	seen, approved := map[string]bool{}, map[string]bool{}
	p := schema.ListRunsParams{Plan: w.plan}
	for {
		var page schema.RunList
		if err := w.callUntilDone(ctx, "list_runs", p, &page); err != nil {
			return nil, 0, last, err
		}
		for _, r := range page.Items { // the newest first
			if !seen[r.ItemID] && r.State == "done" {
				approved[r.ItemID] = true
				if r.Proof.State == stateProven {
					proven++
				}
				if last.RunID == "" {
					last = r
				}
			}
			seen[r.ItemID] = true
		}
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			return approved, proven, last, nil
		}
	}
}

// stateProven is the state of the proof of a run whose required checks are green.
const stateProven = "proven"

// Facts says what the facts of a worker's result count for: whether the commits and files that it names are there.
type Facts string

// The uses of facts.
const (
	FactsOff     Facts = "off"
	FactsWarn    Facts = "warn"    // a receipt says whether they hold
	FactsRequire Facts = "require" // an item is done only if they hold
)

// usesOfFacts lists the uses of facts.
var usesOfFacts = []Facts{FactsRequire, FactsWarn, FactsOff}

// useFacts decides what facts count for: the flag, the settings, or else require. Where git cannot be asked, facts count for
// nothing, and a person who asked for them is told.
func (a commands) useFacts(ctx context.Context, f *workFlags) error {
	f.Facts, f.FactsAsked = Facts(cmp.Or(f.facts, a.Settings.Policy.Facts, string(FactsRequire))), f.facts != ""
	if f.Facts == FactsOff {
		return nil
	}
	err := check.CanLook(ctx, f.Dir)
	switch {
	case err == nil:
		return nil
	case f.FactsAsked:
		return output.UsageError(fmt.Errorf("--facts %s: git cannot show the facts of results in %s: %w", f.facts, f.Dir, err))
	case !errors.Is(err, check.ErrNoRepository):
		a.tellOfWork(Event{Kind: Trouble, Plan: f.plan, Message: "the facts of results count for nothing, because git cannot show them: " + err.Error()})
	}
	f.Facts = FactsOff
	return nil
}

// looks reports whether this process looks at facts.
func (h *host) looks() bool { return h.o.Facts == FactsWarn || h.o.Facts == FactsRequire }

// requiresFacts reports whether a run requires its facts.
func requiresFacts(r schema.Run) bool { return slices.Contains(r.Policy.RequireChecks, proof.Facts) }

// describeStart puts the state of the workspace into the params of a new run. A run that replaces one has its start, because the
// work of that one is there.
func (j *itemRunner) describeStart(ctx context.Context, p *schema.InitRunParams) error {
	if !j.looks() {
		return nil
	}
	start := check.Begin(ctx, j.o.Dir)
	if p.Resume == "new" {
		before, err := j.o.Checks.Start(ctx, j.run.RunID)
		if err != nil {
			return err
		}
		if before != (audit.Start{}) {
			start = before
		}
	}
	p.Commit, p.Tree = start.Commit, start.Tree
	return nil
}

// warnOfFacts records the facts of a result of a worker that a run does not require.
func (j *itemRunner) warnOfFacts(ctx context.Context, round int) error {
	if j.o.Facts != FactsWarn || j.run.Proof.Round == round || requiresFacts(j.run) {
		return nil
	}
	_, err := j.runCheck(ctx, j.run, j.item, proof.Facts)
	return err
}
