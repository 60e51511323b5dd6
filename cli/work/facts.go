package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"waybill/check"
	"waybill/cli/output"
	"waybill/core/audit"
	"waybill/core/proof"
	"waybill/schema"
)

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
