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

// A call is a request or a notification that is being carried out.
type call struct {
	message
	entry *api.Entry
	size  int    // that it counts for in the gate
	key   string // nothing if it cannot be cancelled

	// ctx is of this call alone. It is kept here because a call waits for its turn in a channel.
	ctx    context.Context
	cancel context.CancelFunc
	begun  atomic.Bool  // start was called
	state  atomic.Int32 // open, until it is answered or given up
}

// The states of a call.
const (
	open     = iota
	answered // by its method, or in its place
	givenUp  // answered on the way out, although its method is still at it
)

// changes reports whether the call may change something.
func (c *call) changes() bool { return c.entry.Kind == schema.Change }

// A register finds the calls by their ids while they can be cancelled and while no other request may
// have their id.
type register struct {
	named atomic.Int64 // len(byKey), for who only wants to know that there is none

	mu    sync.Mutex // guards what follows
	byKey map[string]*call
}

func newRegister() *register { return &register{byKey: map[string]*call{}} }

// busy reports whether a call has this id.
func (r *register) busy(id []byte) bool {
	if id == nil || r.named.Load() == 0 {
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
	r.named.Add(1)
}

func (r *register) remove(c *call) {
	if c.key == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byKey, c.key)
	r.named.Add(-1)
}

// left gives the calls that have no answer yet.
func (r *register) left() []*call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.byKey))
}

// cancel ends the context of the call with this id, if there is one.
func (r *register) cancel(id []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.byKey[wire.Key(id)]; ok {
		c.cancel()
	}
}
