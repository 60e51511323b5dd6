package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/store"
)

// A family is a session that starts tasks which depend on each other.
type family struct {
	t *testing.T
	e *engine.Engine
}

func (f *family) create(parent string, dependsOn ...string) string {
	f.t.Helper()
	return do(f.t, f.e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		t, err := tx.CreateTask(core.Launch{Prompt: "x", Parent: parent, MaxAttempts: 1}, dependsOn)
		return t.ID, err
	}}).(string)
}

// end claims the oldest ready task, which has to be the given one, and ends it.
func (f *family) end(id string, status core.AttemptStatus) {
	f.t.Helper()
	do(f.t, f.e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		c, err := tx.ClaimTask(engine.Claim{Worker: "w", Length: 1 << 40})
		require.NoError(f.t, err)
		require.Equal(f.t, id, c.Task.ID)
		_, err = tx.FinishAttempt(id, core.FinishAttempt{Token: c.Lease.Token, Status: status})
		return nil, err
	}})
}

func (f *family) retry(id string) {
	f.t.Helper()
	do(f.t, f.e, engine.Change{Apply: func(tx *engine.Tx) (any, error) { return tx.RetryTask(id, core.Model{}) }})
}

// told gives the notices for a session and consumes them.
func (f *family) told(session string) []store.Notice {
	f.t.Helper()
	return do(f.t, f.e, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		notices, err := tx.Notices(session, 0, 100)
		for _, n := range notices {
			if _, err := tx.Consume([]string{n.ID}); err != nil {
				return nil, err
			}
		}
		return notices, err
	}}).([]store.Notice)
}

// summary gives the kind of a notice and what it says of those that wait.
func summary(t *testing.T, n store.Notice) string {
	t.Helper()
	var data struct {
		HoldsBack *struct {
			Count   int      `json:"count"`
			TaskIDs []string `json:"task_ids"`
		} `json:"holds_back"`
		InProgress *int `json:"in_progress"`
		HeldBack   int  `json:"held_back"`
	}
	require.NoError(t, json.Unmarshal([]byte(n.Data), &data))
	text := string(n.Kind)
	if data.HoldsBack != nil {
		text += fmt.Sprint(" holds back ", data.HoldsBack.Count, " named ", len(data.HoldsBack.TaskIDs))
	}
	if data.InProgress != nil {
		text += fmt.Sprint(" in progress ", *data.InProgress)
	}
	if data.HeldBack > 0 {
		text += fmt.Sprint(" held back ", data.HeldBack)
	}
	return text
}

func (f *family) summaries(session string) []string {
	f.t.Helper()
	list := []string{}
	for _, n := range f.told(session) {
		list = append(list, summary(f.t, n))
	}
	return list
}

// The defect: after an end that was not COMPLETE nobody was told of the tasks that it held back, and the
// session was never told that nothing went on.
func TestEndThatHoldsOthersBackSaysSo(t *testing.T) {
	f := &family{t, start(t, watch())}
	first, beside := f.create("ses"), f.create("ses")
	second := f.create("ses", first, beside)
	third := f.create("ses", second)
	f.create("other", first)
	f.end(first, core.AttemptInterrupted)
	notices := f.told("ses")
	require.Len(t, notices, 1)
	require.Equal(t, "task.finished holds back 2 named 2 in progress 1", summary(t, notices[0]))
	require.Contains(t, notices[0].Text, "; 2 tasks wait for it: "+second+", tsk_")
	require.Empty(t, f.told("other"))

	f.end(beside, core.AttemptCompleted)
	notices = f.told("ses")
	require.Equal(t, "task.finished in progress 0", summary(t, notices[0]))
	require.Equal(t, "tasks.all_finished held back 2", summary(t, notices[1]))
	require.Equal(t, "all 2 tasks of session ses are over: 1 complete, 1 not; 2 more are held back by what is not complete",
		notices[1].Text)

	f.retry(first) // and all goes on
	f.end(first, core.AttemptCompleted)
	require.Equal(t, []string{"task.finished in progress 2"}, f.summaries("ses"))
	f.end(second, core.AttemptCompleted)
	require.Equal(t, []string{"task.finished in progress 1"}, f.summaries("ses"))
	f.end(third, core.AttemptCompleted)
	require.Equal(t, []string{"task.finished in progress 0", "tasks.all_finished"}, f.summaries("ses"))
}

// Of very many that wait, the first ones are named.
func TestNoticeNamesTwentyOfThoseHeldBack(t *testing.T) {
	f := &family{t, start(t, watch())}
	first := f.create("ses")
	for range 25 {
		f.create("ses", first)
	}
	f.end(first, core.AttemptInterrupted)
	notices := f.told("ses")
	require.Equal(t, "task.finished holds back 25 named 20 in progress 0", summary(t, notices[0]))
	require.Contains(t, notices[0].Text, "; 25 tasks wait for it: ")
	require.Equal(t, "tasks.all_finished held back 25", summary(t, notices[1]))
}

// The defect: all of five hundred dependencies were read and named for each task of a list.
func TestTwentyDependenciesAreNamed(t *testing.T) {
	f := &family{t, start(t, watch())}
	var all []string
	for range 30 {
		all = append(all, f.create(""))
	}
	id := f.create("", all...)
	for n := range 12 {
		holds := f.holds(id)
		require.Len(t, holds, min(20, 30-n))
		require.Equal(t, all[n], holds[0].TaskID)
		f.end(all[n], core.AttemptCompleted)
	}
	require.Len(t, f.holds(id), 18)
}

func (f *family) holds(id string) (holds []engine.Hold) {
	f.t.Helper()
	require.NoError(f.t, f.e.View(f.t.Context(), func(tx store.Tx) error {
		task, _, err := tx.Task(id)
		require.NoError(f.t, err)
		holds, err = engine.WaitsFor(tx, task)
		return err
	}))
	return holds
}
