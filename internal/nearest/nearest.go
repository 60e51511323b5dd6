// Package nearest finds the known name that a mistyped one is likely to mean.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// Names returns the known names closest to name: at most three, the nearest first, without names that are clearly
// further away. It ignores case.
func Names(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	limit := 1 + len(name)/4
	for _, k := range known {
		// The length is compared first, because it limits the work for a long name.
		if len(k) > len(name)+limit || len(name) > len(k)+limit {
			continue
		}
		if d := edits(strings.ToLower(name), strings.ToLower(k)); d <= limit && d < len(k) {
			near = append(near, candidate{k, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	names := []string{}
	for _, c := range near {
		if len(names) < 3 && c.distance <= near[0].distance+1 {
			names = append(names, c.name)
		}
	}
	return names
}

// edits returns the number of bytes to insert, delete or replace to turn a into b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
