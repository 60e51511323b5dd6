package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/task"
)

func leaseOf(t require.TestingT, tsk task.Task) task.Lease {
	p, running := tsk.Current.Phase.(task.RunningAttempt)
	require.True(t, running)
	return p.Lease
}

// observed puts a look at the lease to a running task and tells whether the attempt was lost.
func observed(t require.TestingT, tsk task.Task, at, calm core.Instant) (task.Task, bool) {
	next, _, err := tsk.Step(task.Expire{At: at, Calm: calm, Next: successor(tsk)})
	require.NoError(t, err)
	return next, next.Status() != task.StatusRunning
}

func TestLeaseRunsForItsLengthAndNotAMicrosecondLess(t *testing.T) {
	tsk := lived(t, newTask(t, 0), claims) // from 200
	require.Equal(t, task.Lease{Token: "tok_01", Epoch: 1, ExpiresAt: 1200, Length: leaseLength}, leaseOf(t, tsk))
	_, lost := observed(t, tsk, 1199, 0)
	require.False(t, lost)
	over, lost := observed(t, tsk, 1200, 0)
	require.True(t, lost)
	require.Equal(t, task.CauseRetry, over.Current.Cause)
}

func TestHeartbeatMayChangeTheLength(t *testing.T) {
	tsk := lived(t, newTask(t, 0), claims, as(beats, func(e *task.Heartbeat) { e.At, e.Length = 300, 50 }))
	require.Equal(t, core.Instant(350), leaseOf(t, tsk).ExpiresAt)
	tsk = lived(t, tsk, as(beats, func(e *task.Heartbeat) { e.At = 340 }))
	require.Equal(t, core.Instant(390), leaseOf(t, tsk).ExpiresAt, "the new length stays")
}

// A laptop that slept has kept its workers from reporting. They get a whole lease when it wakes.
func TestObserverThatSleptWaitsOneLeaseLength(t *testing.T) {
	tsk := lived(t, newTask(t, 0), claims)
	for woke := core.Instant(1200); woke < 9000; woke += 700 {
		spared, lost := observed(t, tsk, woke, woke)
		require.False(t, lost)
		require.Equal(t, task.Lease{
			Token: "tok_01", Epoch: 1, ExpiresAt: woke + leaseLength, Length: leaseLength, Spared: true,
		}, leaseOf(t, spared))
		require.Equal(t, tsk.UpdatedAt, spared.UpdatedAt)
		_, lost = observed(t, spared, woke+leaseLength-1, woke)
		require.False(t, lost)
		_, lost = observed(t, spared, woke+leaseLength, woke)
		require.True(t, lost)
	}
}

// Whoever wakes just before the end of a lease has kept its worker from reporting all the same.
func TestObserverThatWokeJustBeforeTheEndWaitsOneLeaseLength(t *testing.T) {
	task := lived(t, newTask(t, 0), claims)
	spared, lost := observed(t, task, 1200, 1199)
	require.False(t, lost)
	_, lost = observed(t, spared, 1199+leaseLength, 1199)
	require.False(t, lost)
	_, lost = observed(t, spared, 1200+leaseLength, 1199)
	require.True(t, lost)
}

// A live worker sends a heartbeat within half of its lease, so an observer of that half may end the lease.
func TestObserverThatWatchedTheLastHalfEndsTheLease(t *testing.T) {
	task := lived(t, newTask(t, 0), claims) // to 1200
	_, lost := observed(t, task, 1200, 701)
	require.False(t, lost)
	_, lost = observed(t, task, 1200, 700)
	require.True(t, lost)
}

// Those who look once and go away would spare it for ever.
func TestObserversThatNeverWatchEndALeaseTheSecondTime(t *testing.T) {
	task := lived(t, newTask(t, 0), claims)
	task, lost := observed(t, task, 5000, 5000)
	require.False(t, lost)
	task, lost = observed(t, task, 5999, 5999)
	require.False(t, lost)
	_, lost = observed(t, task, 6000, 6000)
	require.True(t, lost)
}

// The defect: a worker was given time once in its life, and lost its attempt when the machine slept again.
func TestLeaseIsSparedAgainAfterASignOfLife(t *testing.T) {
	tsk := lived(t, newTask(t, 0), claims)
	tsk, _ = observed(t, tsk, 5000, 5000)
	tsk = lived(t, tsk, as(beats, func(e *task.Heartbeat) { e.At = 5900 }))
	require.False(t, leaseOf(t, tsk).Spared)
	tsk, lost := observed(t, tsk, 90_000, 90_000)
	require.False(t, lost)
	_, lost = observed(t, tsk, 90_000+leaseLength, 90_000)
	require.True(t, lost)
}

// A clock that is set back a year must not give a dead worker a year.
func TestFaultD25_LeaseNeverOutlivesItsLengthWhenTheClockIsSetBack(t *testing.T) {
	task := lived(t, newTask(t, 0), claims)
	next, lost := observed(t, task, -5_000_000, 0)
	require.False(t, lost)
	require.Equal(t, core.Instant(-5_000_000+leaseLength), leaseOf(t, next).ExpiresAt)
	require.Equal(t, task.UpdatedAt, next.UpdatedAt)
	_, lost = observed(t, next, -5_000_000+leaseLength, -6_000_000)
	require.True(t, lost)
}

// A clock that is set back while an attempt runs is not hidden: its end is told as it was seen, and that it
// cannot be right.
func TestFaultD25_AttemptThatEndsBeforeItBeganSaysSo(t *testing.T) {
	tsk := lived(t, newTask(t, 0), claims)
	require.False(t, tsk.Current.ClockSkew())
	over := lived(t, tsk, as(completes, func(e *task.Finish) { e.At = 3 }))
	require.Equal(t, core.Instant(3), over.Current.EndedAt())
	require.Equal(t, core.Instant(200), over.UpdatedAt)
	require.True(t, over.Current.ClockSkew())
	over = lived(t, tsk, as(completes, func(e *task.Finish) { e.At = 200 }))
	require.False(t, over.Current.ClockSkew(), "it took no tick of the clock")
	require.False(t, lived(t, newTask(t, 0), cancels).Current.ClockSkew(), "it never began")
}

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

// The waits before retries on one model, as the tasks show them.
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
		if p.NotBefore == 0 {
			all = append(all, 0)
			continue
		}
		all = append(all, int64(p.NotBefore-at))
	}
	return all
}

func TestRetriesOnOneModelWaitTwiceAsLongEachTimeUpToAMinute(t *testing.T) {
	seconds := func(all ...int64) []int64 {
		for i := range all {
			all[i] *= 1_000_000
		}
		return all
	}
	require.Equal(t, seconds(1, 2, 4, 8, 16, 32, 60, 60), waits(t, task.Successor{Base: 1_000_000}, 8))
	require.Equal(t, seconds(60, 60), waits(t, task.Successor{Base: 90_000_000}, 2))
	require.Equal(t, []int64{1_500_000, 3_000_000}, waits(t, task.Successor{Base: 1_000_000, Jitter: 999}, 2))
	require.Equal(t, make([]int64, 5), waits(t, task.Successor{Jitter: 999}, 5), "without a base nothing waits")
}

// A wait beyond the longest one is a clock that was set back; the longest one is not.
func TestFaultD25_LongestWaitIsWaitedAndALongerOneIsNot(t *testing.T) {
	tsk := lived(t, newTask(t, 0), claims, as(failsTransient, func(e *task.Finish) { e.Next.Base = 60_000_000 }))
	due := tsk.Phase.(task.Queued).NotBefore
	require.False(t, tsk.Claimable(due-1))
	require.True(t, tsk.Claimable(due))
	require.False(t, tsk.Claimable(due-60_000_000))
	require.True(t, tsk.Claimable(due-60_000_001))
}

func TestBackoffKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(1, 1<<62).Draw(t, "base")
		jitter := rapid.IntRange(0, 999).Draw(t, "jitter")
		for n, wait := range waits(t, task.Successor{Base: base, Jitter: jitter}, 8) {
			least := int64(60_000_000)
			if doubled := float64(base) * float64(int(1)<<n); doubled < 60e6 {
				least = base << n
			}
			if wait < least || wait > min(least+least/2, 60_000_000) {
				t.Fatalf("wait %d of base %d and jitter %d is %d", n+1, base, jitter, wait)
			}
		}
	})
}
