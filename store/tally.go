package store

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// A Tally is a counter of a run, for telemetry: nothing is decided by it.
type Tally struct {
	Name string // 1 to 64 bytes, each a-z, 0-9, "_", ".", ":" or "-"
	N    int64  // 0 or more
}

const longestTallyName = 64

// Check returns the reason why no store accepts the tally, or nil.
func (t Tally) Check() error {
	if len(t.Name) < 1 || len(t.Name) > longestTallyName {
		return fmt.Errorf("the name of a tally has 1 to %d bytes, and %q has %d", longestTallyName, t.Name, len(t.Name))
	}
	for i := range len(t.Name) {
		if !plain(t.Name[i]) {
			return fmt.Errorf("the name of the tally %q has %q at byte %d: use a-z, 0-9, _ . : and - only", t.Name, t.Name[i], i)
		}
	}
	if t.N < 0 {
		return fmt.Errorf("the tally %s is %d, and nothing is ever taken away from one", t.Name, t.N)
	}
	return nil
}

func plain(c byte) bool {
	switch c {
	case '_', '.', ':', '-':
		return true
	}
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

// Plus returns the tally with n more. It stops at the largest int64: a counter that went back
// to the beginning would be worse.
func (t Tally) Plus(n int64) Tally {
	if t.N > math.MaxInt64-n {
		t.N = math.MaxInt64
		return t
	}
	t.N += n
	return t
}

// SumTallies adds the counters with the same name. It returns one Tally for each name, in ascending order.
func SumTallies(all []Tally) []Tally {
	sums := make(map[string]Tally)
	for _, t := range all {
		sums[t.Name] = Tally{t.Name, sums[t.Name].N}.Plus(t.N)
	}
	var sorted []Tally
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		sorted = append(sorted, sums[name])
	}
	return sorted
}
