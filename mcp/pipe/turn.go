package pipe

import "context"

// A Turn is the position of a call among the calls of its connection. All handlers start at once, so the
// context of each call carries its turn. Each func may be nil.
type Turn struct {
	// Await blocks until the call may take effect, or returns why it may not.
	Await func(ctx context.Context) error
	// Pass lets the next call take effect. It may be called more than once.
	Pass func()
	// Undelivered registers a callback for the case that the answer cannot be written to the host.
	Undelivered func(takeBack func())
	// Delivered registers a callback for the case that the answer was written to the host.
	Delivered func(proceed func())
}

type turnKey struct{}

// withTurn returns a context that carries the turn.
func withTurn(ctx context.Context, t Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// TurnOf returns the turn of a call. Without one, the call does not wait.
func TurnOf(ctx context.Context) Turn {
	t, _ := ctx.Value(turnKey{}).(Turn)
	if t.Await == nil {
		t.Await = func(context.Context) error { return nil }
	}
	if t.Pass == nil {
		t.Pass = func() {}
	}
	if t.Undelivered == nil {
		t.Undelivered = func(func()) {}
	}
	if t.Delivered == nil {
		t.Delivered = func(proceed func()) { proceed() }
	}
	return t
}
