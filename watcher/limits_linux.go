package watcher

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// advice returns the limit that was reached, its value, and the command that raises it. EMFILE can mean too many
// inotify instances or too many descriptors.
func advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("inotify watches are used up (%s); raise the limit with: sysctl fs.inotify.max_user_watches=%d",
			limit("max_user_watches", "max_inotify_watches"), 1<<20)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Sprintf("inotify instances or file descriptors are used up (%s); raise the limit with: sysctl fs.inotify.max_user_instances=%d, or ulimit -n",
			limit("max_user_instances", "max_inotify_instances"), 1<<13)
	}
	return ""
}

// limit returns the system's limit and, if it is lower, that of this user namespace.
func limit(system, namespace string) string {
	all, ours := number("/proc/sys/fs/inotify/"+system), number("/proc/sys/user/"+namespace)
	switch {
	case all < 0:
		return "limit unknown"
	case ours >= 0 && ours < all:
		return fmt.Sprintf("fs.inotify.%s=%d, user.%s=%d", system, all, namespace, ours)
	}
	return fmt.Sprintf("fs.inotify.%s=%d", system, all)
}

func number(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return -1
	}
	return n
}
