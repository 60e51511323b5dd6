package api

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"waybill/schema"
)

// CallBounds are the upper bounds of the duration buckets of Calls, in ascending order.
var CallBounds = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
	2500 * time.Millisecond, 10 * time.Second,
}

// Calls are the counters of one method since the table was created.
type Calls struct {
	Method   string
	InFlight int64
	// Codes counts the calls by error code; "" is a success.
	Codes map[schema.Code]int64
	// Within counts the calls in each bucket of CallBounds. Longer calls are only in Count.
	Within [len(CallBounds)]int64
	Count  int64
	Total  time.Duration
}

// Calls returns the counters of each method that was called, in the order of Names.
func (t *Table) Calls() []Calls {
	var all []Calls
	for _, name := range t.names {
		if c := t.meters[name].read(); c.Count > 0 || c.InFlight > 0 {
			all = append(all, c)
		}
	}
	return all
}

// A meter counts the calls of one method.
type meter struct {
	mu    sync.Mutex // guards calls
	calls Calls
}

func newMeter(method string) *meter {
	return &meter{calls: Calls{Method: method, Codes: map[schema.Code]int64{}}}
}

func (m *meter) read() Calls {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.calls
	c.Codes = maps.Clone(c.Codes)
	return c
}

// around returns a start function that counts its calls. A panic counts as INTERNAL.
func (m *meter) around(start func(context.Context, []byte, func(Answer))) func(context.Context, []byte, func(Answer)) {
	return func(ctx context.Context, params []byte, done func(Answer)) {
		end := m.begin()
		returned := false
		defer func() {
			if !returned {
				end(schema.Internal)
			}
		}()
		start(ctx, params, func(a Answer) {
			code := schema.Code("")
			if a.Err != nil {
				code = a.Err.Data.Code
			}
			end(code)
			done(a)
		})
		returned = true
	}
}

// begin counts a started call. The first call of end counts its end.
func (m *meter) begin() (end func(schema.Code)) {
	began := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.InFlight++
	var ended atomic.Bool
	return func(code schema.Code) {
		if !ended.Swap(true) {
			m.end(code, time.Since(began))
		}
	}
}

func (m *meter) end(code schema.Code, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &m.calls
	c.InFlight--
	c.Count++
	c.Total += took
	c.Codes[code]++
	for i, bound := range CallBounds {
		if took <= bound {
			c.Within[i]++
			return
		}
	}
}
