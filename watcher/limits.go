package watcher

import (
	"fmt"
	"runtime"
	"syscall"
)

// exhaustedErrors are the errors of systems without free watches.
var exhaustedErrors = []error{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM}

// exhaustedReason returns why files are polled and how to change that.
func exhaustedReason(err error) string {
	if advice := advice(err); advice != "" {
		return fmt.Sprintf("%v: %s", err, advice)
	}
	return err.Error()
}

// nativeMode returns the notification service of this system.
func nativeMode() Mode {
	switch runtime.GOOS {
	case "linux", "android":
		return Inotify
	case "windows":
		return Windows
	}
	return Kqueue
}
