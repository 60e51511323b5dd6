package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A scaling has the rates of waybill with many processes, and the database work of each call.
type scaling struct {
	Machine machine
	Plan    scalePlan
	Stores  []storeScale
	Costs   []cost
}

// A scalePlan sets the amounts of a measurement.
type scalePlan struct {
	Rounds    int
	Processes []int
	Tasks     int // of a round, for each number of processes
	Workers   int // of a process
	Costs     int // calls of each kind
}

func wholeScale() scalePlan {
	return scalePlan{Rounds: 3, Processes: []int{1, 2, 4, 8}, Tasks: 640, Workers: 8, Costs: 256}
}

func smokeScale() scalePlan {
	return scalePlan{Rounds: 1, Processes: []int{1, 2}, Tasks: 32, Workers: 2, Costs: 64}
}

// A storeScale is one database with different numbers of processes.
type storeScale struct {
	Name    string
	Missing string // why it was not measured, or ""
	Rows    []scaleRow
}

// A scaleRow has the rates of a number of processes: on one workspace, and on one each.
type scaleRow struct {
	Processes int
	One, Own  figure // tasks claimed and finished a second, by all processes
	Fairness  figure // on one workspace, the slowest process over the fastest
	Busy      share  // on one workspace
}

// A share is the average number of busy cores.
type share struct{ Waybill, Server, Client, All float64 }

// scaledStores returns the contenders whose scaling is measured.
func scaledStores() []contender {
	return []contender{
		waybill("sqlite", "SQLite", asTasks),
		onPostgres(waybill("postgres", "PostgreSQL", asTasks)),
	}
}

func newScaling(ctx context.Context, p scalePlan, say func(format string, args ...any)) (s scaling, err error) {
	h, err := openHouse(ctx)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if s.Machine, err = look(ctx, h); err != nil {
		return s, err
	}
	s.Plan = p
	for _, c := range scaledStores() {
		in := storeScale{Name: c.name}
		if why := c.missing(h); why != nil {
			in.Missing = why.Error()
		} else {
			if in.Rows, err = p.rows(ctx, h, c, say); err != nil {
				return s, err
			}
			costs, err := p.costs(ctx, h, c)
			if err != nil {
				return s, err
			}
			s.Costs = append(s.Costs, costs...)
		}
		s.Stores = append(s.Stores, in)
	}
	s.Machine.LoadAfter = load()
	return s, nil
}

// A crowd is a number of processes that work at the same time.
type crowd struct {
	queues  []taskQueue
	workers int
}

// gather starts processes, in one workspace or in one each.
func gather(ctx context.Context, h *house, c contender, processes, workers int, own bool) (*crowd, error) {
	all := &crowd{workers: workers}
	var at *place
	for range processes {
		var err error
		if at == nil || own {
			at, err = another(ctx, h, c, at)
		}
		if err == nil {
			err = all.admit(ctx, c, at)
		}
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
	}
	return all, nil
}

// another returns a new workspace: in the PostgreSQL database of last, or with a store of its own.
func another(ctx context.Context, h *house, c contender, last *place) (*place, error) {
	if last == nil || !c.postgres {
		return c.place(ctx, h)
	}
	store, err := storeOf(last)
	if err != nil {
		return nil, err
	}
	return h.desk(store)
}

func (all *crowd) admit(ctx context.Context, c contender, at *place) error {
	q, err := c.join(ctx, at.address)
	if err == nil {
		all.queues = append(all.queues, q.(taskQueue))
	}
	return err
}

func (all *crowd) close() (err error) {
	for _, q := range all.queues {
		err = errors.Join(err, q.close())
	}
	return err
}

func (all *crowd) pids() (pids []int) {
	for _, q := range all.queues {
		pids = append(pids, q.pid())
	}
	return pids
}

// fill creates n tasks with many calls in flight. With a workspace each, every process creates its part.
func (all *crowd) fill(ctx context.Context, n int, own bool) error {
	const callers = 32
	if !own {
		_, err := putAll(ctx, all.queues[0], callers, 0, n)
		return err
	}
	for _, q := range all.queues {
		if _, err := putAll(ctx, q, callers, 0, n/len(all.queues)); err != nil {
			return err
		}
	}
	return nil
}

// work makes all processes claim and finish the n tasks, and returns the number of each process. With a workspace each,
// every process has its part.
func (all *crowd) work(ctx context.Context, n int, own bool) (took time.Duration, done []int64, err error) {
	remaining := make([]atomic.Int64, len(all.queues))
	counts := make([]atomic.Int64, len(all.queues))
	for i := range remaining {
		remaining[i].Store(int64(n / len(all.queues)))
	}
	if !own {
		remaining[0].Store(int64(n))
	}
	errs := make([]error, len(all.queues)*all.workers)
	start := time.Now()
	var working sync.WaitGroup
	for i := range errs {
		at := i / all.workers
		from := &remaining[0]
		if own {
			from = &remaining[at]
		}
		working.Go(func() { // ends with the last task, or with an error
			for errs[i] == nil && from.Add(-1) >= 0 {
				errs[i] = all.queues[at].one(ctx, i)
				counts[at].Add(1)
			}
		})
	}
	working.Wait()
	took = time.Since(start)
	for i := range counts {
		done = append(done, counts[i].Load())
	}
	return took, done, errors.Join(errs...)
}

// one claims and finishes a task. An empty queue is an error.
func (q taskQueue) one(ctx context.Context, worker int) error {
	found, err := q.work(ctx, worker, 0, func(string) {})
	if err == nil && !found {
		err = errors.New("there is no task left to claim")
	}
	return err
}

// A scaleSample has the series of all rounds for one number of processes.
type scaleSample struct {
	one, own, fairness            series
	waybill, server, client, busy series
}

// rows measures a store with each number of processes.
func (p scalePlan) rows(ctx context.Context, h *house, c contender, say func(string, ...any)) (rows []scaleRow, err error) {
	samples := make([]scaleSample, len(p.Processes))
	for round := range p.Rounds {
		for i, processes := range p.Processes {
			for _, own := range []bool{false, true} {
				if err := p.sample(ctx, h, c, processes, own, &samples[i]); err != nil {
					return nil, fmt.Errorf("%d processes on %s: %w", processes, c.name, err)
				}
			}
		}
		say("%s: round %d of %d", c.name, round+1, p.Rounds)
	}
	for i, s := range samples {
		rows = append(rows, scaleRow{
			Processes: p.Processes[i], One: s.one.figure(), Own: s.own.figure(), Fairness: s.fairness.figure(),
			Busy: share{s.waybill.quantile(0.5), s.server.quantile(0.5), s.client.quantile(0.5), s.busy.quantile(0.5)},
		})
	}
	return rows, nil
}

// sample measures a number of processes once.
func (p scalePlan) sample(ctx context.Context, h *house, c contender, processes int, own bool, s *scaleSample) (err error) {
	all, err := gather(ctx, h, c, processes, p.Workers, own)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.close()) }()
	n := p.Tasks - p.Tasks%processes
	if err := all.fill(ctx, n, own); err != nil {
		return err
	}
	server, err := h.serverOf(ctx, c)
	if err != nil {
		return err
	}
	before := usage(all.pids(), server)
	took, done, err := all.work(ctx, n, own)
	if err != nil {
		return err
	}
	if own {
		s.own = append(s.own, rate(n, took))
		return nil
	}
	s.one = append(s.one, rate(n, took))
	least, most := done[0], done[0]
	for _, d := range done {
		least, most = min(least, d), max(most, d)
	}
	s.fairness = append(s.fairness, float64(least)/float64(most))
	used := usage(all.pids(), server).since(before, took)
	s.waybill, s.server = append(s.waybill, used.Waybill), append(s.server, used.Server)
	s.client, s.busy = append(s.client, used.Client), append(s.busy, used.All)
	return nil
}

// serverOf returns the main process of the database server, or 0 without one.
func (h *house) serverOf(ctx context.Context, c contender) (int, error) {
	if !c.postgres {
		return 0, nil
	}
	return h.postmaster(ctx)
}

// markdown returns the part "scaling" of docs/performance.md.
func (s scaling) markdown() string {
	var b strings.Builder
	s.Machine.write(&b)
	fmt.Fprintf(&b, "%d rounds of %s tasks; each process has %d workers, which claim a task and report it completed. "+
		"Each figure is the median of the rounds, with minimum and maximum in parentheses.\n", s.Plan.Rounds, short(float64(s.Plan.Tasks)), s.Plan.Workers)
	for _, in := range s.Stores {
		in.write(&b)
	}
	b.WriteString("\n### Database work per call\n\n")
	b.WriteString("| call | store | callers | statements | rows | write-ahead log bytes | syncs |\n|---|---|---|---|---|---|---|\n")
	for _, c := range s.Costs {
		c.write(&b)
	}
	return b.String()
}

func (in storeScale) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n", in.Name)
	if in.Missing != "" {
		fmt.Fprintf(b, "Left out: %s.\n", in.Missing)
		return
	}
	b.WriteString("| processes | tasks/s, one workspace | slowest / fastest process | busy cores: waybill | server | client | all | tasks/s, one workspace per process |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, r := range in.Rows {
		fmt.Fprintf(b, "| %d | %s | %s | %.2f | %.2f | %.2f | %.2f | %s |\n", r.Processes, r.One, r.Fairness,
			r.Busy.Waybill, r.Busy.Server, r.Busy.Client, r.Busy.All, r.Own)
	}
}
