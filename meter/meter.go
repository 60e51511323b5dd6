// Package meter counts how large values are, for whoever wants to show it, at the price of two atomic additions for
// each value. It refuses to know what the values are of, where they are shown, and any name.
package meter

import (
	"slices"
	"sync/atomic"
)

// A Histogram counts values by size. All methods may be called from any goroutine, and none waits.
type Histogram[N ~int64] struct {
	bounds []N            // ascending
	within []atomic.Int64 // one for each bound, and one for what is larger than all
	sum    atomic.Int64
}

// New gives a histogram without a value. The bounds are in ascending order.
func New[N ~int64](bounds ...N) *Histogram[N] {
	return &Histogram[N]{bounds: slices.Clone(bounds), within: make([]atomic.Int64, len(bounds)+1)}
}

// Observe counts a value. One below zero, as a clock that was set back makes it, counts as zero, so that a sum never
// goes back.
func (h *Histogram[N]) Observe(v N) {
	v = max(v, 0)
	at, _ := slices.BinarySearch(h.bounds, v)
	h.within[at].Add(1)
	h.sum.Add(int64(v))
}

// Read gives what was counted so far. Of values that are being counted meanwhile, the sum may have some that the
// buckets do not have yet, and the other way round.
func (h *Histogram[N]) Read() Spread[N] {
	s := Spread[N]{Bounds: slices.Clone(h.bounds), Within: make([]int64, len(h.bounds)), Sum: N(h.sum.Load())}
	for i := range h.within {
		n := h.within[i].Load()
		if s.Count += n; i < len(s.Within) {
			s.Within[i] = n
		}
	}
	return s
}

// A Spread is what a Histogram has counted. The zero Spread has no bounds, and nothing was counted.
type Spread[N ~int64] struct {
	// Bounds are in ascending order.
	Bounds []N
	// Within counts the values that were at most as large as the bound at the same place, and larger than the one
	// before. What was larger than all is in Count alone.
	Within []int64
	Count  int64
	Sum    N
}
