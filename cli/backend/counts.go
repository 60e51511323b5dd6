package backend

import (
	"context"

	"waybill/web"
)

// Counts returns the counts of the parts around the front door.
func (b *Backend) Counts(ctx context.Context) (c web.Counts) {
	b.mu.Lock()
	e, w := b.engine, b.watch
	b.mu.Unlock()
	if b.Host != nil {
		c.Host = b.Host()
	}
	if w != nil {
		c.WatcherEvents = int64(w.Status().Events)
	}
	if e == nil {
		return c
	}
	c.Engine = e.Stats()
	select {
	case <-e.Opened(): // counting must not open the store
		st, _ := e.StoreStatus(ctx) // of an open one there is no error
		c.Store = st.Stats
	default:
	}
	return c
}
