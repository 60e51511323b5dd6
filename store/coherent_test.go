package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/store"
)

// TestCoherentPairs says of each pair of a task and an attempt whether a store may hold it.
func TestCoherentPairs(t *testing.T) {
	stopped := []core.TaskStatus{core.StatusCancelled, core.StatusBlocked}
	allowed := map[core.AttemptStatus][]core.TaskStatus{
		core.AttemptPending:     {core.StatusQueued},
		core.AttemptRunning:     {core.StatusRunning},
		core.AttemptCompleted:   {core.StatusComplete},
		core.AttemptError:       append(stopped, core.StatusError),
		core.AttemptInterrupted: append(stopped, core.StatusError),
		core.AttemptLost:        append(stopped, core.StatusError),
		core.AttemptAwaiting:    append(stopped, core.StatusAwaiting),
		core.AttemptCancelled:   stopped,
	}
	phases := []core.TaskPhase{
		core.TaskQueued{},
		core.TaskRunning{},
		core.TaskComplete{},
		core.TaskAwaiting{},
		core.TaskErrored{},
		core.TaskCancelled{},
		core.TaskBlocked{},
	}
	require.Len(t, phases, len(core.TaskStatuses()))
	for _, status := range core.AttemptStatuses() {
		a := core.Attempt{ID: "att", Number: 1, Phase: core.Ended{Status: status}}
		for _, phase := range phases {
			err := store.Coherent(core.Task{ID: "tsk", Phase: phase, Current: a})
			require.Equal(t, slices.Contains(allowed[status], phase.Status()), err == nil, "%s with %s", phase.Status(), status)
		}
	}
	require.ErrorContains(t, store.Coherent(core.Task{ID: "tsk", Phase: core.TaskQueued{}}), "no attempt")
}

// TestCoreIsCoherent: whatever happens to a task, core gives none that a store would refuse.
func TestCoreIsCoherent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, _ := core.CreateTask("tsk", "att_1", 1, core.Launch{MaxAttempts: 2}, 0, 1)
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

func drawEvent(t *rapid.T, now core.Task, at core.Instant) core.TaskEvent {
	token, session := fmt.Sprint("tok", now.Current.Number), fmt.Sprint("ses", now.Current.Number)
	next := core.Successor{AttemptID: fmt.Sprint("att", now.Current.Number+1)}
	failure := core.Failure{Class: rapid.SampledFrom(core.Classes()).Draw(t, "class"), Message: "no"}
	ends := []core.AttemptStatus{
		core.AttemptCompleted, core.AttemptError, core.AttemptCancelled, core.AttemptInterrupted, core.AttemptAwaiting,
	}
	return rapid.SampledFrom([]core.TaskEvent{
		core.ClaimTask{At: at, Worker: "w", Token: token, Length: 1},
		core.BindSession{At: at, AttemptID: now.Current.ID, Token: token, Session: session},
		core.ExpireLease{At: at, Next: next},
		core.FinishAttempt{
			At: at, Token: token, Status: rapid.SampledFrom(ends).Draw(t, "end"), Failure: failure,
			Mode: rapid.SampledFrom(core.RetryModes()).Draw(t, "mode"), Next: next,
		},
		core.HearSession{
			At: at, Session: session, Kind: rapid.SampledFrom(core.SessionKinds()).Draw(t, "kind"), Failure: failure, Next: next,
		},
		core.RetryTask{At: at, Next: next},
		core.CancelTask{At: at, Reason: "enough"},
		core.ReplyToTask{At: at, Text: "yes", Next: next},
		core.BlockTask{At: at, Reason: "held back"},
	}).Draw(t, "event")
}
