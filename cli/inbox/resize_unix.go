//go:build unix

package inbox

import (
	"os"
	"os/signal"
	"syscall"
)

// resizes returns a channel that receives a value after the size of the terminal changed.
func resizes() <-chan os.Signal {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	return changed
}
