package law

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
)

func replyLaws() []Law {
	return []Law{
		law("replies are numbered and stay", repliesStay),
		law("replies are paged in order", repliesArePaged),
		law("a breaker comes back, and the opened ones are listed", breakersComeBack),
	}
}

// reply returns an answer. Time took the third, and no person.
func reply(taskID string, number int) store.Reply {
	return store.Reply{
		TaskID: taskID, Number: number, AttemptID: "att_" + taskID, Question: "which one?",
		Text: fmt.Sprint("the one with number ", number), Option: fmt.Sprint("option ", number), ByTime: number == 3, By: []string{"ann", ""}[number/3%2], At: start + core.Instant(number),
	}
}

func replies(t T, tx store.Tx, taskID string, after, limit int) []store.Reply {
	t.Helper()
	page, err := tx.Replies(taskID, after, limit)
	require.NoError(t, err)
	return append([]store.Reply{}, page...)
}

func repliesStay(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx, newTask("t", 1), newTask("other", 2))
		require.NoError(t, tx.AddReply(reply("t", 1)))
		require.NoError(t, tx.AddReply(reply("t", 2)))
		require.NoError(t, tx.AddReply(reply("other", 1)))
	})
	update(t, s, func(tx store.Tx) {
		for _, number := range []int{-1, 0, 1, 2, 4} {
			again := reply("t", number)
			again.Text = "something else"
			require.Error(t, tx.AddReply(again), "number %d", number)
		}
		require.Error(t, tx.AddReply(reply("nobody", 1)))
		require.Equal(t, []store.Reply{reply("t", 1), reply("t", 2)}, replies(t, tx, "t", 0, 10))
		require.NoError(t, tx.AddReply(reply("t", 3)))
	})
	view(t, s, func(tx store.Tx) {
		require.Equal(t, []store.Reply{reply("t", 1), reply("t", 2), reply("t", 3)}, replies(t, tx, "t", 0, 10))
		require.Equal(t, []store.Reply{reply("other", 1)}, replies(t, tx, "other", 0, 10))
	})
}

func repliesArePaged(t T, s store.Store) {
	update(t, s, func(tx store.Tx) {
		putTasks(t, tx, newTask("t", 1))
		for number := 1; number <= 11; number++ {
			require.NoError(t, tx.AddReply(reply("t", number)))
		}
	})
	view(t, s, func(tx store.Tx) {
		require.Equal(t, []store.Reply{reply("t", 1), reply("t", 2)}, replies(t, tx, "t", 0, 2))
		require.Equal(t, []store.Reply{reply("t", 10), reply("t", 11)}, replies(t, tx, "t", 9, 10))
		require.Empty(t, replies(t, tx, "t", 11, 10))
		require.Empty(t, replies(t, tx, "t", 0, 0))
		require.Empty(t, replies(t, tx, "nobody", 0, 10))
	})
}

func breakersComeBack(t T, s store.Store) {
	breaker := func(key string, opened int) task.Breaker {
		return task.Breaker{Key: key, Failures: 5, Opened: opened, Until: start, Probe: "att", ProbedAt: start + day}
	}
	update(t, s, func(tx store.Tx) {
		for _, b := range []task.Breaker{breaker("b/b", 1), breaker("a/a", 2), {Key: "c/c", Failures: 1}, breaker("", 1)} {
			require.NoError(t, tx.PutBreaker(b))
			got, ok, err := tx.Breaker(b.Key)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, b, got)
		}
		_, ok, err := tx.Breaker("d/d")
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, tx.PutBreaker(task.Breaker{Key: "b/b"}))
	})
	view(t, s, func(tx store.Tx) {
		opened, err := tx.OpenedBreakers()
		require.NoError(t, err)
		require.Equal(t, []task.Breaker{breaker("", 1), breaker("a/a", 2)}, opened)
		b, ok, err := tx.Breaker("b/b")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, task.Breaker{Key: "b/b"}, b, "it was replaced")
	})
}

// putTaskText puts a text wherever a task, an attempt or a reply has room for one.
func putTaskText(t T, tx store.Tx, name string, position int64, text string) {
	t.Helper()
	one := newTask(name, position)
	one.Spec.Prompt, one.Spec.Description, one.Spec.RunID, one.Spec.Role = text, text, text, text
	one.Spec.Parent, one.Spec.DependsOn, one.Spec.Labels = text, text, text
	one.Output, one.Question, one.Reply, one.Replies = text, text, text, 1
	one.Offer, one.Choice.Option = offer(t, text), text
	one.Phase = task.Cancelled{At: start, Reason: text}
	one.Current = over(one.Current, task.AttemptCancelled)
	p := one.Current.Phase.(task.EndedAttempt)
	p.Worker, p.Failure.Message = text, text
	one.Current.Phase = p
	putTasks(t, tx, one)
	said := reply(name, 1)
	said.Text, said.Question, said.Option, said.By = text, text, text, text
	require.NoError(t, tx.AddReply(said))
}

// requireTaskText compares without printing a text.
func requireTaskText(t T, tx store.Tx, name, text string) {
	t.Helper()
	got := getTask(t, tx, name)
	want := task.Spec{
		Prompt: text, Description: text, RunID: text, Role: text, Parent: text, Chain: chain(), MaxAttempts: 3,
		DependsOn: text, Labels: text,
	}
	require.True(t, got.Spec == want, "launch of %s is altered", name)
	require.True(t, got.Output == text && got.Question == text && got.Reply == text && got.Offer == offer(t, text) && got.Choice.Option == text,
		"what %s says is altered", name)
	require.True(t, got.Phase == task.Cancelled{At: start, Reason: text}, "reason of %s is altered", name)
	p := got.Current.Phase.(task.EndedAttempt)
	require.True(t, p.Worker == text && p.Failure.Message == text, "the attempt of %s is altered", name)
	said := replies(t, tx, name, 0, 10)
	require.Len(t, said, 1)
	require.True(t, said[0].Text == text && said[0].Question == text && said[0].Option == text && said[0].By == text, "reply to %s is altered", name)
}
