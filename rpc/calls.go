package rpc

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"waybill/api"
	"waybill/schema"
	"waybill/wire"
)

// A call is a request or a notification that was accepted and has not ended.
type call struct {
	message
	entry *api.Entry
	size  int    // in bytes, as counted by the limiter
	key   string // empty if the call cannot be cancelled

	// ctx belongs to this call alone. It is a field because a call waits in a channel before it runs.
	ctx     context.Context
	cancel  context.CancelFunc
	started atomic.Bool  // run was called
	state   atomic.Int32 // open until the call is answered or abandoned
}

// These are the states of a call.
const (
	open      = iota
	answered  // by its method, or by a refusal
	abandoned // answered during shutdown while its method still runs
)

// changes reports whether the call runs a Change method.
func (c *call) changes() bool { return c.entry.Kind == schema.Change }

// A register maps ids to unanswered calls, to cancel them and to refuse a second request with the same id.
type register struct {
	size atomic.Int64 // len(byKey), readable without mu

	mu    sync.Mutex // guards the fields below
	byKey map[string]*call
}

func newRegister() *register { return &register{byKey: map[string]*call{}} }

// busy reports whether an unanswered call has this id.
func (r *register) busy(id []byte) bool {
	if id == nil || r.size.Load() == 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byKey[wire.Key(id)] != nil
}

func (r *register) add(c *call) {
	if c.ID == nil {
		return
	}
	c.key = wire.Key(c.ID)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byKey[c.key] = c
	r.size.Add(1)
}

func (r *register) remove(c *call) {
	if c.key == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byKey, c.key)
	r.size.Add(-1)
}

// unanswered returns the calls without an answer.
func (r *register) unanswered() []*call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.byKey))
}

// cancel cancels the context of the call with this id, if there is one.
func (r *register) cancel(id []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.byKey[wire.Key(id)]; ok {
		c.cancel()
	}
}
