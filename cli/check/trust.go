package check

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/check"
	"waybill/check/config"
	"waybill/check/trust"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/cli/receipts"
	"waybill/internal/safetext"
	"waybill/schema"
)

// agentVariables are set for the commands of agents and in hooks.
var agentVariables = []string{
	"AI_AGENT", "CLAUDECODE", "CLAUDE_PROJECT_DIR", "CODEX_SANDBOX", "CODEX_THREAD_ID", "COPILOT_CLI", "CURSOR_AGENT", "GEMINI_CLI", "OPENCODE",
}

// trustView is the output of `waybill check trust --json`.
type trustView struct {
	File    string   `json:"file"`
	Trusted bool     `json:"trusted"`
	Hash    string   `json:"sha256,omitzero"`
	Checks  []string `json:"checks"`
	Blocked []string `json:"blocked_runs,omitzero"` // runs that wait for it
}

func (a commands) trustCommand() *cobra.Command {
	return &cobra.Command{
		Example: "  waybill check trust",
		Use:     "trust", Short: "Look at the checks of the workspace and trust them", Args: cobra.NoArgs,
		Long: `Show the commands of ` + config.Name + `, or the difference to what was trusted before, and ask whether to trust them. Trust
holds for exactly this text. It is kept in the state folder, outside of the workspace; when the file changes, none of its
checks runs until it is trusted again.

The command also notes how the protected files are now, and shows those that changed since the last note.

It needs a person at a terminal. It refuses in a hook, without a terminal, and when an agent runs it.

Exit codes: 0 if the file is trusted; 1 if the answer is no; 2 if the file has mistakes; 3 if there is no file; 4 if it must not
be read, or there is no terminal.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.trust(cmd.Context()) },
	}
}

func (a commands) trust(ctx context.Context) error {
	if err := a.person(); err != nil {
		return err
	}
	ws, place, err := a.place()
	if err != nil {
		return err
	}
	standing := place.Look()
	switch {
	case len(standing.Mistakes) > 0:
		return output.UsageError(receipts.MistakesError(place, standing.Mistakes))
	case standing.State == trust.None:
		return errNone(place)
	case standing.State == trust.Unusable:
		return schema.NewError(schema.InvalidState, standing.Why).Hint(standing.Mend)
	}
	c := &receipts.Checks{Dir: ws.Root, File: place}
	changed := changedFiles(ctx, c, standing)
	if standing.State == trust.Trusted && len(changed) == 0 {
		return a.trusted(ctx, place, standing)
	}
	if err := a.ask(a.question(place, standing, changed)); err != nil {
		return err
	}
	if err := ws.EnsureStateDir(); err != nil {
		return err
	}
	if patterns := patternsOf(standing.Checks); len(patterns) > 0 {
		if err := c.Note(ctx, patterns); err != nil {
			a.Say("waybill: " + safetext.Printable(err.Error()) + "; each run will ask about them")
		}
	}
	if err := place.Keep(standing.Text); err != nil {
		return err
	}
	return a.trusted(ctx, place, standing)
}

// person returns an error unless a person at a terminal can be asked.
func (a commands) person() error {
	name := program.AttemptVariable(a.Env)
	for _, other := range agentVariables {
		if name == "" && a.Env(other) != "" {
			name = other
		}
	}
	switch {
	case name != "":
		return schema.NewError(schema.InvalidState, name+" is set, so an agent or a hook runs this command, and only a person trusts checks").
			Hint("run it in a terminal of your own")
	case !term.IsTerminal(int(a.In.Fd())):
		return schema.NewError(schema.InvalidState, "there is no terminal at which a person could be asked, and only a person trusts checks").
			Hint("run `" + trust.Command + "` in a terminal")
	}
	return nil
}

func patternsOf(checks []config.Check) (all []string) {
	for _, c := range checks {
		all = append(all, c.Protect...)
	}
	return all
}

// changedFiles returns the protected files that changed since they were noted last.
func changedFiles(ctx context.Context, c *receipts.Checks, standing trust.Standing) []string {
	patterns := patternsOf(standing.Checks)
	base, err := c.File.Base()
	if len(patterns) == 0 || base == nil && err == nil {
		return nil
	}
	files, unread := check.Protected(ctx, c.Dir, patterns)
	if err != nil || unread != nil {
		return patterns
	}
	before, now := config.Check{Protect: base.Patterns}, config.Check{Protect: patterns}
	return slices.DeleteFunc(base.Changed(files), func(name string) bool { return !before.Protects(name) || !now.Protects(name) })
}

// question shows what is asked about. Everything is shown in full, because a person decides about all of it.
func (a commands) question(place trust.Place, standing trust.Standing, changed []string) string {
	var b strings.Builder
	switch path := safetext.Printable(place.Path()); {
	case standing.State == trust.Trusted:
		fmt.Fprintf(&b, "%s is trusted already.\n", path)
	case standing.Kept == nil:
		fmt.Fprintf(&b, "%s declares %s:\n", path, output.Count(len(standing.Checks), "check"))
		for _, c := range standing.Checks {
			fmt.Fprintf(&b, "\n%s  %s\n%s", c.Name, moments[c.When], described(c.CommandLine(), limitOf(c), c.Protect))
		}
	default:
		fmt.Fprintf(&b, "%s differs from what was trusted %s:\n\n", path, standing.Kept.At.Local().Format("2006-01-02 15:04"))
		_, text, _ := strings.Cut(string(diff.Diff("trusted", []byte(standing.Kept.Text), "now", standing.Text)), "\n") // the names, which follow once more
		b.WriteString(output.Diff(text, a.Style))
	}
	if len(changed) > 0 {
		b.WriteString("\nThese protected files have changed, and count as accepted with your answer:\n")
		for _, name := range changed {
			b.WriteString(output.Gutter + safetext.Printable(name) + "\n")
		}
	}
	if standing.Text == nil {
		return b.String() + "\nThe file is gone. Require its checks no more? [y/N] "
	}
	return b.String() + "\nThese commands will run with your rights. Trust this text? [y/N] "
}

func limitOf(c config.Check) time.Duration {
	if c.Timeout == 0 {
		return config.DefaultTimeout
	}
	return c.Timeout
}

// ask asks a person, and returns an error unless the answer is yes.
func (a commands) ask(question string) error {
	if _, err := a.Err.WriteString(question); err != nil {
		return err
	}
	answer, err := bufio.NewReader(io.LimitReader(a.In, 1<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("the answer was not yes: nothing has changed, and the checks do not run")
}

// trusted prints that the file is trusted, and which runs wait for that.
func (a commands) trusted(ctx context.Context, place trust.Place, standing trust.Standing) error {
	v := trustView{File: place.Path(), Trusted: true, Checks: []string{}}
	if standing.Text != nil {
		v.Hash = trust.Hash(standing.Text)
	}
	for _, c := range standing.Checks {
		v.Checks = append(v.Checks, c.Name)
	}
	if a.StoreExists() {
		if err := a.With(func(l *program.Local) (err error) {
			v.Blocked, err = waiting(ctx, l)
			return err
		}); err != nil {
			return err
		}
	}
	how := "trusted: " + strings.Join(v.Checks, ", ")
	if len(v.Checks) == 0 {
		how = "trusted: no check is declared any more"
	}
	if err := a.Done(v, "%s", how); err != nil || a.JSON {
		return err
	}
	for _, id := range v.Blocked {
		if _, err := fmt.Fprintf(a.Out, "  %s\n", a.Pasteable("run", "unblock", id)); err != nil {
			return err
		}
	}
	return nil
}

// waiting returns the runs that wait for a person to look at checks.
func waiting(ctx context.Context, l *program.Local) (ids []string, err error) {
	p := schema.ListRunsParams{State: "blocked"}
	err = program.Each(ctx, l, "list_runs", &p, &p.Page, func(some []schema.Run) error {
		for _, r := range some {
			if r.Reason == "untrusted_checks" {
				ids = append(ids, r.RunID)
			}
		}
		return nil
	})
	return ids, err
}
