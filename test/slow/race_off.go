//go:build !race

package slow

// Race reports whether the race detector watches the test. It makes everything about ten times as slow.
const Race = false
