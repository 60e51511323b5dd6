package mcp

import "context"

// A turn is the position of a call among the calls of its connection. The SDK starts all handlers at once, so the
// context of each call carries its turn. Each func may be nil.
type turn struct {
	// await blocks until the call may take effect, or returns why it may not.
	await func(ctx context.Context) error
	// pass lets the next call take effect. It may be called more than once.
	pass func()
	// undelivered registers a callback for the case that the answer cannot be written to the host.
	undelivered func(takeBack func())
}

type turnKey struct{}

// withTurn returns a context that carries the turn.
func withTurn(ctx context.Context, t turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// turnOf returns the turn of a call. Without one, the call does not wait.
func turnOf(ctx context.Context) turn {
	t, _ := ctx.Value(turnKey{}).(turn)
	if t.await == nil {
		t.await = func(context.Context) error { return nil }
	}
	if t.pass == nil {
		t.pass = func() {}
	}
	if t.undelivered == nil {
		t.undelivered = func(func()) {}
	}
	return t
}
