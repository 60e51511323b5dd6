package verdict_test

import (
	"testing"
	"time"
)

// inTime ends the process if one input takes longer than any may: a fuzzer that hangs would only be stopped at the end
// of its time, and nobody would learn of the input. So it is written down as one that fails.
func inTime(t *testing.T) {
	t.Helper()
	const most = 10 * time.Second
	watchdog := time.AfterFunc(most, func() { panic("one input took longer than " + most.String()) })
	t.Cleanup(func() { watchdog.Stop() })
}
