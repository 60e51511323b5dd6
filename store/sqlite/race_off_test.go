//go:build !race

package sqlite_test

// raceEnabled says that the race detector makes everything slow.
const raceEnabled = false
