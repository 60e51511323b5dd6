package mcp

import "context"

// A turn is the place of a call among the calls of its connection. Whoever reads the messages knows their order, and
// the SDK starts their handlers all at once; so the turn goes along in the context of the call. Each func may be nil.
type turn struct {
	// await returns when it is the call's turn to take effect, or with the reason why that will not be.
	await func(ctx context.Context) error
	// pass lets the next call take effect. It may be called more than once.
	pass func()
	// undelivered takes what has to be done if the answer of the call cannot be written to the host.
	undelivered func(takeBack func())
}

type turnKey struct{}

// withTurn gives a context of a call that has this turn.
func withTurn(ctx context.Context, t turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// turnOf gives the turn of a call. A call that was given none waits for nobody.
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
