package output

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// CatchClosedPipe makes writing to a closed output return an error instead of ending the process.
func CatchClosedPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// IgnoreClosed returns nil for the error of a closed output, as after `| head`, and err otherwise.
func IgnoreClosed(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
