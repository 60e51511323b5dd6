package cli

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
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"waybill/cli/work"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store/postgres"
	"waybill/wire"
)

// exitWorkInterrupted is the exit code of work when a signal has ended commands.
const exitWorkInterrupted = 130

type workFlags struct {
	work.Options
	plan   string
	models []string
	noWait bool
}

func (a *app) workCommand() *cobra.Command {
	var f workFlags
	cmd := &cobra.Command{
		Use: "work -- COMMAND [ARG]…", Short: "Run a command for each task, with its prompt, and report what came out",
		Long: `Claim tasks, run COMMAND for each in the workspace with the prompt on its standard input, and report what came
out. It waits for more until it is interrupted, or with --no-wait ends when there is nothing to do.

With --plan it walks a plan: it begins what can be begun, makes the tasks for workers and reviewers, has each
result judged, and does what the run says, until the plan is completed or nothing more can be begun.

COMMAND finds in its environment WAYBILL_TASK_ID, WAYBILL_ATTEMPT_ID, WAYBILL_ATTEMPT_NUMBER, WAYBILL_SESSION_ID (the
same again when it goes on with a person's answer; WAYBILL_CONTINUATION is 1 then), WAYBILL_RUN_ID, WAYBILL_ROLE,
WAYBILL_PROVIDER_ID, WAYBILL_MODEL_ID and WAYBILL_MODEL_VARIANT. It says by its exit status what it came to:

   0   its standard output is the result
  10   it asks a person (--ask-exit): what stands behind QUESTION: on the last line of its standard output, or all of it
  75   it failed, and the same may succeed later
       anything else: it failed, and the end of its standard error says why

The first interruption lets what runs come to its end, the second one ends it; SIGTERM and SIGHUP end it at once. An
attempt that was ended so can be set going again with waybill retry.

Exit codes: 0 if there was nothing left to do; 1 if the plan is not completed, or what came out could not be reported;
3 if there is no such COMMAND or plan; 130 if commands were ended by a signal.`,
		Example: `  waybill work -- claude -p
  waybill work --plan tasks.md --parallel 2 --timeout 30m -- ./agent.sh`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Command, f.Stay = args, !f.noWait
			return a.work(cmd.Context(), f)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&f.plan, "plan", "", "walk this plan, and claim nothing else")
	cmd.Flags().IntVar(&f.Parallel, "parallel", 1, "how many commands may run at a time; of a plan, only items that it says may be worked on beside others")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "end when there is nothing to do, and do not wait for answers")
	cmd.Flags().StringVar(&f.Worker, "worker", "", "the name under which tasks are claimed (default: the name of the machine and the process id)")
	cmd.Flags().StringVar(&f.RunID, "run", "", "claim only tasks of this run")
	cmd.Flags().StringVar(&f.Role, "role", "", "claim only tasks of this role")
	cmd.Flags().DurationVar(&f.Timeout, "timeout", 0, "end a command that takes longer; what it was at may be tried again (default: none)")
	cmd.Flags().DurationVar(&f.Grace, "grace", 5*time.Second, "how long a command has to end that was asked to, until it is killed")
	cmd.Flags().DurationVar(&f.Lease, "lease", time.Minute, "how long a task stays claimed if this process dies")
	cmd.Flags().IntVar(&f.Ask, "ask-exit", 10, "the exit status that means a question")
	cmd.Flags().StringArrayVar(&f.models, "model", nil, "PROVIDER/MODEL[:VARIANT] for the tasks of a plan; more than one is a chain to fall back along")
	cmd.Flags().IntVar(&f.MaxAttempts, "max-attempts", 0, "attempts of a task of a plan that may fail (default: the number of models)")
	cmd.Flags().BoolVar(&f.Tick, "tick", false, "tick the boxes of the items that are approved, in the file of the plan")
	noFiles(cmd, "worker", "run", "role", "model")
	return cmd
}

func (a *app) work(ctx context.Context, f workFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := a.locate(&f.Options); err != nil {
		return err
	}
	l, err := a.opened(true)
	if err != nil {
		return err
	}
	defer l.close()
	mindReader()
	said := wire.NewLogWriter(a.Err) // or a terminal that is held up would hold up the commands
	saying := newGroup()
	saying.run(func(ctx context.Context) { _ = said.Run(ctx) }) // it reports nothing
	defer saying.stop()
	f.Call, f.Tell, f.Errors = l.call, a.tellOfWork, errorsOf(said, f.Parallel > 1)
	return a.underSignals(ctx, said, func(ctx context.Context, drain <-chan struct{}) error {
		if f.plan != "" {
			return work.Plan(ctx, drain, f.plan, f.Options)
		}
		return work.Tasks(ctx, drain, f.Options)
	})
}

// check completes what was given, or says what is wrong with it.
func (f *workFlags) check() error {
	switch {
	case f.Parallel < 1:
		return usageError{fmt.Errorf("--parallel %d: must be at least 1", f.Parallel)}
	case f.Lease < time.Second || f.Lease > time.Hour:
		return usageError{fmt.Errorf("--lease %v: must be from 1s to 1h", f.Lease)}
	case f.Timeout < 0 || f.Grace <= 0:
		return usageError{errors.New("--timeout and --grace: must not be negative, and --grace not 0")}
	case f.Ask < 1 || f.Ask > 255:
		return usageError{fmt.Errorf("--ask-exit %d: must be from 1 to 255", f.Ask)}
	case f.MaxAttempts < 0:
		return usageError{fmt.Errorf("--max-attempts %d: must not be negative", f.MaxAttempts)}
	case f.plan != "" && (f.RunID != "" || f.Role != ""):
		return usageError{errors.New("--run and --role choose among the tasks of the queue, and --plan works on nothing but its own")}
	case f.plan == "" && (len(f.models) > 0 || f.MaxAttempts != 0 || f.Tick):
		return usageError{errors.New("--model, --max-attempts and --tick are for a plan: give --plan, too")}
	}
	for _, text := range f.models {
		m, err := parseModel(text)
		if err != nil {
			return usageError{err}
		}
		f.Models = append(f.Models, m)
	}
	if f.Worker == "" {
		host, _ := os.Hostname() // without one, the number is the name
		f.Worker = strings.TrimLeft(strings.Map(inNames, host)+"-", "-") + strconv.Itoa(os.Getpid())
	}
	return f.find()
}

// inNames gives a character that the name of a worker may have.
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
func (a *app) locate(o *work.Options) error {
	ws, err := workspace.Resolve(a.sources())
	if err != nil {
		return schema.NewError(schema.NoWorkspace, err.Error())
	}
	o.Dir, o.Env = ws.Root, []string{"WAYBILL_WORKSPACE=" + ws.Root}
	if a.store == "" {
		return nil
	}
	place := a.store
	if !postgres.Names(place) {
		if place, err = filepath.Abs(place); err != nil {
			return err
		}
	}
	o.Env = append(o.Env, storeVariable+"="+place)
	return nil
}

// underSignals lets the first interruption drain, and what asks for the end of the process end ctx. After that a signal
// finds nobody listening and ends the process at once.
func (a *app) underSignals(ctx context.Context, said io.Writer, do func(ctx context.Context, drain <-chan struct{}) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	drain, ended, signals := make(chan struct{}), make(chan struct{}), make(chan os.Signal, 4)
	heeded := listen(signals)
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
		a.code = 0 // what was interrupted was so for another reason, which err says
	}
	if a.code != 0 && errors.Is(err, work.ErrUnfinished) {
		return nil
	}
	return err
}

// tellOfWork prints a line for what happened. If nobody reads that any more, the work goes on.
func (a *app) tellOfWork(e work.Event) {
	if e.Kind == work.Interrupted {
		a.code = exitWorkInterrupted
	}
	if a.json {
		_ = a.print(e)
		return
	}
	words := []string{e.Kind}
	add := func(format, value string) {
		if value != "" {
			words = append(words, fmt.Sprintf(format, plain(value)))
		}
	}
	add("%s", e.ItemID)
	add("%s", e.Role)
	add("%s", e.TaskID)
	if e.Attempt > 1 {
		add("attempt %s", strconv.Itoa(e.Attempt))
	}
	if e.TookMS > 0 {
		add("in %s", span(time.Duration(e.TookMS)*time.Millisecond))
	}
	add("%s", e.Verdict)
	add("→ %s", e.Next)
	if e.Kind != work.Completed && e.Kind != work.Started {
		add("→ %s", e.Status)
	}
	add("— %s", clip(e.Message, 400))
	_, _ = fmt.Fprintln(a.Out, strings.Join(words, "  "))
	switch e.Kind {
	case work.Asked:
		_, _ = fmt.Fprintln(a.Out, "  "+a.replyLine(e.TaskID))
	case work.Halted:
		if e.RunID == "" {
			return
		}
		_, _ = fmt.Fprintln(a.Out, "  "+a.pasteable("explain", e.RunID))
	}
}

// errorsOf gives where what commands say goes: line by line and made safe to look at, each behind the end of the id of its
// task if there are several.
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
	_, _ = fmt.Fprintln(w.to, w.mark+plain(strings.TrimSuffix(string(text), "\r"))) // nobody may be there to read it
}
