package meter_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/meter"
)

func TestHistogramCountsEachValueOnce(t *testing.T) {
	h := meter.New(time.Millisecond, time.Second)
	require.Equal(t, meter.Spread[time.Duration]{
		Bounds: []time.Duration{time.Millisecond, time.Second}, Within: []int64{0, 0},
	}, h.Read())
	for _, v := range []time.Duration{-time.Hour, 0, time.Millisecond, time.Millisecond + 1, time.Second, time.Second + 1} {
		h.Observe(v)
	}
	require.Equal(t, meter.Spread[time.Duration]{
		Bounds: []time.Duration{time.Millisecond, time.Second}, Within: []int64{3, 2},
		Count: 6, Sum: 2*time.Millisecond + 1 + 2*time.Second + 1,
	}, h.Read())
}

// What was read stays as it was, and whoever changes it changes nothing for others.
func TestSpreadIsACopy(t *testing.T) {
	h := meter.New[int64](10)
	h.Observe(5)
	first := h.Read()
	first.Within[0], first.Bounds[0] = 7, 1
	h.Observe(5)
	require.Equal(t, meter.Spread[int64]{Bounds: []int64{10}, Within: []int64{2}, Count: 2, Sum: 10}, h.Read())
}

func TestHistogramOfManyGoroutines(t *testing.T) {
	const each, goroutines = 1000, 8
	h := meter.New[int64](3, 7)
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() { // ends when it has counted
			for i := range int64(each) {
				h.Observe(i % 10)
			}
		})
	}
	all.Wait()
	const n = goroutines * each / 10
	require.Equal(t, meter.Spread[int64]{Bounds: []int64{3, 7}, Within: []int64{4 * n, 4 * n}, Count: 10 * n, Sum: 45 * n}, h.Read())
}
