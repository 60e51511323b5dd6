package receipts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"waybill/check"
	"waybill/check/config"
	"waybill/check/trust"
	"waybill/core/proof"
	"waybill/internal/safetext"
	"waybill/schema"
)

// maxChanged bounds the bytes of the names of changed files in a receipt, and longestName the characters of each.
const (
	maxChanged  = 2 << 10
	longestName = 200
)

// protect changes a green receipt to protected if files that its check protects are in a state that no person accepted. It
// also does so if that cannot be found out.
func (c *Checks) protect(ctx context.Context, patterns []string, found config.Check, run schema.Run, r *schema.CheckRun) error {
	base, err := c.settled(ctx)
	if err != nil {
		return err
	}
	files, err := check.Protected(ctx, c.Dir, patterns)
	if err != nil {
		r.Outcome, r.Changed = proof.Protected.String(), shortened(found.Protect)
		r.Reason = "it is not known whether the work changed a file that it protects: " + err.Error()
		return nil
	}
	changed := found.Protect
	if base != nil && base.HasPatterns(patterns) {
		changed = slices.DeleteFunc(base.Changed(files), func(name string) bool { return !found.Protects(name) })
		r.Reason = "the work changed " + named(shortened(changed), len(changed))
	} else {
		base = trust.NewBase(patterns, nil)
		r.Reason = "it was not noted how the files that it protects were before the work"
	}
	if len(changed) == 0 {
		r.Reason = ""
		delete(base.Asked, run.RunID)
	} else {
		r.Outcome, r.Changed = proof.Protected.String(), shortened(changed)
		base.Asked[run.RunID] = trust.Asking{Check: found.Name, Round: run.Proof.Round, Files: files}
	}
	return c.File.SaveBase(base)
}

// named returns the first names of a number of files as text.
func named(names []string, all int) string {
	names = names[:min(len(names), 3)]
	if more := all - len(names); more > 0 {
		return fmt.Sprintf("%s and %d more files that it protects", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ") + ", which it protects"
}

// shortened returns the first names, each cut to a length, that a receipt can hold.
func shortened(names []string) (kept []string) {
	size := 0
	for _, name := range names {
		name = safetext.Truncate(strings.ToValidUTF8(name, "?"), longestName)
		if size += len(name); size > maxChanged {
			break
		}
		kept = append(kept, name)
	}
	return kept
}

// settled returns the base of the workspace, to which it adds what persons have accepted since: a person who unblocks a run
// accepts the files that the run waited for. nil means that there is no base.
func (c *Checks) settled(ctx context.Context) (*trust.Base, error) {
	base, err := c.File.Base()
	if base == nil || err != nil {
		return nil, nil // a base that cannot be read is one that says nothing
	}
	for _, id := range slices.Sorted(maps.Keys(base.Asked)) {
		var runs schema.RunList
		if err := c.Call(ctx, "list_runs", schema.ListRunsParams{RunID: id}, &runs); err != nil {
			return nil, err
		}
		asked := base.Asked[id]
		for _, run := range runs.Items {
			if run.Proof.Round == asked.Round && slices.Contains(run.Proof.Green, asked.Check) {
				base.Accept(asked.Files)
				delete(base.Asked, id)
			}
		}
	}
	return base, nil
}

// Begin notes how the protected files are before work begins. While a run of the workspace is under way or blocked, what it
// changed may not be accepted, and the earlier note stays.
func (c *Checks) Begin(ctx context.Context) error {
	patterns := c.Look().Patterns()
	if len(patterns) == 0 {
		return nil
	}
	one := 1
	for _, state := range []string{"running", "blocked"} {
		var runs schema.RunList
		err := c.Call(ctx, "list_runs", schema.ListRunsParams{State: state, Page: schema.Page{Limit: &one}}, &runs)
		if err != nil || len(runs.Items) > 0 {
			return err
		}
	}
	return c.Note(ctx, patterns)
}

// Note notes that a person accepts the protected files as they are now.
func (c *Checks) Note(ctx context.Context, patterns []string) error {
	files, err := check.Protected(ctx, c.Dir, patterns)
	if err != nil {
		return fmt.Errorf("it cannot be noted how the protected files are: %w", err)
	}
	return c.File.SaveBase(trust.NewBase(patterns, files))
}
