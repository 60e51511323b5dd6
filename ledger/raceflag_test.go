//go:build race

package ledger_test

// raceEnabled says that each memory access is watched, which costs about ten times as much.
const raceEnabled = true
