package backend

import (
	"context"
	"sync"
)

// A Group is goroutines that are ended together.
type Group struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func NewGroup() *Group {
	ctx, cancel := context.WithCancel(context.Background())
	return &Group{ctx: ctx, cancel: cancel}
}

// Run starts fn; it ends when the group is stopped.
func (g *Group) Run(fn func(ctx context.Context)) { g.wg.Go(func() { fn(g.ctx) }) }

func (g *Group) Stop() {
	g.cancel()
	g.wg.Wait()
}
