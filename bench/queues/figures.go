package main

import (
	"slices"
	"time"
)

// A series has the repeated measurements of one quantity.
type series []float64

// quantile returns the value below which the share q of the series is.
func (s series) quantile(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

// A figure summarises a series.
type figure struct {
	Median, Least, Most float64
}

func (s series) figure() figure { return figure{s.quantile(0.5), s.quantile(0), s.quantile(1)} }

// rate returns n per second.
func rate(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func most(all []int) int { return slices.Max(all) }
