// Package slow bounds the time of tests: it marks those that take long, and ends those that take too long.
package slow

import (
	"flag"
	"testing"
	"time"

	_ "pgregory.net/rapid" // defines the flag that init sets
)

// Under the race detector, property tests of a package that imports this one try a quarter of their usual 100 cases. The
// flag -rapid.checks overrides it.
func init() {
	if Race {
		_ = flag.Set("rapid.checks", "25")
	}
}

// Test skips t under -short, as in make test. The program make check runs every test.
//
// A test is slow if it takes seconds: it kills processes, fills disks, starts real hosts or browsers, or reads input of
// the largest size. A promise that only a slow test proves stays proven by make check.
func Test(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: make check runs it")
	}
}

// InTime ends the process if one input of a fuzz test takes longer than 10 seconds. The fuzzer then saves the input;
// otherwise it would stop a hanging input without a word when its own time is over.
func InTime(t *testing.T) {
	t.Helper()
	const most = 10 * time.Second
	watchdog := time.AfterFunc(most, func() { panic("one input took longer than " + most.String()) })
	t.Cleanup(func() { watchdog.Stop() })
}

// Ratio returns how many times as long one function takes as another, each at its best: other programs disturb some tries,
// and not all of them. It tries until the answer is at most enough.
func Ratio(one, other func(), enough float64) float64 {
	took := func(f func()) float64 {
		start := time.Now()
		f()
		return time.Since(start).Seconds()
	}
	long, short := took(one), took(other)
	for range 63 {
		if long <= enough*short {
			break
		}
		long, short = min(long, took(one)), min(short, took(other))
	}
	return long / short
}

// Size returns a size for a test that compares costs or goes through many pages: n, or a tenth of n under the race
// detector. The target large of the Makefile runs these tests at full size.
func Size(n int) int {
	if Race {
		return n / 10
	}
	return n
}
