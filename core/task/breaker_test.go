package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
)

const (
	second core.Instant = 1_000_000
	day                 = 86_400 * second
)

// ended returns an attempt that ended at an instant, with a failure of a class, or with none.
func ended(id string, status task.AttemptStatus, class task.Class, at core.Instant) task.Attempt {
	return task.Attempt{ID: id, Model: opus, Phase: task.EndedAttempt{Status: status, At: at, Failure: task.Failure{Class: class}}}
}

func failedOn(id string, at core.Instant) task.Attempt {
	return ended(id, task.AttemptError, task.ClassProvider, at)
}

// noted returns the breaker after attempts have ended, none of which recorded anything.
func noted(t *testing.T, b task.Breaker, attempts ...task.Attempt) task.Breaker {
	t.Helper()
	for _, a := range attempts {
		next, effects := b.Note(a)
		require.Empty(t, effects)
		b = next
	}
	return b
}

// opened returns a breaker that has just opened.
func opened(t *testing.T, at core.Instant) task.Breaker {
	t.Helper()
	b := task.Breaker{Key: opus.Key()}
	for range 4 {
		b = noted(t, b, failedOn("att_1", at))
		require.False(t, b.Open(at))
	}
	b, effects := b.Note(failedOn("att_1", at))
	require.Equal(t, []core.Effect{core.Record{Type: core.BreakerOpened}}, effects)
	return b
}

func TestBreakerOpensAtTheFifthFailureInARow(t *testing.T) {
	b := opened(t, coretest.Noon)
	require.True(t, b.Open(coretest.Noon))
	require.True(t, b.Open(coretest.Noon+30*second-1))
	require.False(t, b.Open(coretest.Noon+30*second), "one may try now")
}

func TestSuccessStartsTheRowAnew(t *testing.T) {
	for _, status := range []task.AttemptStatus{task.AttemptCompleted, task.AttemptAwaiting} {
		b := task.Breaker{Key: opus.Key()}
		for range 4 {
			b = noted(t, b, failedOn("att_1", coretest.Noon))
		}
		b = noted(t, b, ended("att_1", status, "", coretest.Noon))
		require.Equal(t, task.Breaker{Key: opus.Key()}, b, status)
	}
}

// A worker that dies, a person that cancels and a prompt that is too long say nothing about a model.
func TestOnlyFailuresOfClassProviderCount(t *testing.T) {
	b := task.Breaker{Key: opus.Key()}
	for range 20 {
		b = noted(
			t, b,
			ended("att_1", task.AttemptError, task.ClassTransient, coretest.Noon), ended("att_1", task.AttemptError, task.ClassTerminal, coretest.Noon),
			ended("att_1", task.AttemptError, task.ClassUser, coretest.Noon), ended("att_1", task.AttemptLost, task.ClassProvider, coretest.Noon),
			ended("att_1", task.AttemptCancelled, task.ClassProvider, coretest.Noon), ended("att_1", task.AttemptInterrupted, "", coretest.Noon),
			task.Attempt{ID: "att_1", Phase: task.RunningAttempt{}}, task.Attempt{ID: "att_1", Phase: task.PendingAttempt{}},
		)
	}
	require.Equal(t, task.Breaker{Key: opus.Key()}, b)
}

func TestOneProbeAtATime(t *testing.T) {
	b := opened(t, coretest.Noon)
	at := coretest.Noon + 30*second
	b = b.Admit("att_probe", at)
	require.True(t, b.Open(at), "the probe is on its way")

	b = noted(t, b, failedOn("att_other", at), ended("att_old", task.AttemptCompleted, "", at))
	require.True(t, b.Open(at), "who was let through before it opened says nothing any more")

	closed, effects := b.Note(ended("att_probe", task.AttemptCompleted, "", at))
	require.Equal(t, []core.Effect{core.Record{Type: core.BreakerClosed}}, effects)
	require.Equal(t, task.Breaker{Key: opus.Key()}, closed)
	require.False(t, closed.Open(at))
}

func TestEachFailedProbeDoublesTheWhileUpToItsCap(t *testing.T) {
	b, at := opened(t, coretest.Noon), coretest.Noon
	for _, wait := range []core.Instant{30, 60, 120, 240, 300, 300, 300} {
		require.True(t, b.Open(at), "%d", wait)
		require.Equal(t, at+wait*second, b.HalfOpenAt(at))
		require.True(t, b.Open(at+wait*second-1), "%d", wait)
		require.False(t, b.Open(at+wait*second), "%d", wait)
		at += wait * second
		b = b.Admit("att_probe", at)
		var effects []core.Effect
		b, effects = b.Note(failedOn("att_probe", at))
		require.Equal(t, []core.Effect{core.Record{Type: core.BreakerOpened}}, effects)
	}
}

func TestProbeThatSaysNothingMakesRoomForTheNext(t *testing.T) {
	at := coretest.Noon + 30*second
	b := opened(t, coretest.Noon).Admit("att_probe", at)
	for _, over := range []task.Attempt{
		ended("att_probe", task.AttemptLost, task.ClassTransient, at), ended("att_probe", task.AttemptCancelled, "", at),
		ended("att_probe", task.AttemptError, task.ClassTerminal, at),
	} {
		next := noted(t, b, over)
		require.False(t, next.Open(at))
		require.True(t, next.Admit("att_next", at).Open(at))
	}
}

// A claim that never reached its worker tries nothing.
func TestProbeThatWasTakenBackMakesRoomForTheNext(t *testing.T) {
	at := coretest.Noon + 30*second
	b := opened(t, coretest.Noon).Admit("att_probe", at)
	require.True(t, noted(t, b, task.Attempt{ID: "att_other", Phase: task.PendingAttempt{}}).Open(at))
	require.False(t, noted(t, b, task.Attempt{ID: "att_probe", Phase: task.PendingAttempt{}}).Open(at))
}

func TestOpenBreakerSaysWhenTimeAloneFreesIt(t *testing.T) {
	b := opened(t, coretest.Noon)
	require.Equal(t, coretest.Noon+30*second, b.HalfOpenAt(coretest.Noon))
	require.Equal(t, coretest.Noon+30*second+day, b.Admit("att_probe", coretest.Noon+30*second).HalfOpenAt(coretest.Noon+30*second))
}

// Agents work for hours. A probe that is at it all the time must not be given up, and its success counts.
func TestProbeThatTakesLongerThanTheLongestWhileIsNotGivenUp(t *testing.T) {
	at := coretest.Noon + 30*second
	b := opened(t, coretest.Noon).Admit("att_probe", at)
	for _, later := range []core.Instant{300, 301, 3600, 20 * 3600} {
		require.True(t, b.Open(at+later*second))
	}
	b, effects := b.Note(ended("att_probe", task.AttemptCompleted, "", at+20*3600*second))
	require.Equal(t, []core.Effect{core.Record{Type: core.BreakerClosed}}, effects)
	require.Equal(t, task.Breaker{Key: opus.Key()}, b)
}

// Whatever succeeds on the model, after it was left alone, shows that it works again.
func TestSuccessOfAnybodyWhoBeganAfterTheOpeningClosesTheBreaker(t *testing.T) {
	opening := coretest.Noon
	for claimed, closes := range map[core.Instant]bool{opening - 1: false, opening: true, opening + 5: true} {
		b := opened(t, opening).Admit("att_probe", opening+30*second)
		b, effects := b.Note(began(ended("att_other", task.AttemptCompleted, "", opening+900*second), claimed))
		require.Equal(t, closes, b == task.Breaker{Key: opus.Key()}, claimed)
		require.Equal(t, closes, len(effects) > 0, claimed)
	}
	b := opened(t, opening).Admit("att_probe", opening+30*second)
	require.Equal(t, b, noted(t, b, began(failedOn("att_other", opening+900*second), opening+5)), "only the probe may fail it")
}

// began returns an ended attempt that was claimed at an instant.
func began(a task.Attempt, at core.Instant) task.Attempt {
	over := a.Phase.(task.EndedAttempt)
	over.StartedAt = at
	a.Phase = over
	return a
}

// A record of a probe that is damaged never tells of its end.
func TestProbeOfWhichNoEndIsEverHeardMakesRoomAfterADay(t *testing.T) {
	at := coretest.Noon + 30*second
	b := opened(t, coretest.Noon).Admit("att_probe", at)
	require.True(t, b.Open(at+day-1))
	require.False(t, b.Open(at+day))
}

// A probe that the host runs on another model tries this one no more.
func TestProbeThatLeavesTheModelMakesRoomForTheNext(t *testing.T) {
	at := coretest.Noon + 30*second
	b := opened(t, coretest.Noon).Admit("att_probe", at)
	require.Equal(t, b, b.Leave("att_other"))
	require.False(t, b.Leave("att_probe").Open(at))
}

// That a file is not found says nothing against a model, in however many tasks.
func TestGuessedClassDoesNotShutAModel(t *testing.T) {
	b := task.Breaker{Key: opus.Key()}
	for range 20 {
		for _, message := range []string{"file not found: a.go", "insufficient permissions", "bad request", "not enough credit"} {
			why := task.Classify(task.Failure{Message: message})
			require.Equal(t, task.ClassProvider, why.Class, message)
			a := failedOn("att_1", coretest.Noon)
			a.Phase = task.EndedAttempt{Status: task.AttemptError, At: coretest.Noon, Failure: why}
			b = noted(t, b, a)
		}
	}
	require.Equal(t, task.Breaker{Key: opus.Key()}, b)
}

// A clock that was set back must not hold a model back until it has caught up.
func TestFaultD25_ClockSetBackDoesNotHoldAModelBack(t *testing.T) {
	b := opened(t, coretest.Noon)
	require.False(t, b.Open(coretest.Noon-300*second))
	probing := b.Admit("att_probe", coretest.Noon+30*second)
	require.False(t, probing.Open(coretest.Noon-400*second))
}

func TestClosedBreakerAdmitsEverybody(t *testing.T) {
	b := task.Breaker{Key: opus.Key()}
	require.Equal(t, b, b.Admit("att_1", coretest.Noon))
	require.False(t, b.Open(coretest.Noon))
}

// Whatever happens, a breaker that hears nothing more lets somebody through after the longest while, or a
// day after its probe began, and one probe that succeeds closes it.
func TestBreakerHoldsNothingBackForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, at := task.Breaker{Key: opus.Key()}, coretest.Noon
		for n := range rapid.IntRange(0, 60).Draw(t, "length") {
			at += core.Instant(rapid.Int64Range(-600, 600).Draw(t, "later")) * second
			id := attemptID(rapid.IntRange(0, 3).Draw(t, "attempt"))
			if rapid.Bool().Draw(t, "claim") {
				if !b.Open(at) {
					b = b.Admit(id, at)
				}
				continue
			}
			status := rapid.SampledFrom(coretest.AttemptStatuses()[2:]).Draw(t, "status")
			before := b
			b, _ = b.Note(ended(id, status, rapid.SampledFrom(task.Classes()).Draw(t, "class"), at))
			if b.Opened > before.Opened && b.Until > at+300*second {
				t.Fatalf("step %d: open until %d at %d", n, b.Until, at)
			}
		}
		longest := 300 * second
		if b.Probe != "" {
			longest = day
		}
		if b.Open(at) && (b.HalfOpenAt(at) <= at || b.HalfOpenAt(at) > at+longest || b.Probe == "" && b.Open(b.HalfOpenAt(at))) {
			t.Fatalf("half open at %d: %+v at %d", b.HalfOpenAt(at), b, at)
		}
		silent := at + rapid.SampledFrom([]core.Instant{300, 301, 1_000_000}).Draw(t, "silence")*second
		if silent = max(silent, b.Until, b.ProbedAt+day); b.Open(silent) {
			t.Fatalf("still open: %+v at %d", b, silent)
		}
		if early := min(b.Until, b.ProbedAt) - 301*second; b.Open(early) {
			t.Fatalf("held back by a clock that was set back: %+v at %d", b, early)
		}
		b, _ = b.Admit("att_probe", silent).Note(ended("att_probe", task.AttemptCompleted, "", silent))
		if b != (task.Breaker{Key: opus.Key()}) {
			t.Fatalf("a success did not close it: %+v", b)
		}
	})
}
