package transfer_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/transfer"
	"waybill/test/teststore"
)

// sample sets every field that can be set, each to another value: what an export forgets is missed then.
type sample struct{ n int }

// valid holds a value for each type of which the database knows all values.
var valid = map[reflect.Type]any{
	reflect.TypeFor[core.Role]():             core.CodeQualityReviewer,
	reflect.TypeFor[instruction.AckSource](): instruction.ByEvent,
	reflect.TypeFor[run.State]():             run.Blocked,
	reflect.TypeFor[run.Halt]():              run.HaltStalled,
	reflect.TypeFor[run.ResultForm]():        run.ResultJSON,
	reflect.TypeFor[run.Naming]():            run.OwnNames,
	reflect.TypeFor[proof.Names]():           proof.Names("lint,test"), // the policy and the proof of a run agree
	reflect.TypeFor[proof.Proof](): proof.Proof{
		Required: "lint,test", Green: "lint", Red: "test", Stale: "test", Protected: "lint", Untrusted: "test",
		Tree: "é", Unbound: true, Round: 3, Counted: true,
	},
	reflect.TypeFor[task.Cause]():       task.CauseReply,
	reflect.TypeFor[task.Class]():       task.ClassProvider,
	reflect.TypeFor[task.ErrorReason](): task.ReasonTimeout,
	reflect.TypeFor[task.Spent]():       task.Spent{Failures: 2, OnModel: 1},
}

func (s *sample) fill(v reflect.Value) {
	s.n++
	if known, ok := valid[v.Type()]; ok {
		v.Set(reflect.ValueOf(known))
		return
	}
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

// filled returns a value of which every field is set.
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
		require.NoError(t, tx.PutBreaker(filled[task.Breaker](&all)))
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
	for _, phase := range []instruction.Phase{
		instruction.Armed{}, instruction.Queued{}, filled[instruction.Sent](all), filled[instruction.Acknowledged](all), filled[instruction.Failed](all), filled[instruction.Cancelled](all),
	} {
		in := filled[instruction.Instruction](all)
		in.Phase = phase
		switch phase.(type) {
		case instruction.Acknowledged, instruction.Failed: // no standing instruction is
			in.Trigger = instruction.Trigger{}
		}
		require.NoError(t, tx.PutInstruction(in))
	}
}

func wholeRun(t *testing.T, tx store.Tx, all *sample) {
	t.Helper()
	first, second := filled[run.Run](all), filled[run.Run](all)
	first.ID, second.ID = "z began first", "a began second"
	for _, r := range []run.Run{first, second} {
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
	chain, err := task.NewChain([]task.Model{{Provider: "<&> é", ID: "m", Variant: "v"}, {Provider: "p", ID: "m"}})
	require.NoError(t, err)
	offer, err := task.NewOffer([]task.Option{{Label: "<&> é", Detail: "d"}, {Label: "l"}}, true, "l", 1_000_000)
	require.NoError(t, err)
	var ids []string
	for _, c := range []struct {
		task    task.Phase
		attempt task.AttemptPhase
	}{
		{filled[task.Queued](all), task.PendingAttempt{}},
		{filled[task.Running](all), filled[task.RunningAttempt](all)},
		{task.Complete{}, ended(all, task.AttemptCompleted)},
		{filled[task.Awaiting](all), ended(all, task.AttemptAwaiting)},
		{filled[task.Errored](all), ended(all, task.AttemptLost)},
		{filled[task.Cancelled](all), ended(all, task.AttemptCancelled)},
		{filled[task.Blocked](all), ended(all, task.AttemptInterrupted)},
	} {
		one := filled[task.Task](all)
		one.Spec.Chain, one.Phase, one.Current, one.Offer = chain, c.task, task.Attempt{}, offer
		ids = append(ids, one.ID)
		require.NoError(t, tx.PutTask(one))
		wholeAttempts(t, tx, all, one.ID, c.attempt)
	}
	for _, id := range ids[1:] {
		require.NoError(t, tx.AddDependency(id, ids[0]))
	}
}

// wholeAttempts returns a task one that failed, one that is as the phase says, and replies.
func wholeAttempts(t *testing.T, tx store.Tx, all *sample, taskID string, last task.AttemptPhase) {
	t.Helper()
	for i, phase := range []task.AttemptPhase{ended(all, task.AttemptError), last} {
		a := filled[task.Attempt](all)
		if p, ok := phase.(task.RunningAttempt); ok {
			p.Lease.Epoch = i + 1
			phase = p
		}
		a.TaskID, a.Number, a.Phase = taskID, i+1, phase
		require.NoError(t, tx.PutAttempt(a))
		r := filled[store.Reply](all)
		r.TaskID, r.Number, r.ByTime = taskID, i+1, i > 0
		if r.ByTime {
			r.By = ""
		}
		require.NoError(t, tx.AddReply(r))
	}
}

func ended(all *sample, status task.AttemptStatus) task.EndedAttempt {
	p := filled[task.EndedAttempt](all)
	p.Status = status
	return p
}

// Every field of every record comes back, also bytes that no string of JSON can hold.
func TestEveryFieldIsMoved(t *testing.T) {
	s, copied := teststore.New(t), teststore.New(t)
	whole(t, s)
	there := imported(t, teststore.New(t), export(t, s))
	_, err := transfer.Migrate(t.Context(), there, copied)
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
	s := teststore.New(t)
	whole(t, s)
	var file bytes.Buffer
	summary, err := transfer.Export(t.Context(), s, &file, "ws")
	require.NoError(t, err)
	require.Equal(t, transfer.Counts{
		Events: 3, Instructions: 6, Runs: 2, Facts: 4, Tallies: 4, Prompts: 6, Tasks: 7, Attempts: 14, Replies: 14,
		Dependencies: 6, Breakers: 1, Notices: 1, Answers: 1,
	}, summary.Counts)
	read, err := transfer.Import(t.Context(), teststore.New(t), bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	require.Equal(t, summary, read)
}
