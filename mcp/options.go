package mcp

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"waybill/api"
	"waybill/schema"
	"waybill/wire"
)

// Options says what is served to whom. In, Out and Table are required.
type Options struct {
	// In is read until its end, and closed.
	In io.ReadCloser
	// Out gets nothing but messages, and is closed.
	Out io.WriteCloser
	// Table has the methods that the tools, the resources and the prompts call.
	Table *api.Table
	// Notify, if not nil, is called once. It sends waybill's notifications until ctx ends. send does not block. Without
	// it nobody is told that a resource has changed.
	Notify func(ctx context.Context, send func(method string, params any)) error
	// Version is what the server says that it is.
	Version string
	// Logger gets what the host cannot be told; by default nobody does.
	Logger *slog.Logger
	// Tally, if not nil, counts what goes over the connection and what the host was not told, for who wants to know.
	Tally *wire.Tally

	// maxMessageBytes bounds one message; it is schema.MaxMessageBytes, but tests have less memory.
	maxMessageBytes int
}

// fill checks the options and puts in the defaults.
func (o *Options) fill() error {
	switch {
	case o.In == nil:
		return errors.New("mcp: Options.In is missing")
	case o.Out == nil:
		return errors.New("mcp: Options.Out is missing")
	case o.Table == nil:
		return errors.New("mcp: Options.Table is missing")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Tally == nil {
		o.Tally = new(wire.Tally)
	}
	if o.maxMessageBytes == 0 {
		o.maxMessageBytes = schema.MaxMessageBytes
	}
	return nil
}
