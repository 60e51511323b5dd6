//go:build linux || darwin

package file_test

// exchanges reports whether the system exchanges two names in one step.
const exchanges = true
