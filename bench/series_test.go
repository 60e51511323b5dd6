package bench

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A series is a figure of one contender, measured again and again.
type series []float64

// quantile returns the value below which that share of the series lies.
func (s series) quantile(q float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

func (s series) median() float64 { return s.quantile(0.5) }

// over returns the median of the ratios of two series that were measured in turns. A machine that was
// slow for a while was slow for both of a pair.
func (s series) over(t series) float64 {
	ratios := make(series, len(s))
	for i := range s {
		ratios[i] = s[i] / t[i]
	}
	return ratios.median()
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// rate returns how many a second n in that time are.
func rate(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }

// reportOnly keeps the time of a round out of the report: it is that of all contenders together.
func reportOnly(b *testing.B) { b.ReportMetric(0, "ns/op") }

func TestSeries(t *testing.T) {
	s := series{5, 1, 4, 2, 3}
	require.Equal(t, 1.0, s.quantile(0))
	require.Equal(t, 3.0, s.median())
	require.Equal(t, 5.0, s.quantile(0.99))
	require.Equal(t, series{5, 1, 4, 2, 3}, s, "the order of the rounds is kept")
	require.Equal(t, 2.0, series{20, 4, 6}.over(series{10, 1, 3}), "ratios are taken round by round")
	require.Equal(t, 500.0, rate(50, 100*time.Millisecond))
}
