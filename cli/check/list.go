package check

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/check/config"
	"waybill/check/trust"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/schema"
)

// listView is the output of `waybill check ls --json`.
type listView struct {
	File     string           `json:"file"`
	State    trust.State      `json:"state"`
	Reason   string           `json:"reason,omitzero"` // why no check runs
	Mend     string           `json:"mend,omitzero"`   // the command or the step that solves it
	Hash     string           `json:"sha256,omitzero"`
	Mistakes []config.Mistake `json:"mistakes,omitzero"`
	Checks   []checkView      `json:"checks"`
}

// checkView is one check in it.
type checkView struct {
	Name      string          `json:"name"`
	When      config.When     `json:"when"`
	Command   string          `json:"command"`
	Argv      []string        `json:"argv,omitzero"`
	TimeoutMS int64           `json:"timeout_ms"`
	Protect   []string        `json:"protect,omitzero"`
	Line      int             `json:"line"` // of the file
	Trusted   bool            `json:"trusted"`
	Last      *schema.Receipt `json:"last_receipt,omitzero"`
}

func (a commands) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the checks, their trust and their last receipts", Args: cobra.NoArgs,
		Long: `List the checks that ` + config.Name + ` declares: their names and commands, whether a person trusts them as they are now,
and their last receipts. Nothing is run.

Exit codes: 0; 2 if the file has mistakes, which are all listed with line and column; 4 if it must not be read.`,
		Example: "  waybill check ls",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.list(cmd.Context()) },
	}
}

func (a commands) list(ctx context.Context) error {
	_, place, err := a.place()
	if err != nil {
		return err
	}
	standing := place.Look()
	last := map[string]schema.Receipt{}
	if a.StoreExists() && len(standing.Checks) > 0 {
		if err := a.With(func(l *program.Local) error { return lastReceipts(ctx, l, last) }); err != nil {
			return err
		}
	}
	v := viewOf(place, standing, last)
	switch {
	case len(v.Mistakes) > 0:
		a.Code = output.ExitUsage
	case v.State == trust.Unusable:
		a.Code = output.ExitConflict
	}
	if a.JSON {
		return a.Print(v)
	}
	_, err = a.Out.WriteString(v.text(time.Now()))
	return err
}

func viewOf(place trust.Place, standing trust.Standing, last map[string]schema.Receipt) listView {
	v := listView{
		File: place.Path(), State: standing.State, Reason: standing.Why, Mend: standing.Mend, Mistakes: standing.Mistakes, Checks: []checkView{},
	}
	if standing.Text != nil {
		v.Hash = trust.Hash(standing.Text)
	}
	for _, c := range standing.Checks {
		row := checkView{
			Name: c.Name, When: c.When, Command: c.CommandLine(), Argv: c.Argv, TimeoutMS: limitOf(c).Milliseconds(), Protect: c.Protect, Line: c.Line,
			Trusted: standing.State == trust.Trusted,
		}
		if receipt, ok := last[c.Name]; ok {
			row.Last = &receipt
		}
		v.Checks = append(v.Checks, row)
	}
	return v
}

// lastReceipts finds the last receipt of each check.
func lastReceipts(ctx context.Context, l *program.Local, last map[string]schema.Receipt) error {
	var p schema.ListReceiptsParams
	return program.Each(ctx, l, "list_receipts", &p, &p.Page, func(some []schema.Receipt) error {
		for _, r := range some { // the oldest first
			last[r.Check] = r
		}
		return nil
	})
}

func (v listView) text(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", safetext.Printable(v.File), v.State)
	if v.Reason != "" && len(v.Mistakes) == 0 {
		fmt.Fprintf(&b, "  %s\n  %s\n", safetext.Printable(v.Reason), safetext.Printable(v.Mend))
	}
	for _, m := range v.Mistakes {
		fmt.Fprintf(&b, "  %s\n", safetext.Printable(m.String()))
	}
	for _, c := range v.Checks {
		fmt.Fprintf(&b, "\n%s  %s, line %d\n", c.Name, moments[c.When], c.Line)
		b.WriteString(described(c.Command, time.Duration(c.TimeoutMS)*time.Millisecond, c.Protect))
		if r := c.Last; r != nil {
			fmt.Fprintf(&b, "  last: %s, %s, %s of %s\n", r.Outcome, output.Ago(r.At, now), r.ReceiptID, r.RunID)
		} else {
			b.WriteString("  last: no receipt\n")
		}
	}
	return b.String()
}

// moments say when a check runs.
var moments = map[config.When]string{config.PerItem: "before an item is approved", config.PerPlan: "before a plan is completed"}

// described returns a command in full, its time limit, and what it protects.
func described(line string, limit time.Duration, protect []string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimRight(line, "\r\n"), "\n") {
		b.WriteString(output.Gutter + safetext.Printable(strings.TrimSuffix(part, "\r")) + "\n")
	}
	b.WriteString("  at most " + strings.Replace(strings.Replace(limit.String(), "m0s", "m", 1), "h0m", "h", 1))
	if len(protect) > 0 {
		b.WriteString("; protects " + safetext.Printable(strings.Join(protect, ", ")))
	}
	return b.String() + "\n"
}
