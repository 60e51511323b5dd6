package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A queue is a contender as its users have it: a client that is connected. Its methods may be called at the same time.
type queue interface {
	// put hands in an item, and returns when the contender says that it keeps it. Callers have numbers from 0.
	put(ctx context.Context, caller int, item string) error
	// serve lets that many workers take items one at a time, and acknowledge each, until ctx ends. It says of each item
	// that it was taken, before it is acknowledged.
	serve(ctx context.Context, workers int, taken func(item string)) error
	// left counts the items that were put and are not acknowledged, or whose acknowledgement is not kept yet.
	left(ctx context.Context) (int, error)
	// pid is the process that syncs what is kept, or 0 if the place knows it.
	pid() int
	close() error
}

// itemBytes is how long an item is: as long as an instruction usually is.
const itemBytes = 220

// item makes the item with that number. It has no character that JSON would escape.
func item(number int) string {
	text := fmt.Sprintf("%08d ", number)
	return text + strings.Repeat("look at the failing test again ", itemBytes/31+1)[:itemBytes-len(text)]
}

// numberOf gives the number of an item.
func numberOf(item string) (int, error) {
	number, err := strconv.Atoi(item[:min(8, len(item))])
	if err != nil {
		return 0, fmt.Errorf("%.40q is no item: %w", item, err)
	}
	return number, nil
}

// putAll lets callers put the items from first on, n of them, and gives how long that took. n is a multiple of callers.
func putAll(ctx context.Context, q queue, callers, first, n int) (time.Duration, error) {
	errs := make([]error, callers)
	start := time.Now()
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() { // ends when its share is put, or putting has failed
			for i := caller; i < n && errs[caller] == nil; i += callers {
				errs[caller] = q.put(ctx, caller, item(first+i))
			}
		})
	}
	all.Wait()
	return time.Since(start), errors.Join(errs...)
}

// A check sees to it that each item of a range is taken once, and that nothing else is.
type check struct {
	first int
	taken []atomic.Int32
	wrong atomic.Pointer[error]
	count atomic.Int64
	begun chan struct{} // closed when the first item is taken
	all   chan struct{} // closed when as many were taken as there are
}

func newCheck(first, n int) *check {
	return &check{first: first, taken: make([]atomic.Int32, n), begun: make(chan struct{}), all: make(chan struct{})}
}

// take notes that an item was taken.
func (c *check) take(item string) {
	number, err := numberOf(item)
	at := number - c.first
	if err == nil && (at < 0 || at >= len(c.taken)) {
		err = fmt.Errorf("item %d was not put", number)
	}
	if err == nil && c.taken[at].Add(1) > 1 {
		err = fmt.Errorf("item %d was taken twice", number)
	}
	if err != nil {
		c.wrong.CompareAndSwap(nil, &err)
	}
	switch n := c.count.Add(1); {
	case n == 1:
		close(c.begun)
		if len(c.taken) == 1 {
			close(c.all)
		}
	case n == int64(len(c.taken)):
		close(c.all)
	}
}

// err gives what was wrong, or nil.
func (c *check) err() error {
	if wrong := c.wrong.Load(); wrong != nil {
		return *wrong
	}
	if n := c.count.Load(); n != int64(len(c.taken)) {
		return fmt.Errorf("%d of %d items were taken", n, len(c.taken))
	}
	return nil
}

// drain lets workers take and acknowledge the items from first on, n of them, which are all that there are. It gives the
// time from when the first was taken until the acknowledgement of the last is kept.
func drain(ctx context.Context, q queue, workers, first, n int) (took time.Duration, err error) {
	c := newCheck(first, n)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- q.serve(ctx, workers, c.take) }() // ends with ctx
	select {
	case <-c.begun:
		start := time.Now()
		err = untilEmpty(ctx, q, c.all)
		took = time.Since(start)
	case <-ctx.Done():
		err = ctx.Err()
	case err = <-served:
		return 0, errors.Join(err, errors.New("the workers ended before there was an item"))
	}
	cancel()
	return took, errors.Join(err, <-served, c.err())
}

// untilEmpty waits until all items are taken, and then looks each millisecond whether something is left.
func untilEmpty(ctx context.Context, q queue, all <-chan struct{}) error {
	select {
	case <-all:
	case <-ctx.Done():
		return ctx.Err()
	}
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		n, err := q.left(ctx)
		if n == 0 || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("%d items are left: %w", n, ctx.Err())
		}
	}
}
