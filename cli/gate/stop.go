package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"waybill/check"
	"waybill/check/config"
	"waybill/check/trust"
	"waybill/cli/hook/dialect"
	"waybill/cli/program"
	"waybill/cli/receipts"
	"waybill/core/proof"
	"waybill/engine/workspace"
	"waybill/internal/atomicfile"
	"waybill/internal/safetext"
	"waybill/schema"
)

// A gate collects the reasons why an agent must not stop.
type gate struct {
	*Handler
	ws     workspace.Workspace
	open   []string                   // why the agent must go on, for the agent
	person []string                   // the faults that only a person can mend
	ran    map[string]schema.CheckRun // by name: the executions of this stop; the zero value if it did not end in time
	turn   *os.File                   // the lock of the checks; nil until it is taken
}

// stop holds the agent while its instructions are not acknowledged or its checks are not green. A stop that was held as often
// as the host's row says is let go, with a notice about what is open.
func (r *Handler) stop(ctx context.Context) (a dialect.Answer, err error) {
	if r.In.Kind == dialect.SubagentStop && r.In.Agent == "" {
		return a, nil // it has no session, and its marks would be those of the main agent
	}
	ws, err := r.Store.place()
	if err != nil {
		return a, err
	}
	g := &gate{Handler: r, ws: ws, ran: map[string]schema.CheckRun{}}
	if err := g.checks(ctx); err != nil {
		return a, err
	}
	some, err := r.open(false)
	if err != nil {
		return a, err
	}
	last := r.holds() >= r.Host.Holds
	switch {
	case some && last:
		err = g.outstanding(ctx)
	case some:
		// The last thing before the answer, so that a check that takes too long uses up no send.
		var texts []string
		var lost string
		texts, lost, err = r.dispatch(ctx, r.Host.MaxContext-len(strings.Join(g.open, "\n\n")), 0)
		g.open = append(texts, g.open...)
		if lost != "" {
			g.person = append(g.person, lost)
		}
	}
	if err != nil {
		return a, err
	}
	a.Person = strings.Join(g.person, "\n")
	switch {
	case len(g.open) == 0:
		r.unmark(held)
		return a, nil
	case last:
		r.unmark(held)
		return g.letGo(ctx, a)
	}
	a.Hold = strings.Join(g.open, "\n\n")
	return a, r.mark(held, strconv.Itoa(r.holds()+1))
}

// letGo posts the notice that the agent stopped all the same.
func (g *gate) letGo(ctx context.Context, a dialect.Answer) (dialect.Answer, error) {
	text := fmt.Sprintf("an agent of %s stopped after it was held %d times; still open: %s", g.In.Host, g.Host.Holds, strings.Join(g.open, "; "))
	a.Person = strings.TrimPrefix(a.Person+"\nwaybill: "+safetext.OneLine(text, 500), "\n")
	if _, err := g.Handler.open(true); err != nil {
		return a, err
	}
	return a, g.tell(ctx, "stop_let_go", "", text, nil)
}

// outstanding adds the tracked instructions that are not acknowledged, without sending them.
func (g *gate) outstanding(ctx context.Context) error {
	sessions, err := g.sessions()
	if err != nil {
		return err
	}
	for _, session := range sessions {
		for _, state := range []string{"queued", "sent"} {
			var list schema.InstructionList
			if err := g.call(ctx, "list_instructions", schema.ListInstructionsParams{SessionID: session, State: state}, &list); err != nil {
				return err
			}
			for _, in := range list.Items {
				if in.Tracked {
					g.open = append(g.open, "instruction "+in.InstructionID+" is not acknowledged: "+safetext.OneLine(in.Content, 200))
				}
			}
		}
	}
	return nil
}

// checks runs the required checks that are not green on the present files: those of runs that wait for them, and for the main
// agent those of the workspace. Under `waybill work`, that runs them.
func (g *gate) checks(ctx context.Context) error {
	if program.AttemptVariable(g.Store.App.Env) != "" {
		return nil
	}
	c := &receipts.Checks{Dir: g.ws.Root, File: trust.Place{Root: g.ws.Root, StateDir: g.ws.StateDir}, Runner: g.Command}
	standing := c.Look()
	if standing.Why != "" {
		g.person = append(g.person, "waybill: "+safetext.OneLine(standing.Why+": "+standing.Mend, 500))
	}
	limited, stop := context.WithDeadlineCause(ctx, forChecks(ctx), ErrLate)
	defer stop()
	defer g.endTurn()
	if err := g.checkRuns(limited, c); err != nil {
		return err
	}
	names := standing.Required(config.PerItem)
	if g.In.Kind == dialect.SubagentStop || standing.State != trust.Trusted || len(names) == 0 {
		return nil
	}
	if ok, err := g.takeTurn(limited); err != nil || !ok {
		return err
	}
	before, known := g.greens(), map[string]string{}
	tree, unbound := check.Tree(limited, g.ws.Root)
	for _, name := range names {
		key := digest(trust.Hash(standing.Text), name)
		if unbound == nil && before[key] == tree {
			known[key] = tree
			continue
		}
		ran, err := g.runCheck(limited, c, schema.Run{}, name)
		if err != nil {
			return err
		}
		if ran.Outcome == proof.Green.String() && ran.TreeBefore == ran.TreeAfter && ran.TreeAfter != "" {
			known[key] = ran.TreeAfter
		}
	}
	if maps.Equal(before, known) {
		return nil
	}
	return g.keepGreens(known)
}

// forChecks returns when a check must have ended, so that an ending program and the answer still have time.
func forChecks(ctx context.Context) time.Time {
	end, _ := ctx.Deadline()
	return end.Add(-min(time.Until(end)/4, 8*time.Second))
}

// checkRuns runs the checks that running items wait for, and records their receipts.
func (g *gate) checkRuns(ctx context.Context, c *receipts.Checks) error {
	some, err := g.Handler.open(false)
	if err != nil || !some {
		return err
	}
	c.Call = func(ctx context.Context, method string, params, result any) error {
		return g.Store.local.Call(ctx, method, params, result)
	}
	limit := schema.MaxPage
	var runs schema.RunList
	if err := g.call(ctx, "list_runs", schema.ListRunsParams{State: "running", Page: schema.Page{Limit: &limit}}, &runs); err != nil {
		return err
	}
	for _, run := range runs.Items {
		if len(run.Proof.Required) == 0 {
			continue
		}
		if ok, err := g.takeTurn(ctx); err != nil || !ok {
			return err
		}
		var at schema.ResumeRunResult
		if err := g.call(ctx, "resume_run", schema.ResumeRunParams{Plan: run.Plan, ItemID: run.ItemID}, &at); err != nil {
			return err
		}
		if at.Run.RunID != run.RunID || at.NextAction != "run_checks" {
			continue
		}
		for _, name := range at.Next.Checks {
			if _, _, known := c.Command(name); !known {
				g.person = append(g.person, fmt.Sprintf("waybill: item %s requires check %s, which %s does not declare", run.ItemID, name, config.Name))
				continue
			}
			ran, err := g.runCheck(ctx, c, at.Run, name)
			if err != nil || ran.Check == "" {
				return err
			}
			var answer schema.ReportCheckResult
			if err := g.call(context.WithoutCancel(ctx), "report_check", c.Params(at.Run, ran), &answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxReason bounds the end of the output of a check that an agent is shown, in bytes.
const maxReason = 2 << 10

// runCheck runs a check and adds to the gate why it is not green. A check that does not end within the time of the hook has
// no outcome: that is told to the person, and the agent may stop. An execution of this stop on the same files is not repeated.
func (g *gate) runCheck(ctx context.Context, c *receipts.Checks, run schema.Run, name string) (schema.CheckRun, error) {
	if ran, ok := g.ran[name]; ok && g.standsFor(ctx, c, ran, run) {
		return ran, nil
	}
	began := time.Now()
	ran, err := c.Run(ctx, run, name)
	if err != nil && errors.Is(context.Cause(ctx), ErrLate) {
		g.ran[name] = schema.CheckRun{}
		g.person = append(g.person, fmt.Sprintf("waybill: check %s was stopped after %v, because %s waits no longer, so it has no outcome; waybill check runs it",
			name, time.Since(began).Round(time.Second), g.In.Host))
		return schema.CheckRun{}, nil
	}
	if err != nil {
		return ran, err
	}
	g.ran[name] = ran
	switch line, _, _ := c.Command(name); {
	case ran.Outcome == proof.Red.String():
		why := ran.Reason
		if ran.ExitCode != nil {
			why = fmt.Sprintf("exit status %d", *ran.ExitCode)
		}
		g.open = append(g.open, fmt.Sprintf("The check %s is red (%s): %s\n%s", name, why, safetext.OneLine(line, 200), ending(ran.Output)))
	case ran.Outcome != proof.Green.String():
		g.person = append(g.person, fmt.Sprintf("waybill: check %s is %s: %s", name, ran.Outcome, safetext.OneLine(ran.Reason, 300)))
	case ran.TreeBefore != ran.TreeAfter:
		g.person = append(g.person, fmt.Sprintf("waybill: check %s changes files while it runs: have git ignore what it writes", name))
	}
	return ran, nil
}

// standsFor reports whether an execution of this stop is one for a run, too, or for the workspace. Each run has facts
// of its own, and its own answer to whether the work changed the files that a check protects.
func (g *gate) standsFor(ctx context.Context, c *receipts.Checks, ran schema.CheckRun, run schema.Run) bool {
	if ran.Check == "" {
		return true
	}
	if found, _, _ := c.Look().Find(ran.Check); run.RunID != "" && (ran.Check == proof.Facts || len(found.Protect) > 0) {
		return false
	}
	tree, err := check.Tree(ctx, g.ws.Root)
	return err == nil && tree == ran.TreeAfter
}

// ending returns the end of an output, with each line indented and without what could pass for a message of another.
func ending(text string) string {
	text = strings.TrimSpace(text)
	text = strings.ToValidUTF8(text[max(0, len(text)-maxReason):], "")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = "  | " + safetext.Printable(strings.TrimRight(line, "\r"))
	}
	return strings.Join(lines, "\n")
}

// greenFile has, by check, the tree of the files on which it was green last.
const greenFile = "green.json"

// greens returns what greenFile has. Without it, the checks run again.
func (g *gate) greens() (known map[string]string) {
	if g.Store.folder() == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(g.Store.folder(), greenFile))
	if err != nil || json.Unmarshal(text, &known) != nil {
		return nil
	}
	return known
}

func (g *gate) keepGreens(known map[string]string) error {
	if g.Store.folder() == "" {
		return nil
	}
	if err := g.Store.makeFolder(); err != nil {
		return err
	}
	text, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(g.Store.folder(), greenFile), text)
}
