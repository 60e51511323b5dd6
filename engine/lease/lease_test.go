package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine/lease"
)

// Each step is a check: how far the monotonic clock and the wall clock have moved since the step before.
func TestChecks(t *testing.T) {
	type step struct {
		clock, wall time.Duration
		since       time.Duration // the start of the checks without a gap, by the wall clock
		back        bool
	}
	const second = time.Second
	for name, steps := range map[string][]step{
		"every second":                  {{0, 0, 0, false}, {second, second, 0, false}, {second, second, 0, false}},
		"a late check is tolerated":     {{0, 0, 0, false}, {1400 * time.Millisecond, 1400 * time.Millisecond, 0, false}},
		"the process did not run":       {{0, 0, 0, false}, {5 * second, 5 * second, 5 * second, false}, {second, second, 5 * second, false}},
		"the machine slept":             {{0, 0, 0, false}, {second, 100 * second, 100 * second, false}},
		"the clock was set forward":     {{0, 0, 0, false}, {second, 3 * second, 3 * second, false}},
		"the clock was set back":        {{0, 0, 0, false}, {second, -10 * second, -10 * second, true}, {second, second, -10 * second, true}},
		"a little back is tolerated":    {{0, 0, 0, false}, {second, 600 * time.Millisecond, 0, false}},
		"back before the first instant": {{0, 0, 0, false}, {second, -400 * time.Millisecond, -400 * time.Millisecond, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var w lease.Watch
			w.SetGoing(true)
			began := time.Now()
			clock, wall := began, began.Round(0)
			for i, s := range steps {
				clock, wall = clock.Add(s.clock), wall.Add(s.wall)
				if i == 0 {
					w.Check(clock, wall) // the first one follows a gap
					w.SetGoing(true)
				}
				since, back := w.Check(clock, wall)
				require.Equal(t, core.Instant(began.Add(s.since).UnixMicro()), since, "step %d", i)
				require.Equal(t, s.back, back, "step %d", i)
			}
			w.Corrected()
			_, back := w.Check(clock, wall)
			require.False(t, back)
			w.SetGoing(false)
			since, _ := w.Check(clock, wall)
			require.Equal(t, core.Instant(wall.UnixMicro()), since, "no check was due, so there is a gap")
		})
	}
}
