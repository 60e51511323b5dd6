package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
	"waybill/store"
)

// TestCoherentPairs says of each pair of a task and an attempt whether a store may hold it.
func TestCoherentPairs(t *testing.T) {
	stopped := []task.Status{task.StatusCancelled, task.StatusBlocked}
	allowed := map[task.AttemptStatus][]task.Status{
		task.AttemptPending:     {task.StatusQueued},
		task.AttemptRunning:     {task.StatusRunning},
		task.AttemptCompleted:   {task.StatusComplete},
		task.AttemptError:       append(stopped, task.StatusError),
		task.AttemptInterrupted: append(stopped, task.StatusError),
		task.AttemptLost:        append(stopped, task.StatusError),
		task.AttemptAwaiting:    append(stopped, task.StatusAwaiting),
		task.AttemptCancelled:   stopped,
	}
	phases := []task.Phase{
		task.Queued{},
		task.Running{},
		task.Complete{},
		task.Awaiting{},
		task.Errored{},
		task.Cancelled{},
		task.Blocked{},
	}
	require.Len(t, phases, len(task.Statuses()))
	for _, status := range coretest.AttemptStatuses() {
		a := task.Attempt{ID: "att", Number: 1, Phase: task.EndedAttempt{Status: status}}
		for _, phase := range phases {
			err := store.Coherent(task.Task{ID: "tsk", Phase: phase, Current: a})
			require.Equal(t, slices.Contains(allowed[status], phase.Status()), err == nil, "%s with %s", phase.Status(), status)
		}
	}
	require.ErrorContains(t, store.Coherent(task.Task{ID: "tsk", Phase: task.Queued{}}), "no attempt")
}

// TestCoreIsCoherent: whatever happens to a task, core gives none that a store would refuse.
func TestCoreIsCoherent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, _ := task.Create("tsk", "att_1", 1, task.Spec{MaxAttempts: 2}, 0, 1)
		require.NoError(t, store.Coherent(now))
		for at := core.Instant(2); at < 40; at++ {
			next, _, err := now.Step(drawEvent(t, now, at))
			if err != nil {
				continue
			}
			require.NoError(t, store.Coherent(next))
			now = next
		}
	})
}

func drawEvent(t *rapid.T, now task.Task, at core.Instant) task.Event {
	token, session := fmt.Sprint("tok", now.Current.Number), fmt.Sprint("ses", now.Current.Number)
	next := task.Successor{AttemptID: fmt.Sprint("att", now.Current.Number+1)}
	failure := task.Failure{Class: rapid.SampledFrom(task.Classes()).Draw(t, "class"), Message: "no"}
	ends := []task.AttemptStatus{
		task.AttemptCompleted, task.AttemptError, task.AttemptCancelled, task.AttemptInterrupted, task.AttemptAwaiting,
	}
	return rapid.SampledFrom([]task.Event{
		task.Claim{At: at, Worker: "w", Token: token, Length: 1},
		task.Bind{At: at, AttemptID: now.Current.ID, Token: token, Session: session},
		task.Expire{At: at, Next: next},
		task.Finish{
			At: at, Token: token, Status: rapid.SampledFrom(ends).Draw(t, "end"), Failure: failure,
			Mode: rapid.SampledFrom(coretest.RetryModes()).Draw(t, "mode"), Next: next,
		},
		task.ReportSession{
			At: at, Session: session, Kind: rapid.SampledFrom(coretest.SessionKinds()).Draw(t, "kind"), Failure: failure, Next: next,
		},
		task.Retry{At: at, Next: next},
		task.Cancel{At: at, Reason: "enough"},
		task.Reply{At: at, Text: "yes", Next: next},
		task.Block{At: at, Reason: "held back"},
	}).Draw(t, "event")
}
