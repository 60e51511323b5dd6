package move_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
	"waybill/store/memory"
	"waybill/store/move"
)

// sample sets every field that can be set, each to another value: what an export forgets is missed then.
type sample struct{ n int }

func (s *sample) fill(v reflect.Value) {
	s.n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%d <&> é \x00 \xff", s.n)) // not even UTF-8
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(s.n))
	case reflect.Uint8:
		v.SetUint(uint64(s.n % 7))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Struct, reflect.Array:
		for i := range parts(v) {
			if f := part(v, i); f.CanSet() {
				s.fill(f)
			}
		}
	}
}

func parts(v reflect.Value) int {
	if v.Kind() == reflect.Array {
		return v.Len()
	}
	return v.NumField()
}

func part(v reflect.Value, i int) reflect.Value {
	if v.Kind() == reflect.Array {
		return v.Index(i)
	}
	return v.Field(i)
}

// filled gives a value of which every field is set.
func filled[V any](s *sample) (v V) {
	s.fill(reflect.ValueOf(&v).Elem())
	return v
}

// whole puts records of every kind into a store, in every phase, with every field set.
func whole(t *testing.T, s store.Store) {
	t.Helper()
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		var all sample
		wholeEvents(t, tx, &all)
		wholeInstructions(t, tx, &all)
		wholeRun(t, tx, &all)
		wholeTasks(t, tx, &all)
		n := filled[store.Notice](&all)
		require.NoError(t, tx.PutNotice(n))
		require.NoError(t, tx.PutBreaker(filled[core.Breaker](&all)))
		return tx.PutAnswer(filled[store.Answer](&all))
	}))
}

func wholeEvents(t *testing.T, tx store.Tx, all *sample) {
	t.Helper()
	require.NoError(t, tx.PutRoot(store.Root{Seq: 6, Hash: store.Hash{1, 2, 3}}))
	for range 3 {
		_, err := tx.Append(filled[store.Event](all))
		require.NoError(t, err)
	}
}

func wholeInstructions(t *testing.T, tx store.Tx, all *sample) {
	t.Helper()
	for _, phase := range []core.Phase{
		core.Queued{}, filled[core.Sent](all), filled[core.Acknowledged](all), filled[core.Failed](all), filled[core.Cancelled](all),
	} {
		in := filled[core.Instruction](all)
		in.Phase = phase
		require.NoError(t, tx.PutInstruction(in))
	}
}

func wholeRun(t *testing.T, tx store.Tx, all *sample) {
	t.Helper()
	first, second := filled[core.Run](all), filled[core.Run](all)
	first.ID, second.ID = "z began first", "a began second"
	for _, r := range []core.Run{first, second} {
		require.NoError(t, tx.PutRun(r))
		require.NoError(t, tx.PutFacts(r.ID, []store.Fact{filled[store.Fact](all), filled[store.Fact](all)}))
		require.NoError(t, tx.AddTallies(r.ID, []store.Tally{{Name: "a.b", N: 3}, {Name: "c", N: 0}}))
		for role := core.Worker; role <= core.Roles; role++ {
			p := filled[store.Prompt](all)
			p.RunID, p.Role = r.ID, role
			require.NoError(t, tx.PutPrompt(p))
		}
	}
}

func wholeTasks(t *testing.T, tx store.Tx, all *sample) {
	t.Helper()
	chain, err := core.NewChain([]core.Model{{Provider: "<&> é", ID: "m", Variant: "v"}, {Provider: "p", ID: "m"}})
	require.NoError(t, err)
	var ids []string
	for _, c := range []struct {
		task    core.TaskPhase
		attempt core.AttemptPhase
	}{
		{filled[core.TaskQueued](all), core.Pending{}},
		{filled[core.TaskRunning](all), filled[core.Running](all)},
		{core.TaskComplete{}, ended(all, core.AttemptCompleted)},
		{core.TaskAwaiting{}, ended(all, core.AttemptAwaiting)},
		{filled[core.TaskErrored](all), ended(all, core.AttemptLost)},
		{filled[core.TaskCancelled](all), ended(all, core.AttemptCancelled)},
		{filled[core.TaskBlocked](all), ended(all, core.AttemptInterrupted)},
	} {
		one := filled[core.Task](all)
		one.Launch.Chain, one.Phase, one.Current = chain, c.task, core.Attempt{}
		ids = append(ids, one.ID)
		require.NoError(t, tx.PutTask(one))
		wholeAttempts(t, tx, all, one.ID, c.attempt)
	}
	for _, id := range ids[1:] {
		require.NoError(t, tx.AddDependency(id, ids[0]))
	}
}

// wholeAttempts gives a task one that failed, one that is as the phase says, and replies.
func wholeAttempts(t *testing.T, tx store.Tx, all *sample, taskID string, last core.AttemptPhase) {
	t.Helper()
	for i, phase := range []core.AttemptPhase{ended(all, core.AttemptError), last} {
		a := filled[core.Attempt](all)
		a.TaskID, a.Number, a.Phase = taskID, i+1, phase
		require.NoError(t, tx.PutAttempt(a))
		r := filled[store.Reply](all)
		r.TaskID, r.Number = taskID, i+1
		require.NoError(t, tx.AddReply(r))
	}
}

func ended(all *sample, status core.AttemptStatus) core.Ended {
	p := filled[core.Ended](all)
	p.Status = status
	return p
}

// Every field of every record comes back, also bytes that no string of JSON can hold.
func TestEveryFieldIsMoved(t *testing.T) {
	s, copied := memory.New(), memory.New()
	whole(t, s)
	there := imported(t, memory.New(), export(t, s))
	_, err := move.Migrate(t.Context(), there, copied)
	require.NoError(t, err)
	for _, other := range []store.Store{there, copied} {
		requireSame(t, s, other)
	}
	require.Equal(t, string(export(t, s)), string(export(t, copied)))
}

// requireSame compares two stores by what their verbs give, not by what is written of it.
func requireSame(t *testing.T, a, b store.Store) {
	t.Helper()
	require.Equal(t, everything(t, a), everything(t, b))
}

func everything(t *testing.T, s store.Store) (all []any) {
	t.Helper()
	add := func(v any, err error) {
		require.NoError(t, err)
		require.NotEmpty(t, v)
		all = append(all, v)
	}
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		add(tx.Root())
		add(tx.Events(0, 100, nil))
		add(tx.Instructions(store.InstructionQuery{}))
		add(tx.Notices("", 0, 100))
		add(tx.Answers("", 100))
		add(tx.Breakers("", 100))
		runs, err := tx.Runs(store.RunQuery{})
		add(runs, err)
		for _, r := range runs {
			add(tx.Facts(r.ID))
			add(tx.Tallies(r.ID))
			for role := core.Worker; role <= core.Roles; role++ {
				p, _, err := tx.Prompt(r.ID, role)
				add(p, err)
			}
		}
		tasks, err := tx.Tasks(store.TaskQuery{})
		add(tasks, err)
		add(tx.Dependents(tasks[0].ID, "", 100))
		for _, one := range tasks {
			add(tx.Attempts(one.ID, 0, 100))
			add(tx.Replies(one.ID, 0, 100))
		}
		return nil
	}))
	return all
}

// The counts are those of what is there.
func TestSummaryCounts(t *testing.T) {
	s := memory.New()
	whole(t, s)
	var file bytes.Buffer
	summary, err := move.Export(t.Context(), s, &file, "ws")
	require.NoError(t, err)
	require.Equal(t, move.Counts{
		Events: 3, Instructions: 5, Runs: 2, Facts: 4, Tallies: 4, Prompts: 6, Tasks: 7, Attempts: 14, Replies: 14,
		Dependencies: 6, Breakers: 1, Notices: 1, Answers: 1,
	}, summary.Counts)
	read, err := move.Import(t.Context(), memory.New(), bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	require.Equal(t, summary, read)
}
