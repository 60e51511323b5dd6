package postgres

import (
	"sync/atomic"
	"time"
)

// A Clock tells the time of a server, so that machines whose clocks differ agree on when a lease ends. The zero value
// tells the time of this machine until it has heard from the server.
type Clock struct {
	ahead atomic.Int64     // nanoseconds that the server is ahead of this machine
	local func() time.Time // the clock of this machine; nil for time.Now
}

// Now gives the time of the server.
func (c *Clock) Now() time.Time { return c.here().Add(time.Duration(c.ahead.Load())) }

// here gives the time of this machine.
func (c *Clock) here() time.Time {
	if c.local == nil {
		return time.Now()
	}
	return c.local()
}

// heard takes in what the server's clock said, in microseconds, at some moment between asked, by the clock of this
// machine, and now.
func (c *Clock) heard(server int64, asked time.Time) { c.correct(server, asked, c.here()) }

// correct takes in what the server's clock said at some moment between asked and told. What is known stays as long as it
// can be right, so that the time does not jump with each answer that took long.
func (c *Clock) correct(server int64, asked, told time.Time) {
	said := time.UnixMicro(server)
	least, most := said.Sub(told.Round(0)), said.Sub(asked.Round(0))
	known := time.Duration(c.ahead.Load())
	c.ahead.Store(int64(min(max(known, least), most)))
}
