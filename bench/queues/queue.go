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

// A queue is a connected client of a contender. Its methods may be called concurrently.
type queue interface {
	// put puts an item, and returns when the contender acknowledges it. Callers have numbers from 0.
	put(ctx context.Context, caller int, item string) error
	// serve starts workers that take items one at a time and acknowledge them, until ctx ends. It calls taken for each
	// item before the acknowledgement.
	serve(ctx context.Context, workers int, taken func(item string)) error
	// left counts the items without a stored acknowledgement.
	left(ctx context.Context) (int, error)
	// pid returns the process that syncs, or 0 if the place has it.
	pid() int
	close() error
}

// itemBytes is the length of an item, which is that of a typical instruction.
const itemBytes = 220

// item returns the item with that number. JSON escapes no character of it.
func item(number int) string {
	text := fmt.Sprintf("%08d ", number)
	return text + strings.Repeat("look at the failing test again ", itemBytes/31+1)[:itemBytes-len(text)]
}

// numberOf returns the number of an item.
func numberOf(item string) (int, error) {
	number, err := strconv.Atoi(item[:min(8, len(item))])
	if err != nil {
		return 0, fmt.Errorf("%.40q is no item: %w", item, err)
	}
	return number, nil
}

// putAll puts n items from number first on with concurrent callers, and returns the time. n is a multiple of callers.
func putAll(ctx context.Context, q queue, callers, first, n int) (time.Duration, error) {
	errs := make([]error, callers)
	start := time.Now()
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() { // ends after its share, or when put fails
			for i := caller; i < n && errs[caller] == nil; i += callers {
				errs[caller] = q.put(ctx, caller, item(first+i))
			}
		})
	}
	all.Wait()
	return time.Since(start), errors.Join(errs...)
}

// A check verifies that each item of a range is taken exactly once, and no other item.
type check struct {
	first int
	taken []atomic.Int32
	wrong atomic.Pointer[error]
	count atomic.Int64
	begun chan struct{} // closed when the first item is taken
	all   chan struct{} // closed when the expected number was taken
}

func newCheck(first, n int) *check {
	return &check{first: first, taken: make([]atomic.Int32, n), begun: make(chan struct{}), all: make(chan struct{})}
}

// take records that an item was taken.
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

// err returns the first fault, or nil.
func (c *check) err() error {
	if wrong := c.wrong.Load(); wrong != nil {
		return *wrong
	}
	if n := c.count.Load(); n != int64(len(c.taken)) {
		return fmt.Errorf("%d of %d items were taken", n, len(c.taken))
	}
	return nil
}

// drain takes and acknowledges n items from number first on, which are all items in the queue. It returns the time from
// the first take until the last acknowledgement is stored.
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

// untilEmpty waits until all items are taken, and then polls left every millisecond until it is 0.
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
