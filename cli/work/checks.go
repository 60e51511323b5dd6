package work

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"waybill/check"
	"waybill/schema"
)

// policy returns the policy of the runs that this process begins, or nil for the usual one.
func (h *host) policy() *schema.Policy {
	if len(h.o.Checks) == 0 {
		return nil
	}
	p := &schema.Policy{}
	for _, c := range h.o.Checks {
		p.RequireChecks = append(p.RequireChecks, c.Name)
	}
	return p
}

// lacks reports whether a run does not require a check of this process.
func (h *host) lacks(r schema.Run) bool {
	return slices.ContainsFunc(h.o.Checks, func(c check.Check) bool { return !slices.Contains(r.Policy.RequireChecks, c.Name) })
}

// named returns the check with a name.
func (h *host) named(name string) (check.Check, bool) {
	i := slices.IndexFunc(h.o.Checks, func(c check.Check) bool { return c.Name == name })
	if i < 0 {
		return check.Check{}, false
	}
	return h.o.Checks[i], true
}

// runChecks runs the due checks of the run, alone, and reports them. An error says why the run cannot go on.
func (j *itemRunner) runChecks(ctx context.Context, due step) error {
	for _, name := range strings.Split(due.checks, ",") {
		if _, ok := j.named(name); !ok {
			return fmt.Errorf("its run requires check %q, which has no command here: start this again with --check '%s=COMMAND'", name, name)
		}
	}
	if !j.slots.acquire(j.claiming, false) {
		return nil
	}
	defer j.slots.release()
	var changed []string
	for _, name := range strings.Split(due.checks, ",") {
		c, _ := j.named(name)
		j.tell(Event{Kind: Checking, Plan: j.plan, ItemID: j.item, RunID: j.run.RunID, Message: c.Command})
		r, err := check.Run(ctx, j.o.Dir, c)
		if err != nil {
			return nil // the work is ended; the run waits for its checks
		}
		r.Runner, r.Round = "waybill work", &due.round
		p := schema.ReportCheckParams{RunID: j.run.RunID, CheckRun: r, Keyed: schema.Keyed{IdempotencyKey: "check-" + uuid.NewString()}}
		var answer schema.ReportCheckResult
		if err := j.callWithRetry(context.WithoutCancel(ctx), "report_check", p, &answer); err != nil {
			return err
		}
		if r.TreeBefore != r.TreeAfter {
			changed = append(changed, name)
		}
		j.tell(Event{
			Kind: Checked, Plan: j.plan, ItemID: j.item, RunID: j.run.RunID, Check: name, Verdict: r.Outcome, TookMS: r.DurationMS,
			Next: answer.NextAction, Message: failureOf(r),
		})
	}
	after, err := j.next(context.WithoutCancel(ctx))
	if err == nil && after == due {
		err = fmt.Errorf("check %s changes files while it runs, so its outcome belongs to no files: have git ignore what it writes",
			strings.Join(changed, ", "))
	}
	return err
}

// failureOf says how a check failed, with the last line of its output.
func failureOf(r schema.CheckRun) string {
	if r.Outcome == "green" {
		return ""
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
	if len(a.o.Checks) == 0 || a.claim.Task.Role == "worker" {
		return ""
	}
	tree, _ := check.Tree(ctx, a.o.Dir) // without one, the checks run again
	return tree
}

// proven counts the items of the plan whose last run was approved, and those of them that are proven.
func (w *walk) proven(ctx context.Context) (approved, proven int, err error) {
	seen := map[string]bool{}
	p := schema.ListRunsParams{Plan: w.plan}
	for {
		var page schema.RunList
		if err := w.callUntilDone(ctx, "list_runs", p, &page); err != nil {
			return 0, 0, err
		}
		for _, r := range page.Items { // the newest first
			if !seen[r.ItemID] && r.State == "done" {
				approved++
				if r.Proof.State == stateProven {
					proven++
				}
			}
			seen[r.ItemID] = true
		}
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			return approved, proven, nil
		}
	}
}

// stateProven is the state of the proof of a run whose required checks are green.
const stateProven = "proven"
