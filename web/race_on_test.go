//go:build race

package web_test

// raceEnabled says that the race detector makes everything ten times as slow.
const raceEnabled = true
