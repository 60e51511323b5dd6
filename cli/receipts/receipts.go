// Package receipts runs the checks of a workspace and reports their receipts, for the commands that may run checks.
//
// It runs only commands that a person typed or trusts. Of every other check it reports that it was not run. It decides
// nothing about runs: the methods of the API do that.
package receipts

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"waybill/check"
	"waybill/check/config"
	"waybill/check/trust"
	"waybill/cli/output"
	"waybill/core/proof"
	"waybill/schema"
)

// Checks are the checks that a process can run in a workspace.
type Checks struct {
	// Call calls a method of the API.
	Call func(ctx context.Context, method string, params, result any) error
	// Dir is the folder in which checks run.
	Dir string
	// Typed are the checks of the command line. They come before those of the file.
	Typed []check.Check
	// File is the place of the file with the checks; the zero Place has none.
	File trust.Place
	// Runner names the program in receipts.
	Runner string
}

// Look returns the file's checks, and whether a person trusts the file as it is now.
func (c *Checks) Look() trust.Standing {
	if c.File == (trust.Place{}) {
		return trust.Standing{State: trust.None}
	}
	return c.File.Look()
}

// Required returns the names of the checks that must be green at a moment: the typed ones, which are per item, and those
// of the file as a person trusted it last.
func (c *Checks) Required(when config.When) (names []string) {
	for _, typed := range c.Typed {
		if when == config.PerItem {
			names = append(names, typed.Name)
		}
	}
	for _, name := range c.Look().Required(when) {
		if !c.typed(name) {
			names = append(names, name)
		}
	}
	return names
}

// Ready returns an error if the file cannot be used, or if work needs its checks and no person ever trusted it. It returns a
// warning if the file has changed since: runs will wait for a person.
func (c *Checks) Ready() (warning string, err error) {
	standing := c.Look()
	if len(standing.Mistakes) > 0 {
		return "", output.UsageError(MistakesError(c.File, standing.Mistakes))
	}
	declared := standing.Checks
	if standing.Kept != nil {
		declared = slices.Concat(declared, standing.Kept.Checks)
	}
	needed := slices.ContainsFunc(declared, func(d config.Check) bool { return !c.typed(d.Name) })
	switch {
	case standing.State == trust.Unusable, standing.State == trust.Untrusted && standing.Kept == nil && needed:
		return "", schema.NewError(schema.InvalidState, standing.Why).Hint(standing.Mend)
	case standing.State == trust.Untrusted && needed:
		return standing.Why + ": " + standing.Mend, nil
	}
	return "", nil
}

// MistakesError returns the mistakes in a file as one error.
func MistakesError(file trust.Place, mistakes []config.Mistake) error {
	lines := make(output.Lines, len(mistakes))
	for i, m := range mistakes {
		lines[i] = file.Path() + ":" + m.String()
	}
	return lines
}

func (c *Checks) typed(name string) bool {
	return slices.ContainsFunc(c.Typed, func(t check.Check) bool { return t.Name == name })
}

// Command returns the command line of a check, whether Run would run it now, and whether this process knows such a check.
func (c *Checks) Command(name string) (line string, runs, known bool) {
	if name == proof.Facts {
		return "the facts of its result", true, true
	}
	for _, t := range c.Typed {
		if t.Name == name {
			return t.CommandLine(), true, true
		}
	}
	found, runs, known := c.Look().Find(name)
	return found.CommandLine(), runs, known
}

// Run runs the check with a name for a run and returns its receipt. The zero run stands for none. A check of the file that no
// person trusts as it is now is not run, and its receipt says so. A green check whose protected files have changed is
// protected. An error means that ctx ended first, or that the store or the base cannot be read or written.
func (c *Checks) Run(ctx context.Context, run schema.Run, name string) (schema.CheckRun, error) {
	if name == proof.Facts {
		return c.lookAtFacts(ctx, run.RunID)
	}
	for _, t := range c.Typed {
		if t.Name == name {
			return check.Run(ctx, c.Dir, t)
		}
	}
	standing := c.Look()
	found, runs, _ := standing.Find(name)
	if !runs {
		why := config.Name + " has no check of this name: add it, then " + trust.Command
		if standing.Why != "" {
			why = standing.Why + ": " + standing.Mend
		}
		return schema.CheckRun{Check: name, Outcome: proof.NotRun.String(), Reason: why}, nil
	}
	r, err := check.Run(ctx, c.Dir, found)
	if err != nil || r.Outcome != proof.Green.String() || len(found.Protect) == 0 || run.RunID == "" {
		return r, err
	}
	if err := c.protect(ctx, standing.Patterns(), found, run, &r); err != nil {
		return r, err
	}
	return r, ctx.Err()
}

// Params returns the params of report_check for a receipt, with a new idempotency key.
func (c *Checks) Params(run schema.Run, r schema.CheckRun) schema.ReportCheckParams {
	r.Runner, r.Round = c.Runner, &run.Proof.Round
	return schema.ReportCheckParams{RunID: run.RunID, CheckRun: r, Keyed: schema.Keyed{IdempotencyKey: "check-" + uuid.NewString()}}
}
