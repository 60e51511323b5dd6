package mcp

import (
	"context"
	"io"
	"log/slog"

	"waybill/api"
	"waybill/wire"
)

// Options configures Serve. In, Out and Table are required.
type Options struct {
	// In is read until its end. Serve closes it.
	In io.ReadCloser
	// Out receives messages only. Serve closes it.
	Out io.WriteCloser
	// Table holds the methods that the tools, resources and prompts call.
	Table *api.Table
	// Notify, if not nil, is called once. It sends waybill's notifications until ctx ends. send does not block.
	// Without Notify, the host gets no message about changed resources.
	Notify func(ctx context.Context, send func(method string, params any)) error
	// Hooks says that hooks of the host bring instructions to the model and report its tool calls. Then the model sees no
	// ids of instructions, because an event must acknowledge them, not a claim.
	Hooks bool
	// Supervised says that a supervisor is between the host and this process.
	Supervised bool
	// Version is the version that the server reports.
	Version string
	// Logger receives events that no answer can report. The default discards them.
	Logger *slog.Logger
	// Tally, if not nil, counts the traffic of the connection and the events that no answer reported.
	Tally *wire.Tally

	// maxMessageBytes limits one message. Tests set it.
	maxMessageBytes int
}
