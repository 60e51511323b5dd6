package postgres

import (
	"sync/atomic"
	"time"
)

// A Clock returns the time of a server, so that machines with different clocks agree on the end of a lease. The zero
// value returns the time of this machine until heard has run.
type Clock struct {
	ahead atomic.Int64     // nanoseconds that the server is ahead of this machine
	local func() time.Time // the clock of this machine; nil for time.Now
}

// Now returns the time of the server.
func (c *Clock) Now() time.Time { return c.here().Add(time.Duration(c.ahead.Load())) }

// here returns the time of this machine.
func (c *Clock) here() time.Time {
	if c.local == nil {
		return time.Now()
	}
	return c.local()
}

// heard records the server's clock, in microseconds, which was read between asked, by the clock of this machine, and
// now.
func (c *Clock) heard(server int64, asked time.Time) { c.correct(server, asked, c.here()) }

// correct adjusts the clock by a server time that was read between asked and told. The known offset stays while it can
// be right, so that slow answers do not move the time.
func (c *Clock) correct(server int64, asked, told time.Time) {
	said := time.UnixMicro(server)
	least, most := said.Sub(told.Round(0)), said.Sub(asked.Round(0))
	known := time.Duration(c.ahead.Load())
	c.ahead.Store(int64(min(max(known, least), most)))
}
