package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tests of this package talk to the server over the SDK's transports in memory; Serve has a transport of its own.

type Server struct{ *server }

func NewServer(o Options) Server { return Server{newServer(o)} }

func (s Server) SDK() *sdk.Server { return s.sdk }

func (s Server) Run(ctx context.Context) error { return s.notify(ctx) }

// SetMaxMessageBytes bounds one message by less than a host may rely on, because tests would need much memory to reach
// that.
func (o *Options) SetMaxMessageBytes(n int) { o.maxMessageBytes = n }

// WatchedRuns returns the addresses of the watched runs.
func (s Server) WatchedRuns() []string { return s.updates.runs() }

// Advice returns what a model is told to do for a next action.
func Advice(action string) string { return advice[action] }
