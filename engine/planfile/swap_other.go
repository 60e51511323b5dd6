//go:build unix && !linux && !darwin

package planfile

// exchange has no help from the system.
func (s site) exchange(temp string) error { return s.emulate(temp) }
