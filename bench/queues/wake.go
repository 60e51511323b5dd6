package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"waybill/bench/disk"
)

// wakeWorkers is how many workers wait in the other process.
const wakeWorkers = 16

// straggling is how long items may arrive after the last put.
const straggling = 20 * time.Second

// firstRate is the rate of the items that prove that the other process works.
const firstRate = 200

// A wait has the times from when items were due until another process had them, at one rate.
type wait struct {
	Rate       int
	P50, P99   float64 // ms
	PacerP99   float64 // ms that the sender itself was late
	Kept       float64 // the arrived part of the rate
	N          int
	Unfinished bool // some items did not arrive in time
}

// putter is the part of a queue that an open loop needs.
type putter interface {
	put(ctx context.Context, caller int, item string) error
}

// A pacer records when items were due and when they arrived.
type pacer struct {
	first   int // the number of the first item
	start   time.Time
	every   time.Duration
	arrived []time.Duration // after start; each is written once, by take
	late    series          // ms

	mu    sync.Mutex // guards the fields that take changes
	count int
	wrong error
	all   chan struct{} // closed when all have arrived
}

// take records that an item has arrived.
func (p *pacer) take(item string) {
	now := time.Since(p.start)
	number, err := numberOf(item)
	p.mu.Lock()
	defer p.mu.Unlock()
	at := number - p.first
	switch {
	case err != nil:
		p.wrong = err
	case at < 0 || at >= len(p.arrived):
	case p.arrived[at] != 0:
		p.wrong = fmt.Errorf("item %d was taken twice", number)
	default:
		p.arrived[at] = now
		if p.count++; p.count == len(p.arrived) {
			close(p.all)
		}
	}
}

// send puts each item when it is due, even if earlier items are late or failed.
func (p *pacer) send(ctx context.Context, to putter) error {
	var (
		all  sync.WaitGroup
		mu   sync.Mutex // guards errs
		errs error
	)
	due := time.NewTimer(0)
	defer due.Stop()
	for i := range p.arrived {
		due.Reset(time.Until(p.start.Add(time.Duration(i) * p.every)))
		select {
		case <-due.C:
		case <-ctx.Done():
			all.Wait()
			return ctx.Err()
		}
		p.late = append(p.late, millis(time.Since(p.start)-time.Duration(i)*p.every))
		all.Go(func() { // ends after the put
			if err := to.put(ctx, i%wakeWorkers, item(p.first+i)); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = errors.Join(errs, err)
			}
		})
	}
	all.Wait()
	return errs
}

// waits returns the time of each item since it was due. A missing item counts as if it arrived now.
func (p *pacer) waits() (times series, last time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Since(p.start)
	for i, at := range p.arrived {
		if at == 0 {
			at = now
		}
		last = max(last, at)
		times = append(times, millis(at-time.Duration(i)*p.every))
	}
	return times, last
}

// A paced run measures one rate after another with the same workers.
type paced struct {
	to     putter
	mu     sync.Mutex // guards now
	now    *pacer
	served chan error
}

// take passes an arrived item to the current rate.
func (p *paced) take(item string) {
	p.mu.Lock()
	now := p.now
	p.mu.Unlock()
	now.take(item)
}

// at measures one rate.
func (p *paced) at(ctx context.Context, first, n, perSecond int) (wait, error) {
	one := &pacer{first: first, every: time.Second / time.Duration(perSecond), arrived: make([]time.Duration, n), all: make(chan struct{})}
	p.mu.Lock()
	p.now = one
	one.start = time.Now()
	p.mu.Unlock()
	sent := one.send(ctx, p.to)
	limit := time.NewTimer(straggling)
	defer limit.Stop()
	unfinished := false
	select {
	case <-one.all:
	case err := <-p.served:
		return wait{}, errors.Join(sent, err, errors.New("the other process ended"))
	case <-limit.C:
		unfinished = true
	case <-ctx.Done():
		return wait{}, errors.Join(sent, ctx.Err())
	}
	times, last := one.waits()
	span := time.Duration(n) * one.every
	return wait{
		Rate: perSecond, P50: times.quantile(0.5), P99: times.quantile(0.99), PacerP99: one.late.quantile(0.99),
		Kept: min(1, span.Seconds()/last.Seconds()), N: n, Unfinished: unfinished,
	}, errors.Join(sent, one.wrong)
}

// waits measures how long a put item needs to reach another process, at every rate of the plan.
func (f *field) waits(ctx context.Context, to putter, serve func(ctx context.Context, taken func(string)) error, first int) ([]wait, error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &paced{to: to, now: &pacer{}, served: make(chan error, 1)}
	go func() { p.served <- serve(within, p.take) }() // ends with within
	var all []wait
	// The items of the first rate are not counted.
	for _, perSecond := range append([]int{firstRate}, f.plan.Rates...) {
		n := wakeWorkers
		if len(all) > 0 {
			n = max(n, f.plan.Least, int(f.plan.Paced.Seconds()*float64(perSecond)))
		}
		w, err := p.at(ctx, first, n, perSecond)
		if err != nil {
			return nil, err
		}
		first += n
		all = append(all, w)
	}
	cancel()
	return all[1:], <-p.served
}

// waitsOf measures a contender at a new place.
func (f *field) waitsOf(ctx context.Context, c contender) (all []wait, err error) {
	r, err := enter(ctx, f.h, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.leave()) }()
	all, err = f.waits(ctx, r.q, func(ctx context.Context, taken func(string)) error {
		return c.elsewhere(ctx, r.at.address, wakeWorkers, taken)
	}, 0)
	if err != nil {
		return nil, fmt.Errorf("%s, from one process to another: %w", c.name, err)
	}
	if slices.ContainsFunc(all, func(w wait) bool { return w.Unfinished }) {
		return all, nil // no worker is left to take the remaining items
	}
	err = eventually(ctx, func() error {
		n, err := r.q.left(ctx)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d items are left", n)
		}
		return err
	})
	return all, err
}

// leastWaits measures the probe: a synced record, and a pipe there and back.
func (f *field) leastWaits(ctx context.Context) ([]wait, error) {
	log, err := disk.Create(filepath.Join(f.h.dir, "wake.log"))
	if err != nil {
		return nil, err
	}
	other, err := startChild("echo")
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	all, err := f.waits(ctx, &errand{log: log, other: other}, other.relay, 0)
	return all, errors.Join(err, log.Close())
}
