package main

import (
	"slices"
	"time"
)

// A series is a figure of one contender, measured again and again.
type series []float64

// quantile gives the value below which that share of the series lies.
func (s series) quantile(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

// A figure is a series in short.
type figure struct {
	Median, Least, Most float64
}

func (s series) figure() figure { return figure{s.quantile(0.5), s.quantile(0), s.quantile(1)} }

// rate gives how many a second n in that time are.
func rate(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func most(all []int) int { return slices.Max(all) }
