package task_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
	"waybill/test/golden"
)

const (
	second  core.Instant = 1_000_000
	day                  = 86_400 * second
	opening              = coretest.Noon // when the breakers of the matrix open for the first time
)

// ended returns an attempt on the model of the breaker that was claimed and ended at instants.
func ended(id string, status task.AttemptStatus, why task.Failure, claimed, at core.Instant) task.Attempt {
	return task.Attempt{ID: id, Model: opus, Phase: task.EndedAttempt{Status: status, StartedAt: claimed, At: at, Failure: why}}
}

// breakerColumns are the events of the breaker matrix: an attempt that ends, is taken back, leaves the model or is admitted.
var breakerColumns = []struct {
	name  string
	event func(b task.Breaker, id string, at core.Instant) (task.Breaker, []core.Effect)
}{
	{"fails, provider", notes(task.AttemptError, task.Failure{Class: task.ClassProvider}, false)},
	{"fails, a guess", notes(task.AttemptError, task.Classify(task.Failure{Message: "file not found: a.go"}), false)},
	{"fails, no quota left", notes(task.AttemptError, task.Classify(answered(402)), false)},
	{"fails, transient", notes(task.AttemptError, task.Failure{Class: task.ClassTransient}, false)},
	{"fails, terminal", notes(task.AttemptError, task.Failure{Class: task.ClassTerminal}, false)},
	{"fails, user", notes(task.AttemptError, task.Failure{Class: task.ClassUser}, false)},
	{"is lost", notes(task.AttemptLost, task.Failure{Class: task.ClassProvider}, false)},
	{"is cancelled", notes(task.AttemptCancelled, task.Failure{Class: task.ClassProvider}, false)},
	{"completes", notes(task.AttemptCompleted, task.Failure{}, false)},
	{"completes, claimed before", notes(task.AttemptCompleted, task.Failure{}, true)},
	{"asks", notes(task.AttemptAwaiting, task.Failure{}, false)},
	{"runs", func(b task.Breaker, id string, _ core.Instant) (task.Breaker, []core.Effect) {
		return b.Note(task.Attempt{ID: id, Phase: task.RunningAttempt{}})
	}},
	{"is taken back", func(b task.Breaker, id string, _ core.Instant) (task.Breaker, []core.Effect) {
		return b.Note(task.Attempt{ID: id, Phase: task.PendingAttempt{}})
	}},
	{"leaves the model", func(b task.Breaker, id string, _ core.Instant) (task.Breaker, []core.Effect) { return b.Leave(id), nil }},
	{"is admitted", func(b task.Breaker, id string, at core.Instant) (task.Breaker, []core.Effect) {
		return b.Admit(id, at), nil
	}},
}

// notes returns the event of an attempt that ended. It was claimed at its end, or before the opening.
func notes(status task.AttemptStatus, why task.Failure, old bool) func(task.Breaker, string, core.Instant) (task.Breaker, []core.Effect) {
	return func(b task.Breaker, id string, at core.Instant) (task.Breaker, []core.Effect) {
		claimed := at
		if old {
			claimed = opening - 1
		}
		return b.Note(ended(id, status, why, claimed, at))
	}
}

// Failures of class provider in a row open the breaker of a model. Its pauses double up to five minutes, one probe at a
// time ends them, and a clock that was set back holds nothing up.
func TestBreakerMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("The breaker of a model (rows) after an event. An event without a line changes nothing. Times count from the first\nopening, in seconds.\n")
	row := func(name string, breaker task.Breaker, at core.Instant) {
		fmt.Fprintf(&b, "\n%s, at %s: %s\n", name, since(at), standing(breaker))
		looks := []core.Instant{opening - 400*second, at - 1, at, breaker.Until - 1, breaker.Until, at + day - 1, at + day}
		for _, look := range slices.Compact(slices.Sorted(slices.Values(looks))) {
			if breaker.Open(look) {
				fmt.Fprintf(&b, "  %-34s until %s\n", "holds attempts back at "+since(look), since(breaker.HalfOpenAt(look)))
			}
		}
		for _, id := range []string{"probe", "other"} {
			for _, column := range breakerColumns {
				if next, effects := column.event(breaker, id, at); next != breaker || len(effects) > 0 {
					fmt.Fprintf(&b, "  %-34s %s\n", id+" "+column.name, strings.Join(append([]string{standing(next)}, coretest.Words(effects)...), ", "))
				}
			}
		}
	}
	fails := breakerColumns[0].event
	breaker, at := task.Breaker{Key: opus.Key()}, opening
	row("closed", breaker, at)
	for range 4 {
		breaker, _ = fails(breaker, "other", at)
	}
	row("closed, four failures", breaker, at)
	breaker, _ = fails(breaker, "other", at)
	row("open", breaker, at)
	for n, pause := range []core.Instant{30, 60, 120, 240, 300} {
		at += pause * second
		row(fmt.Sprintf("open, pause %d is over", n+1), breaker, at)
		breaker = breaker.Admit("probe", at)
		row(fmt.Sprintf("open, probe %d runs", n+1), breaker, at)
		breaker, _ = fails(breaker, "probe", at)
	}
	row("open, the longest pause", breaker, at)
	golden.Equal(t, "breaker.golden", b.String())
}

func since(at core.Instant) string { return fmt.Sprint(float64(at-opening) / float64(second)) }

// standing returns the state of a breaker as text.
func standing(b task.Breaker) string {
	text := "closed"
	if b.Opened > 0 {
		text = fmt.Sprintf("open for the %d. time, until %s", b.Opened, since(b.Until))
	}
	if b.Failures > 0 {
		text += fmt.Sprintf(", failures %d", b.Failures)
	}
	if b.Probe != "" {
		text += fmt.Sprintf(", %s since %s", b.Probe, since(b.ProbedAt))
	}
	return text
}

// A breaker without further events admits an attempt after the longest pause, or a day after its probe began, and one
// successful probe closes it.
func TestBreakerHoldsNothingBackForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, at := task.Breaker{Key: opus.Key()}, opening
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
			b, _ = b.Note(ended(id, status, task.Failure{Class: rapid.SampledFrom(task.Classes()).Draw(t, "class")}, 0, at))
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
		b, _ = b.Admit("probe", silent).Note(ended("probe", task.AttemptCompleted, task.Failure{}, silent, silent))
		if b != (task.Breaker{Key: opus.Key()}) {
			t.Fatalf("a success did not close it: %+v", b)
		}
	})
}
