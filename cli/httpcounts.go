package cli

import (
	"context"

	"waybill/rpc"
	"waybill/web"
)

// Front doors know nothing of one another, so what they count meets here.

// counts gives what everything around the front door has counted.
func (b *backend) counts(ctx context.Context) (c web.Counts) {
	b.mu.Lock()
	e, w := b.engine, b.watch
	b.mu.Unlock()
	if b.host != nil {
		c.Host = b.host()
	}
	if w != nil {
		c.WatcherEvents = int64(w.Status().Events)
	}
	if e == nil {
		return c
	}
	c.Engine = e.Stats()
	if st, err := e.StoreStatus(ctx); err == nil { // else the metrics say that it cannot be read
		c.Store = st.Stats
	}
	return c
}

// countsOfHost gives a function that gives what was counted of the conversation with the host.
func countsOfHost(t *rpc.Tally, unlogged func() int64) func() *web.Host {
	return func() *web.Host {
		c := t.Stats()
		return &web.Host{
			BytesIn: c.BytesIn, BytesOut: c.BytesOut, Refused: c.Refused, Responses: c.Responses, LogDropped: unlogged(),
		}
	}
}
