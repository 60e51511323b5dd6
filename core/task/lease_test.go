package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
)

func TestLostAttemptSaysHowLongNothingWasHeard(t *testing.T) {
	for length, want := range map[int64]string{
		-7: "0s", 1: "0ms", 250_000: "250ms", 999_999: "999ms", 1_000_000: "1s", 59_999_999: "59s", 60_000_000: "1m 0s",
		3_599_000_000: "59m 59s", 3_600_000_000: "1h 0m 0s", 3_723_000_000: "1h 2m 3s", 0: "0s",
	} {
		tsk := lived(t, newTask(t, 0), as(claims, func(e *task.Claim) { e.Length = length }))
		_, effects, err := tsk.Step(task.Expire{At: 1 << 40, Next: successor(tsk)})
		require.NoError(t, err)
		why := kept(effects)[0].Failure()
		require.Equal(t, task.Failure{
			Class: task.ClassTransient, Name: "LeaseExpired",
			Message: `nothing was heard of worker "w1" for ` + want + ", the length of its lease",
		}, why)
	}
}

// waits returns the waits before retries on one model.
func waits(t require.TestingT, next task.Successor, retries int) []int64 {
	tsk, _ := task.Create("tsk_1", "att_00", 1, launch(t, retries+1), 0, 0)
	at := core.Instant(0)
	var all []int64
	for n := range retries {
		at += 100_000_000
		tsk, _, _ = tsk.Step(task.Claim{At: at, Worker: "w", Token: tokenOf(n), Length: leaseLength})
		e := breaks(task.ClassTransient, task.RetryAuto)(tsk, at).(task.Finish)
		e.Next = next
		e.Next.AttemptID = attemptID(n + 1)
		var err error
		tsk, _, err = tsk.Step(e)
		require.NoError(t, err)
		p := tsk.Phase.(task.Queued)
		all = append(all, int64(max(p.NotBefore-at, 0)))
	}
	return all
}

// The first wait is doubled each time, up to a minute. Jitter adds up to a half.
func TestRetriesOnOneModelWaitLongerEachTime(t *testing.T) {
	for next, want := range map[task.Successor][]int64{
		{Base: 1_000_000}:              {1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000, 32_000_000, 60_000_000, 60_000_000},
		{Base: 1_000_000, Jitter: 999}: {1_500_000, 3_000_000},
		{Base: 1 << 62, Jitter: 999}:   {60_000_000, 60_000_000},
		{Jitter: 999}:                  {0, 0, 0, 0, 0},
	} {
		require.Equal(t, want, waits(t, next, len(want)))
	}
}

// A wait longer than a minute means that the clock was set back.
func TestLongestWaitIsWaitedAndALongerOneIsNot(t *testing.T) {
	tsk := lived(t, newTask(t, 0), claims, as(failsTransient, func(e *task.Finish) { e.Next.Base = 60_000_000 }))
	due := tsk.Phase.(task.Queued).NotBefore
	require.False(t, tsk.Claimable(due-1))
	require.True(t, tsk.Claimable(due))
	require.False(t, tsk.Claimable(due-60_000_000))
	require.True(t, tsk.Claimable(due-60_000_001))
}
