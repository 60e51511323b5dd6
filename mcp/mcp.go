package mcp

import (
	"context"

	"waybill/mcp/pipe"
	"waybill/schema"
)

// Serve serves one host over a pair of streams with one message a line, by the rules of pipe.Serve.
//
// The exit code is that of the process. An error means that the options are wrong; Serve has then done nothing.
func Serve(ctx context.Context, o Options) (exitCode int, err error) {
	if err := o.fill(); err != nil {
		return 2, err
	}
	s := newServer(o)
	pipe.Serve(ctx, pipe.Options{
		In: o.In, Out: o.Out, Server: s.sdk, IsChange: s.isChange, Busy: o.Table.AtWork, Background: s.notify,
		Logger: o.Logger, Tally: o.Tally, MaxMessageBytes: o.maxMessageBytes,
	})
	return 0, nil
}

// isChange reports whether a tool changes something.
func (s *server) isChange(tool string) bool {
	entry, ok := s.o.Table.Entry(tool)
	return ok && entry.Kind == schema.Change
}
