package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// callerCounts are the measured numbers of callers.
var callerCounts = []int{1, 64}

// A plan sets the amounts of a comparison.
type plan struct {
	Rounds int
	Items  map[int]int   // of a round, by the number of callers
	Rates  []int         // of the open loop, a second
	Paced  time.Duration // the duration of each rate
	Least  int           // the least number of items of each rate
}

// whole returns the plan for the documents.
func whole() plan {
	return plan{Rounds: 5, Items: map[int]int{1: 150, 64: 64 * 12}, Rates: []int{10, 100, 1000}, Paced: 5 * time.Second, Least: 200}
}

func smoke() plan {
	return plan{Rounds: 1, Items: map[int]int{1: 5, 64: 128}, Rates: []int{50}, Paced: 100 * time.Millisecond}
}

// A flow has the rates of one contender for one number of callers, in items a second.
type flow struct {
	Put, Take, Journey figure
	OverDisk           float64 // journeys over synced records of the disk, the median of the rounds
	OverInsert         float64 // puts over rows in PostgreSQL, or 0
}

// A standing is a contender in the report.
type standing struct {
	Key, Name, Calls, Kept string
	Postgres, WakeOnly     bool
	Missing                string          // why it was not measured, or ""
	Flows                  map[string]flow // by the number of callers
	Syncs                  *syncs          // nil where there is no strace
	Waits                  []wait          // by rate
}

// A field has the available contenders, each connected to its place, and their samples.
type field struct {
	h       *house
	p       *probes
	plan    plan
	say     func(format string, args ...any)
	runners []*runner
}

// A runner is a connected contender.
type runner struct {
	contender
	at      *place
	q       queue
	next    int // the number of the next item
	samples map[int]*sample
}

// A sample has the series of all rounds for one number of callers.
type sample struct{ put, take, journey, overDisk, overInsert, disk, insert series }

// enter creates a place for a contender and connects to it.
func enter(ctx context.Context, h *house, c contender) (*runner, error) {
	at, err := c.place(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	q, err := c.join(ctx, at.address)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.name, err), at.end())
	}
	return &runner{contender: c, at: at, q: q, samples: map[int]*sample{}}, nil
}

func (r *runner) leave() error { return errors.Join(r.q.close(), r.at.end()) }

// through puts n items, then takes all of them, and returns both times.
func (r *runner) through(ctx context.Context, callers, n int) (put, take time.Duration, err error) {
	first := r.next
	r.next += n
	if put, err = putAll(ctx, r.q, callers, first, n); err == nil {
		take, err = drain(ctx, r.q, callers, first, n)
	}
	if err != nil {
		err = fmt.Errorf("%s, %d callers: %w", r.name, callers, err)
	}
	return put, take, err
}

// compare measures all contenders in turns. Each round begins with another contender.
func (f *field) compare(ctx context.Context) error {
	for _, r := range f.runners {
		if _, _, err := r.through(ctx, 1, f.plan.Items[1]); err != nil { // until its store has grown to its size
			return err
		}
	}
	for round := range f.plan.Rounds {
		for i := range f.runners {
			r := f.runners[(i+round)%len(f.runners)]
			for _, callers := range callerCounts {
				if err := f.measure(ctx, r, callers); err != nil {
					return err
				}
			}
		}
		f.say("round %d of %d", round+1, f.plan.Rounds)
	}
	return nil
}

// measure measures a contender once, between two probes.
func (f *field) measure(ctx context.Context, r *runner, callers int) error {
	diskBefore, insertBefore, err := f.probe(ctx, r, callers)
	if err != nil {
		return err
	}
	n := f.plan.Items[callers]
	put, take, err := r.through(ctx, callers, n)
	if err != nil {
		return err
	}
	diskAfter, insertAfter, err := f.probe(ctx, r, callers)
	if err != nil {
		return err
	}
	s := r.samples[callers]
	if s == nil {
		s = &sample{}
		r.samples[callers] = s
	}
	s.put = append(s.put, rate(n, put))
	s.take = append(s.take, rate(n, take))
	s.journey = append(s.journey, rate(n, put+take))
	onDisk := (diskBefore + diskAfter) / 2
	s.disk = append(s.disk, onDisk)
	s.overDisk = append(s.overDisk, rate(n, put+take)/onDisk)
	if r.postgres {
		inserts := (insertBefore + insertAfter) / 2
		s.insert = append(s.insert, inserts)
		s.overInsert = append(s.overInsert, rate(n, put)/inserts)
	}
	return nil
}

func (f *field) probe(ctx context.Context, r *runner, callers int) (onDisk, inserts float64, err error) {
	onDisk, err = f.p.disk(callers)
	if err == nil && r.postgres {
		inserts, err = f.p.insert(ctx, callers)
	}
	return onDisk, inserts, err
}

func (s *sample) flow() flow {
	return flow{s.put.figure(), s.take.figure(), s.journey.figure(), s.overDisk.quantile(0.5), s.overInsert.quantile(0.5)}
}
