//go:build !linux

package endpoint

import "time"

// Born does not know here when a process began.
func Born(int) (time.Time, bool) { return time.Time{}, false }
