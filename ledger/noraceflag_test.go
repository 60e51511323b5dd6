//go:build !race

package ledger_test

// raceEnabled: see the file for the race detector.
const raceEnabled = false
