package serve

import (
	"waybill/web"
	"waybill/wire"
)

// Front doors do not import one another, so this file passes the counts of one to another.

// countsOfHost returns a function that returns the counts of the conversation with the host.
func countsOfHost(t *wire.Tally, unlogged func() int64) func() *web.Host {
	return func() *web.Host {
		c := t.Stats()
		return &web.Host{
			BytesIn: c.BytesIn, BytesOut: c.BytesOut, Refused: c.Refused, Responses: c.Responses, LogDropped: unlogged(),
		}
	}
}
