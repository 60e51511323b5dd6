//go:build linux || darwin

package planfile_test

// exchanges reports whether the system exchanges two names in one step.
const exchanges = true
