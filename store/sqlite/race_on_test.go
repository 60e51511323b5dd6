//go:build race

package sqlite_test

// raceEnabled says that the race detector makes everything slow. It sees nothing of what happens in
// other processes, where the long tests do their work.
const raceEnabled = true
