package watcher

import (
	"fmt"
	"runtime"
	"syscall"
)

// exhaustion is what systems answer that have no more watches to give.
var exhaustion = []error{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM}

// exhaustedReason says why files are polled, and what a person can do about it.
func exhaustedReason(err error) string {
	if advice := advice(err); advice != "" {
		return fmt.Sprintf("%v: %s", err, advice)
	}
	return err.Error()
}

// nativeMode names the notification service of this system.
func nativeMode() Mode {
	switch runtime.GOOS {
	case "linux", "android":
		return Inotify
	case "windows":
		return Windows
	}
	return Kqueue
}
