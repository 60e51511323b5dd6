package work

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"waybill/check"
	"waybill/check/config"
	"waybill/check/trust"
	"waybill/cli/backend"
	"waybill/cli/notify"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/wire"
)

// exitWorkInterrupted is the exit code of work when a signal has ended commands.
const exitWorkInterrupted = 130

// longestMarker bounds --ask-marker, which stands in every prompt for a worker.
const longestMarker = 100

type workFlags struct {
	Options
	plan   string
	models []string
	checks []string
	tick   string
	facts  string
	notify notify.Flags

	checkTimeout time.Duration

	noWait bool
}

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// Command returns the command.
func Command(a *program.App) *cobra.Command { return commands{a}.workCommand() }

func (a commands) workCommand() *cobra.Command {
	var f workFlags
	cmd := &cobra.Command{
		Use: "work -- COMMAND [ARG]…", Short: "Run a command for each task, and report the outcome",
		Long: `Claim tasks, run COMMAND for each in the workspace with the prompt on standard input, and report the outcome. The
command waits for more tasks until it is interrupted; with --no-wait it ends when no task is left.

With --plan it works through a plan: it starts ready items, creates tasks for workers and reviewers, submits each result
and takes the next action of the run, until the plan is completed or no item can start. With --check, or with checks in
.waybill.toml that you trust (see waybill check), an item is done only if the checks succeed on the present files; their
failure goes back to a worker, and the third one blocks the item.

COMMAND gets the environment variables WAYBILL_TASK_ID, WAYBILL_ATTEMPT_ID, WAYBILL_ATTEMPT_NUMBER, WAYBILL_SESSION_ID
(the same again when it continues with a person's answer; WAYBILL_CONTINUATION is 1 then), WAYBILL_RUN_ID, WAYBILL_ROLE,
WAYBILL_PROVIDER_ID, WAYBILL_MODEL_ID and WAYBILL_MODEL_VARIANT. Its exit status is the outcome:

   0   standard output is the result; a last line that begins with QUESTION: (--ask-marker) asks a person instead
  10   a question for a person (--ask-exit): the text behind QUESTION: on the last line of standard output, or all of it
  75   a failure that may pass by itself
       any other status: a failure; the end of standard error is the reason

The first interruption waits for running commands, the second ends them; SIGTERM and SIGHUP end them at once. waybill
retry queues an attempt again that was ended in this way.

The work stops if three items or tasks in a row end the same way (--give-up-after): COMMAND fails within 5 s for the same
reason, or its results are unreadable for the same reason. After the repair, waybill run unblock --all continues the items.

Exit codes: 0 if no work is left; 1 if the plan is not completed, the work stopped early, or an outcome could not be
reported; 3 if COMMAND or the plan does not exist; 130 if a signal ended commands.`,
		Example: `  waybill work -- claude -p
  waybill work --plan tasks.md --check 'make test' --tick -- ./agent.sh`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Command, f.Stay = args, !f.noWait
			return a.work(cmd.Context(), f)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&f.plan, "plan", "", "work through this plan and claim no other task")
	cmd.Flags().IntVar(&f.Parallel, "parallel", 1, "how many commands may run at a time; of a plan, only items that it marks as parallel")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "end when no task is left, without waiting for answers")
	cmd.Flags().StringVar(&f.Worker, "worker", "", "the name of this worker (default: machine name and process id)")
	cmd.Flags().StringVar(&f.RunID, "run", "", "claim only tasks of this run")
	cmd.Flags().StringVar(&f.Role, "role", "", "claim only tasks of this role")
	cmd.Flags().DurationVar(&f.Timeout, "timeout", 0, "end a command that takes longer; its task may be retried (default: none)")
	cmd.Flags().DurationVar(&f.Grace, "grace", 5*time.Second, "time between the request to end a command and its kill")
	cmd.Flags().DurationVar(&f.Lease, "lease", time.Minute, "how long a task stays claimed if this process dies")
	cmd.Flags().IntVar(&f.Ask, "ask-exit", 10, "the exit status of a question")
	cmd.Flags().StringVar(&f.Marker, "ask-marker", "QUESTION:", "the prefix of a last line that is a question; '' disables it")
	cmd.Flags().IntVar(&f.GiveUpAfter, "give-up-after", 3, "stop after so many items or tasks in a row that end the same way; 0 never stops")
	cmd.Flags().StringArrayVar(&f.models, "model", nil, "PROVIDER/MODEL[:VARIANT] for the tasks of a plan; repeat it for a chain of fallbacks")
	cmd.Flags().IntVar(&f.MaxAttempts, "max-attempts", 0, "failed attempts that a task of a plan may have (default: the number of models)")
	cmd.Flags().StringArrayVar(&f.checks, "check", nil, "[name=]COMMAND for a shell that must succeed before an item is done; repeat it for several")
	cmd.Flags().DurationVar(&f.checkTimeout, "check-timeout", config.DefaultTimeout, "the time limit of a check")
	cmd.Flags().StringVar(&f.facts, "facts", "", "whether the commits and files that a result names must be there: require, warn or off (default: require where there is git)")
	cmd.Flags().StringVar(&f.tick, "tick", "", "tick the boxes of items that checks prove (proven), or of all approved items (claimed)")
	cmd.Flags().Lookup("tick").NoOptDefVal = string(TickProven)
	notify.AddFlags(cmd, &f.notify)
	program.NoFiles(cmd, "worker", "run", "role", "model", "ask-marker", "check", "facts", "tick")
	return cmd
}

func (a commands) work(ctx context.Context, f workFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	beside, err := f.notify.Beside(a.Logger(a.Err))
	if err != nil {
		return err
	}
	if len(f.checks) > 0 || f.facts != "" {
		if err := a.RefuseAgents("only a person gives --check and --facts: leave them out"); err != nil {
			return err
		}
	}
	if err := a.locate(&f.Options); err != nil {
		return err
	}
	warning := ""
	if f.plan != "" {
		var err error
		if warning, err = f.Checks.Ready(); err != nil {
			return err
		}
		if err := a.useFacts(ctx, &f); err != nil {
			return err
		}
	}
	l, err := a.Open(beside)
	if err != nil {
		return err
	}
	defer l.Close()
	if f.RunID, err = l.FullID(ctx, f.RunID, store.RunID); err != nil {
		return err
	}
	output.CatchClosedPipe()
	said := wire.NewLogWriter(a.Err) // or a terminal that is held up would hold up the commands
	saying := backend.NewGroup()
	saying.Run(func(ctx context.Context) { _ = said.Run(ctx) }) // it reports nothing
	defer saying.Stop()
	f.Call, f.Tell, f.Errors = l.Call, a.tellOfWork, errorsOf(said, f.Parallel > 1)
	if warning != "" {
		f.Tell(Event{Kind: Trouble, Plan: f.plan, Message: warning})
	}
	return a.underSignals(ctx, said, func(ctx context.Context, drain <-chan struct{}) error {
		if f.plan != "" {
			return Plan(ctx, drain, f.plan, f.Options)
		}
		return Tasks(ctx, drain, f.Options)
	})
}

// check completes what was given, or says what is wrong with it.
func (f *workFlags) check() error {
	switch {
	case f.Parallel < 1:
		return output.UsageError(fmt.Errorf("--parallel %d: must be at least 1", f.Parallel))
	case f.Lease < time.Second || f.Lease > time.Hour:
		return output.UsageError(fmt.Errorf("--lease %v: must be from 1s to 1h", f.Lease))
	case f.Timeout < 0 || f.Grace <= 0:
		return output.UsageError(errors.New("--timeout and --grace: must not be negative, and --grace not 0"))
	case f.Ask < 1 || f.Ask > 255:
		return output.UsageError(fmt.Errorf("--ask-exit %d: must be from 1 to 255", f.Ask))
	case f.Marker != strings.TrimSpace(f.Marker) || strings.ContainsAny(f.Marker, "\r\n") || len(f.Marker) > longestMarker:
		return output.UsageError(fmt.Errorf("--ask-marker %q: must be one line of at most %d bytes, without a space at its ends", f.Marker, longestMarker))
	case f.GiveUpAfter < 0:
		return output.UsageError(fmt.Errorf("--give-up-after %d: must not be negative", f.GiveUpAfter))
	case f.MaxAttempts < 0:
		return output.UsageError(fmt.Errorf("--max-attempts %d: must not be negative", f.MaxAttempts))
	case f.plan != "" && (f.RunID != "" || f.Role != ""):
		return output.UsageError(errors.New("--run and --role choose among the tasks of the queue, and --plan works on nothing but its own"))
	case f.plan == "" && (len(f.models) > 0 || f.MaxAttempts != 0 || f.tick != "" || len(f.checks) > 0 || f.facts != ""):
		return output.UsageError(errors.New("--model, --max-attempts, --check, --facts and --tick are for a plan: give --plan, too"))
	case f.facts != "" && !slices.Contains(usesOfFacts, Facts(f.facts)):
		return output.UsageError(fmt.Errorf("--facts %s: must be require, warn or off", f.facts))
	case f.tick != "" && f.tick != string(TickProven) && f.tick != string(TickClaimed):
		return output.UsageError(fmt.Errorf("--tick=%s: must be %s or %s", f.tick, TickProven, TickClaimed))
	case f.checkTimeout <= 0:
		return output.UsageError(fmt.Errorf("--check-timeout %v: must be more than 0", f.checkTimeout))
	}
	f.Tick = Tick(f.tick)
	for _, typed := range f.checks {
		c, err := check.Parse(typed)
		if err == nil && slices.ContainsFunc(f.Checks.Typed, func(other check.Check) bool { return other.Name == c.Name }) {
			err = fmt.Errorf("there are two checks with the name %q: name them name=COMMAND", c.Name)
		}
		if err != nil {
			return output.UsageError(fmt.Errorf("--check: %w", err))
		}
		c.Timeout = f.checkTimeout
		f.Checks.Typed = append(f.Checks.Typed, c)
	}
	for _, text := range f.models {
		m, err := program.ParseModel(text)
		if err != nil {
			return output.UsageError(err)
		}
		f.Models = append(f.Models, m)
	}
	if f.Worker == "" {
		host, _ := os.Hostname() // without one, the number is the name
		f.Worker = strings.TrimLeft(strings.Map(inNames, host)+"-", "-") + strconv.Itoa(os.Getpid())
	}
	return f.find()
}

// inNames returns a character that the name of a worker may have.
func inNames(r rune) rune {
	if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '_') {
		return r
	}
	return '-'
}

// find makes sure that there is such a command, and that it is the same one when it runs elsewhere.
func (f *workFlags) find() error {
	path, err := exec.LookPath(f.Command[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return schema.NewError(schema.SubjectGone, "there is no command "+strconv.Quote(f.Command[0])).Hint(err.Error())
	}
	f.Command = append([]string{path}, f.Command[1:]...)
	return nil
}

// locate says where commands run, and has a waybill that they call find the same workspace and store.
func (a commands) locate(o *Options) error {
	ws, err := workspace.Resolve(a.Sources())
	if err != nil {
		return schema.NewError(schema.NoWorkspace, err.Error())
	}
	o.Dir, o.Env = ws.Root, []string{"WAYBILL_WORKSPACE=" + ws.Root}
	o.Checks.File = trust.Place{Root: ws.Root, StateDir: ws.StateDir}
	if a.Store == "" {
		return nil
	}
	place := a.Store
	if !postgres.Names(place) {
		if place, err = filepath.Abs(place); err != nil {
			return err
		}
	}
	o.Env = append(o.Env, program.StoreVariable+"="+place)
	return nil
}

// underSignals lets the first interruption drain, and what asks for the end of the process end ctx. After that a signal
// finds no listener and ends the process at once.
func (a commands) underSignals(ctx context.Context, said io.Writer, do func(ctx context.Context, drain <-chan struct{}) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	drain, ended, signals := make(chan struct{}), make(chan struct{}), make(chan os.Signal, 4)
	heeded := program.ListenToSignals(signals)
	defer signal.Stop(signals)
	defer close(ended)
	go func() { // ends with the work, or with what ends it
		for drained := false; ; drained = true {
			select {
			case s := <-signals:
				if s != os.Interrupt || drained {
					signal.Reset(heeded...)
					stop()
					return
				}
				close(drain)
				_, _ = fmt.Fprintln(said, "waybill: what runs comes to its end, and nothing else is begun; interrupt again to end it now")
			case <-ended:
				return
			}
		}
	}()
	err := do(ctx, drain)
	if ctx.Err() == nil {
		a.Code = 0 // an interruption is no failure here; err has the other reason
	}
	if a.Code != 0 && errors.Is(err, ErrUnfinished) {
		return nil
	}
	if gaveUp, ok := errors.AsType[*GaveUpError](err); ok {
		return a.afterGivingUp(gaveUp)
	}
	return err
}

// afterGivingUp adds to an error what to do next.
func (a commands) afterGivingUp(err *GaveUpError) error {
	again := a.Pasteable("task", "retry", "TASK") + " for each task"
	if err.Plan {
		again = a.Pasteable("run", "unblock", "--all")
	}
	return fmt.Errorf("%w; mend the command, run %s, and then this once more (--give-up-after 0 never stops)", err, again)
}

// tellOfWork prints a line for what happened. If the output is closed, the work goes on.
func (a commands) tellOfWork(e Event) {
	if e.Kind == Interrupted {
		a.Code = exitWorkInterrupted
	}
	if a.JSON {
		_ = a.Print(e)
		return
	}
	words := []string{e.Kind}
	add := func(format, value string) {
		if value != "" {
			words = append(words, fmt.Sprintf(format, safetext.Printable(value)))
		}
	}
	add("%s", e.ItemID)
	add("%s", e.Role)
	add("%s", e.TaskID)
	if e.Attempt > 1 {
		add("attempt %s", strconv.Itoa(e.Attempt))
	}
	if e.TookMS > 0 {
		add("in %s", output.Span(time.Duration(e.TookMS)*time.Millisecond))
	}
	add("%s", e.Check)
	add("%s", e.Verdict)
	add("%s", proofWord(e.Proof))
	add("→ %s", e.Next)
	if e.Kind != Completed && e.Kind != Started {
		add("→ %s", e.Status)
	}
	add("— %s", safetext.Truncate(e.Message, 400))
	_, _ = fmt.Fprintln(a.Out, strings.Join(words, "  "))
	switch e.Kind {
	case Asked:
		_, _ = fmt.Fprintln(a.Out, "  "+a.ReplyLine(e.TaskID))
	case Halted:
		if e.RunID == "" {
			return
		}
		_, _ = fmt.Fprintln(a.Out, "  "+a.Pasteable("explain", e.RunID))
	}
}

// proofWord says how much is proven of an approved item.
func proofWord(state string) string {
	if state == "none_required" {
		return "said done"
	}
	return state
}

// errorsOf returns the writer for the error output of commands. It writes line by line and escapes control characters;
// with several tasks, each line begins with the end of its task's id.
func errorsOf(to io.Writer, several bool) func(task string) io.WriteCloser {
	return func(task string) io.WriteCloser {
		w := &aside{to: to}
		if several {
			w.mark = task[max(0, len(task)-6):] + "  "
		}
		return w
	}
}

// An aside passes on whole lines, without what moves the cursor of a terminal.
type aside struct {
	to   io.Writer
	mark string
	part []byte
}

// longestAside is how much of a line is waited for that has no end yet.
const longestAside = 4 << 10

func (w *aside) Write(p []byte) (int, error) {
	w.part = append(w.part, p...)
	for {
		n := bytes.IndexByte(w.part, '\n')
		switch {
		case n >= 0:
			w.line(w.part[:n])
			w.part = w.part[n+1:]
		case len(w.part) >= longestAside:
			w.line(w.part)
			w.part = nil
		default:
			return len(p), nil
		}
	}
}

// Close passes on what has no end of a line.
func (w *aside) Close() error {
	if len(w.part) > 0 {
		w.line(w.part)
	}
	return nil
}

func (w *aside) line(text []byte) {
	_, _ = fmt.Fprintln(w.to, w.mark+safetext.Printable(strings.TrimSuffix(string(text), "\r"))) // the output may be closed
}
