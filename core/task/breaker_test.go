package task_test

import (
	"fmt"
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

// A breakerEvent is an attempt that ends, is taken back, leaves the model or is admitted at an instant.
type breakerEvent func(b task.Breaker, at core.Instant) (task.Breaker, []core.Effect)

// notes returns the event of an attempt that ended. It was claimed when it ended, or long before the opening.
func notes(id string, status task.AttemptStatus, why task.Failure, old bool) breakerEvent {
	return func(b task.Breaker, at core.Instant) (task.Breaker, []core.Effect) {
		claimed := at
		if old {
			claimed = opening - 1
		}
		return b.Note(ended(id, status, why, claimed, at))
	}
}

// noted returns the event of an attempt that has not ended.
func noted(id string, phase task.AttemptPhase) breakerEvent {
	return func(b task.Breaker, _ core.Instant) (task.Breaker, []core.Effect) {
		return b.Note(task.Attempt{ID: id, Phase: phase})
	}
}

func admits(id string) breakerEvent {
	return func(b task.Breaker, at core.Instant) (task.Breaker, []core.Effect) { return b.Admit(id, at), nil }
}

func leaves(id string) breakerEvent {
	return func(b task.Breaker, _ core.Instant) (task.Breaker, []core.Effect) { return b.Leave(id), nil }
}

// Failures of class provider in a row open the breaker of a model. Its pauses double up to five minutes, one probe at a
// time ends them, and a clock that was set back holds nothing up.
func TestBreakerMatrix(t *testing.T) {
	fails := notes("other", task.AttemptError, task.Failure{Class: task.ClassProvider}, false)
	probeFails := notes("probe", task.AttemptError, task.Failure{Class: task.ClassProvider}, false)
	type situation struct {
		name string
		b    task.Breaker
		at   core.Instant
	}
	rows, at := []situation{{"closed", task.Breaker{Key: opus.Key()}, opening}}, opening
	add := func(name string, later core.Instant, events ...breakerEvent) {
		b := rows[len(rows)-1].b
		at += later
		for _, event := range events {
			b, _ = event(b, at)
		}
		rows = append(rows, situation{name, b, at})
	}
	add("closed, four failures", 0, fails, fails, fails, fails)
	add("open", 0, fails)
	add("open, the pause is over", 30*second)
	add("open, a probe runs", 0, admits("probe"))
	for i, pause := range []core.Instant{60, 120, 240, 300, 300} {
		add(fmt.Sprintf("open, %d probes failed", i+1), 0, probeFails)
		if i < 4 {
			add(fmt.Sprintf("open, probe %d runs", i+2), pause*second, admits("probe"))
		}
	}
	var b strings.Builder
	b.WriteString("The breaker of a model (rows) after an event. An event without a line changes nothing. Times count from the first\nopening, in seconds.\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "\n%s, at %s: %s\n", row.name, since(row.at), standing(row.b))
		var open []string
		for _, look := range []core.Instant{opening - 400*second, row.at - 1, row.at, row.b.Until - 1, row.b.Until, row.at + day - 1, row.at + day} {
			if row.b.Open(look) {
				open = append(open, fmt.Sprintf("%s (until %s)", since(look), since(row.b.HalfOpenAt(look))))
			}
		}
		fmt.Fprintf(&b, "  %-34s %s\n", "holds attempts back at", strings.Join(open, ", "))
		for _, id := range []string{"probe", "other"} {
			for _, column := range []struct {
				name  string
				event breakerEvent
			}{
				{"fails, provider", notes(id, task.AttemptError, task.Failure{Class: task.ClassProvider}, false)},
				{"fails, a guess", notes(id, task.AttemptError, task.Classify(task.Failure{Message: "file not found: a.go"}), false)},
				{"fails, no quota left", notes(id, task.AttemptError, task.Classify(answered(402)), false)},
				{"fails, transient", notes(id, task.AttemptError, task.Failure{Class: task.ClassTransient}, false)},
				{"fails, terminal", notes(id, task.AttemptError, task.Failure{Class: task.ClassTerminal}, false)},
				{"fails, user", notes(id, task.AttemptError, task.Failure{Class: task.ClassUser}, false)},
				{"is lost", notes(id, task.AttemptLost, task.Failure{Class: task.ClassProvider}, false)},
				{"is cancelled", notes(id, task.AttemptCancelled, task.Failure{Class: task.ClassProvider}, false)},
				{"completes", notes(id, task.AttemptCompleted, task.Failure{}, false)},
				{"completes, claimed before", notes(id, task.AttemptCompleted, task.Failure{}, true)},
				{"asks", notes(id, task.AttemptAwaiting, task.Failure{}, false)},
				{"runs", noted(id, task.RunningAttempt{})},
				{"is taken back", noted(id, task.PendingAttempt{})},
				{"leaves the model", leaves(id)},
				{"is admitted", admits(id)},
			} {
				next, effects := column.event(row.b, row.at)
				if next == row.b && len(effects) == 0 {
					continue
				}
				fmt.Fprintf(&b, "  %-34s %s", id+" "+column.name, standing(next))
				for _, effect := range effects {
					fmt.Fprintf(&b, ", log %s", effect.(core.Record).Type)
				}
				b.WriteByte('\n')
			}
		}
	}
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
