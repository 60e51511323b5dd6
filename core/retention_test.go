package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

func TestRetentionBelievesOnlyATimeThatWasOutlived(t *testing.T) {
	const day = core.Instant(24 * 60 * 60 * 1_000_000)
	for name, c := range map[string]struct {
		log    []core.Instant // the days of the events
		now    core.Instant
		began  core.Instant
		ran    core.Instant
		age    core.Instant
		cutoff core.Instant
	}{
		"a log in daily use":                                       {log: []core.Instant{90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100}, now: 100, began: 100, age: 30, cutoff: 93 - 30},
		"a leap without an event":                                  {log: []core.Instant{90, 95, 99, 100}, now: 465, began: 100, ran: 1, age: 30, cutoff: 90 - 30},
		"a leap with events":                                       {log: []core.Instant{90, 95, 99, 100, 465, 465}, now: 465, began: 100, ran: 1, age: 30, cutoff: 90 - 30},
		"a process that began in the leap":                         {log: []core.Instant{90, 95, 99, 100, 465, 465}, now: 465, began: 465, age: 30, cutoff: 90 - 30},
		"a leap that was corrected by a day":                       {log: []core.Instant{90, 95, 99, 100, 465, 465}, now: 464, began: 464, age: 30, cutoff: 90 - 30},
		"a second leap, shorter than the first":                    {log: []core.Instant{90, 95, 99, 100, 465}, now: 300, began: 300, age: 30, cutoff: 90 - 30},
		"a second leap, longer than the first":                     {log: []core.Instant{90, 95, 99, 100, 160, 465}, now: 465, began: 465, age: 30, cutoff: 90 - 30},
		"two leaps a little more than the proof apart":             {log: []core.Instant{90, 95, 99, 100, 160, 160, 168}, now: 168, began: 168, age: 30, cutoff: 90 - 30},
		"a leap that lasts, in daily use":                          {log: []core.Instant{99, 100, 160, 163, 166, 168}, now: 168, began: 168, age: 30, cutoff: 160 - 30},
		"the clock came back":                                      {log: []core.Instant{90, 95, 99, 100, 465}, now: 120, began: 120, age: 30, cutoff: 90 - 30},
		"the clock came back, and the process ran for a week":      {log: []core.Instant{90, 95, 99, 100, 465}, now: 127, began: 120, ran: 7, age: 30, cutoff: 120 - 30},
		"a process that began before the clock came back":          {log: []core.Instant{90, 95, 99, 100, 465}, now: 110, began: 465, ran: 10, age: 30, cutoff: 110 - 30},
		"the first event after a rest":                             {log: []core.Instant{60, 100}, now: 100, began: 100, age: 30, cutoff: 0 - 30},
		"a week of events after a rest":                            {log: []core.Instant{60, 100, 104, 108}, now: 108, began: 108, age: 30, cutoff: 100 - 30},
		"a week of the process after a rest, without events":       {log: []core.Instant{60, 100}, now: 107, began: 100, ran: 7, age: 30, cutoff: 100 - 30},
		"a clock behind the log":                                   {log: []core.Instant{90, 100}, now: 50, began: 50, ran: 8, age: 30, cutoff: 50 - 30},
		"an age below a week needs no longer than itself":          {log: []core.Instant{97, 98, 99, 100, 101}, now: 101, began: 101, age: 2, cutoff: 99 - 2},
		"a new log vouches for nothing":                            {log: []core.Instant{100}, now: 100, began: 100, age: 30, cutoff: 0 - 30},
		"an empty log vouches for nothing, a week of running does": {now: 107, began: 100, ran: 7, age: 30, cutoff: 100 - 30},
	} {
		t.Run(name, func(t *testing.T) {
			r := core.Retention{Age: c.age * day, Now: c.now * day, Began: c.began * day, Ran: c.ran * day}
			if len(c.log) > 0 {
				r.Newest = c.log[len(c.log)-1] * day
			}
			cutoff, err := r.Cutoff(func(since core.Instant) (first, before core.Instant, err error) {
				for _, at := range c.log {
					switch at *= day; {
					case at < since:
						before = at
					case first == 0:
						first = at
					}
				}
				return first, before, nil
			})
			require.NoError(t, err)
			require.Equal(t, c.cutoff, cutoff/day)
		})
	}
}
