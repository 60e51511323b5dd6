// Package meter counts values by size for metrics. A value costs two atomic additions. It knows neither names nor
// units.
package meter

import (
	"slices"
	"sync/atomic"
)

// A Histogram counts values by size. Any goroutine may call its methods, and no method waits.
type Histogram[N ~int64] struct {
	bounds []N            // ascending
	within []atomic.Int64 // one for each bound, and one for larger values
	sum    atomic.Int64
}

// New returns an empty histogram. The bounds are in ascending order.
func New[N ~int64](bounds ...N) *Histogram[N] {
	return &Histogram[N]{bounds: slices.Clone(bounds), within: make([]atomic.Int64, len(bounds)+1)}
}

// Observe counts a value. Negative values, from a clock that was set back, count as zero, so that the sum never
// decreases.
func (h *Histogram[N]) Observe(v N) {
	v = max(v, 0)
	at, _ := slices.BinarySearch(h.bounds, v)
	h.within[at].Add(1)
	h.sum.Add(int64(v))
}

// Read returns the counts so far. During a call of Observe, sum and buckets may differ by that value.
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

// A Spread is the content of a Histogram. The zero Spread has no bounds and no values.
type Spread[N ~int64] struct {
	// Bounds are in ascending order.
	Bounds []N
	// Within counts the values up to the bound at the same index, and above the bound before. Values above all bounds
	// are in Count alone.
	Within []int64
	Count  int64
	Sum    N
}
