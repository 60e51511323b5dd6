package cli

import (
	"context"

	"waybill/web"
	"waybill/wire"
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
	select {
	case <-e.Opened(): // and not before: what only counts opens nothing
		st, _ := e.StoreStatus(ctx) // of an open one there is no error
		c.Store = st.Stats
	default:
	}
	return c
}

// countsOfHost gives a function that gives what was counted of the conversation with the host.
func countsOfHost(t *wire.Tally, unlogged func() int64) func() *web.Host {
	return func() *web.Host {
		c := t.Stats()
		return &web.Host{
			BytesIn: c.BytesIn, BytesOut: c.BytesOut, Refused: c.Refused, Responses: c.Responses, LogDropped: unlogged(),
		}
	}
}
