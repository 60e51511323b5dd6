//go:build unix

package work_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/api"
	"waybill/cli/work"
	"waybill/engine"
	"waybill/engine/workspace"
	planfile "waybill/plan/file"
	"waybill/schema"
	"waybill/schema/codec"
	"waybill/store"
	"waybill/test/fakeagent/play"
	"waybill/test/teststore"
)

// asAgent, set in the environment, makes the test binary be the agent that plays by a script.
const asAgent = "WAYBILL_TEST_BINARY_IS_AN_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asAgent) != "" {
		os.Exit(play.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// A queue is waybill on a workspace, and what was told of the work on it.
type queue struct {
	t     *testing.T
	root  string
	table *api.Table

	ctx     context.Context // of the work
	stop    func()
	drained chan struct{}

	mu     sync.Mutex // guards what follows
	events []work.Event
	told   chan work.Event // what nobody has waited for yet
	// before, if not nil, may answer a call in place of the method.
	before func(method string, result any) (answered bool, err error)
	calls  []string
}

func newQueue(t *testing.T) *queue {
	root := t.TempDir()
	files, err := planfile.Open(root, planfile.Options{})
	require.NoError(t, err)
	plans := engine.NewPlans(files, engine.PlanOptions{})
	records := teststore.New(t)
	e, err := engine.New(engine.Options{Plans: plans, Open: func(context.Context) (store.Store, error) { return records, nil }})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }() // ends in the cleanup
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, files.Close())
	})
	s, err := api.New(api.Options{
		Sources: workspace.Sources{Flag: root, StateBase: t.TempDir()},
		Start:   func(workspace.Workspace) (*engine.Engine, *engine.Plans, error) { return e, plans, nil },
	})
	require.NoError(t, err)
	q := &queue{t: t, root: root, table: s.Table(), drained: make(chan struct{}), told: make(chan work.Event, 10_000)}
	q.ctx, q.stop = context.WithCancel(t.Context())
	return q
}

// call carries out a method.
func (q *queue) call(ctx context.Context, method string, params, result any) error {
	q.mu.Lock()
	q.calls = append(q.calls, method)
	before := q.before
	q.mu.Unlock()
	if before != nil {
		if answered, err := before(method, result); answered {
			return err
		}
	}
	text, err := codec.Encode(params)
	if err != nil {
		return err
	}
	entry, _ := q.table.Entry(method)
	answers := make(chan api.Answer, 1)
	entry.Start(ctx, text, func(a api.Answer) { answers <- a })
	answer := <-answers
	if answer.Err != nil {
		return answer.Err
	}
	if text, err = codec.Encode(answer.Result); err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// ask is call for a test, which must be a success.
func ask[R any](q *queue, method string, params any) (result R) {
	require.NoError(q.t, q.call(context.Background(), method, params, &result), method)
	return result
}

func (q *queue) tell(e work.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.events = append(q.events, e)
	q.told <- e
}

// wait returns the next event of a kind.
func (q *queue) wait(kind string) work.Event {
	for {
		if e := <-q.told; e.Kind == kind {
			return e
		}
	}
}

// all returns the events of a kind so far.
func (q *queue) all(kind string) (all []work.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.events {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	return all
}

// make makes a task and returns its id.
func (q *queue) make(prompt string, attempts int) string {
	return ask[schema.TaskResult](q, "create_task", schema.CreateTaskParams{Prompt: prompt, MaxAttempts: &attempts}).Task.TaskID
}

func (q *queue) task(id string) schema.Task {
	return ask[schema.TaskDetail](q, "get_task", schema.TaskParams{TaskID: id}).Task
}

// shell returns the options to run a script of the shell, whose standard error is shown if the test fails.
func (q *queue) shell(script string) work.Options {
	return work.Options{
		Call: q.call, Tell: q.tell, Worker: "w", Dir: q.root, Command: []string{"sh", "-c", script}, Marker: "QUESTION:",
	}
}

// agent returns the options to run the agent that plays by a script.
func (q *queue) agent(script string) work.Options {
	file, memory := filepath.Join(q.t.TempDir(), "script"), q.t.TempDir()
	require.NoError(q.t, os.WriteFile(file, []byte(script), 0o600))
	o := q.shell("")
	o.Command = []string{os.Args[0], "--script", file, "--memory", memory}
	o.Env = []string{asAgent + "=1", "GORACE=atexit_sleep_ms=0"} // or each takes a second longer
	return o
}

// drain works on what there is, without waiting for more.
func (q *queue) drain(o work.Options) {
	require.NoError(q.t, work.Tasks(q.t.Context(), nil, o))
}

// working works on tasks until there is nothing to do, and returns what Tasks said.
func (q *queue) working(o work.Options) <-chan error {
	done := make(chan error, 1)
	go func() { done <- work.Tasks(q.ctx, q.drained, o) }() // ends before the test
	return done
}

// walking is working for a plan.
func (q *queue) walking(o work.Options) <-chan error {
	done := make(chan error, 1)
	go func() { done <- work.Plan(q.ctx, q.drained, "tasks.md", o) }() // ends before the test
	return done
}

// during works on tasks with a command that opens the named pipe fifo when it has begun. Then something happens, and the
// work comes to its end, with nothing left that has the pipe open.
func (q *queue) during(o work.Options, happens func()) {
	q.t.Helper()
	require.NoError(q.t, q.begin(o, q.working, happens))
}

// begin is during for work of any kind, and returns what that said.
func (q *queue) begin(o work.Options, work func(work.Options) <-chan error, happens func()) error {
	q.t.Helper()
	fifo := q.pipe("fifo")
	q.pipe("go")
	files := make(chan *os.File, 1)
	go func() { // ends when a script opens the other end
		file, err := os.Open(fifo)
		if err != nil {
			panic(err)
		}
		files <- file
	}()
	done := work(o)
	file := <-files
	happens()
	err := <-done
	_, readErr := io.ReadAll(file)
	require.NoError(q.t, readErr)
	require.NoError(q.t, file.Close())
	return err
}

// pipe makes a named pipe in the workspace.
func (q *queue) pipe(name string) string {
	file := filepath.Join(q.root, name)
	require.NoError(q.t, syscall.Mkfifo(file, 0o600))
	return file
}

// letGo lets a script go on that reads the named pipe go.
func (q *queue) letGo() {
	require.NoError(q.t, os.WriteFile(filepath.Join(q.root, "go"), []byte("go\n"), 0o600))
}

// refuse refuses the next calls of a method.
func (q *queue) refuse(calls int, method string, err error) {
	q.before = func(called string, _ any) (bool, error) {
		if called != method || calls == 0 {
			return false, nil
		}
		calls--
		return true, err
	}
}

// newPlan is newQueue with a plan in the workspace.
func newPlan(t *testing.T, text string) *queue {
	q := newQueue(t)
	require.NoError(t, os.WriteFile(filepath.Join(q.root, "tasks.md"), []byte(text), 0o600))
	return q
}
