package program

import (
	"context"
	"io"
	"log/slog"

	"waybill/cli/backend"
	"waybill/wire"
)

// ExitStdio is the exit code of serve, mcp and acp when standard input or output cannot be used.
const ExitStdio = 4

// Stdio is standard input and output for a protocol, with a log on standard error.
type Stdio struct {
	In      io.ReadCloser
	Out     io.WriteCloser
	Logger  *slog.Logger
	Dropped func() int64 // the number of lines that the log has lost
}

// WithStdio takes over standard input and output, and the log, for serve. If they cannot be used, it says so and sets
// a.Code to ExitStdio.
func WithStdio(a *App, serve func(s Stdio) error) error {
	in, out, err := wire.Stdio()
	if err != nil {
		a.Code = ExitStdio
		a.Say("waybill: " + err.Error())
		return nil
	}
	log := wire.NewLogWriter(a.Err)
	logging := backend.NewGroup()
	logging.Run(func(ctx context.Context) { _ = log.Run(ctx) }) // its error needs no report
	defer logging.Stop()
	return serve(Stdio{In: in, Out: out, Logger: a.Logger(log), Dropped: log.Dropped})
}
