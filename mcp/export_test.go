package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tests of this package talk to the server over the SDK's transports in memory; Serve has a transport of its own.

type Server struct{ *server }

func NewServer(o Options) Server { return Server{newServer(o)} }

func (s Server) SDK() *sdk.Server { return s.sdk }

func (s Server) Run(ctx context.Context) error { return s.run(ctx) }
