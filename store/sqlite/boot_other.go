//go:build !linux && !darwin

package sqlite

// bootID knows of no name for the time since this system was started.
func bootID() string { return "" }
