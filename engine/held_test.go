package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/engine"
	"waybill/store"
)

var (
	completed   = task.Finish{Status: task.AttemptCompleted}
	interrupted = task.Finish{Status: task.AttemptInterrupted}
	ours        = task.Spec{Parent: "ses"}
)

// noticesOf returns and consumes the notices for a session.
func (f *taskFixture) noticesOf(session string) []store.Notice {
	f.t.Helper()
	return f.apply(func(tx *engine.Tx) (any, error) {
		notices, err := tx.Notices(session, 0, 100)
		for _, n := range notices {
			if _, err := tx.Consume([]string{n.ID}); err != nil {
				return nil, err
			}
		}
		return notices, err
	}).([]store.Notice)
}

// summary returns the kind of a notice and its waiting tasks.
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

func (f *taskFixture) summaries(session string) []string {
	f.t.Helper()
	list := []string{}
	for _, n := range f.noticesOf(session) {
		list = append(list, summary(f.t, n))
	}
	return list
}

// The notice of a failed task names the tasks that it holds back, and the session is told that nothing continues.
func TestEndThatHoldsOthersBackSaysSo(t *testing.T) {
	f := newTaskFixture(t)
	first, beside := f.create(ours), f.create(ours)
	second := f.create(ours, first, beside)
	third := f.create(ours, second)
	f.create(task.Spec{Parent: "other"}, first)
	f.end(first, interrupted)
	notices := f.noticesOf("ses")
	require.Len(t, notices, 1)
	require.Equal(t, "task.finished holds back 2 named 2 in progress 1", summary(t, notices[0]))
	require.Contains(t, notices[0].Text, "; 2 tasks wait for it: "+second+", tsk_")
	require.Empty(t, f.noticesOf("other"))

	f.end(beside, completed)
	notices = f.noticesOf("ses")
	require.Equal(t, "task.finished in progress 0", summary(t, notices[0]))
	require.Equal(t, "tasks.all_finished held back 2", summary(t, notices[1]))
	require.Equal(t, "all 2 tasks of session ses are over: 1 complete, 1 not; 2 more wait for a task that did not complete\n"+
		"- task "+first+` "x": ERROR (interrupted)`+"\n- task "+beside+` "x": COMPLETE`, notices[1].Text)

	f.apply(func(tx *engine.Tx) (any, error) { return tx.RetryTask(first, task.Model{}) }) // and all goes on
	f.end(first, completed)
	require.Equal(t, []string{"task.finished in progress 2"}, f.summaries("ses"))
	f.end(second, completed)
	require.Equal(t, []string{"task.finished in progress 1"}, f.summaries("ses"))
	f.end(third, completed)
	require.Equal(t, []string{"task.finished in progress 0", "tasks.all_finished"}, f.summaries("ses"))
}

func TestLastNoticeOfASessionHasALineForEachTask(t *testing.T) {
	f := newTaskFixture(t)
	var ids []string
	for range 23 {
		ids = append(ids, f.create(ours))
	}
	f.create(task.Spec{Parent: "other"})
	f.end(ids[0], interrupted)
	for _, id := range ids[1:] {
		f.end(id, completed)
	}
	notices := f.noticesOf("ses")
	last := notices[len(notices)-1]
	lines := strings.Split(last.Text, "\n")
	require.Len(t, lines, 22)
	require.Equal(t, "all 23 tasks of session ses are over: 22 complete, 1 not", lines[0])
	require.Equal(t, "- task "+ids[0]+` "x": ERROR (interrupted)`, lines[1])
	require.Equal(t, "- task "+ids[22]+` "x": COMPLETE`, lines[2])
	require.Equal(t, "- task "+ids[4]+` "x": COMPLETE`, lines[20])
	require.Equal(t, "- 3 more (list_tasks has all of them)", lines[21])
	var data struct {
		Tasks []struct {
			TaskID      string `json:"task_id"`
			Description string `json:"description"`
			Status      string `json:"status"`
			Reason      string `json:"reason"`
		} `json:"tasks"`
		LeftOut int `json:"tasks_left_out"`
	}
	require.NoError(t, json.Unmarshal([]byte(last.Data), &data))
	require.Len(t, data.Tasks, 20)
	require.Equal(t, ids[0], data.Tasks[0].TaskID)
	require.Equal(t, "x ERROR interrupted", data.Tasks[0].Description+" "+data.Tasks[0].Status+" "+data.Tasks[0].Reason)
	require.Equal(t, 3, data.LeftOut)
}

func TestNoticeNamesTwentyOfThoseHeldBack(t *testing.T) {
	f := newTaskFixture(t)
	first := f.create(ours)
	for range 25 {
		f.create(ours, first)
	}
	f.end(first, interrupted)
	notices := f.noticesOf("ses")
	require.Equal(t, "task.finished holds back 25 named 20 in progress 0", summary(t, notices[0]))
	require.Contains(t, notices[0].Text, "; 25 tasks wait for it: ")
	require.Equal(t, "tasks.all_finished held back 25", summary(t, notices[1]))
}

// A list must not read all of five hundred dependencies of a task.
func TestTwentyDependenciesAreNamed(t *testing.T) {
	f := newTaskFixture(t)
	var all []string
	for range 30 {
		all = append(all, f.create(task.Spec{}))
	}
	id := f.create(task.Spec{}, all...)
	for n := range 12 {
		_, holds := f.task(id)
		require.Len(t, holds, min(20, 30-n))
		require.Equal(t, all[n], holds[0].TaskID)
		f.end(all[n], completed)
	}
	_, holds := f.task(id)
	require.Len(t, holds, 18)
}
