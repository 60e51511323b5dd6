//go:build unix && !linux && !darwin

package file

// exchange exchanges the names in steps, because the system has no atomic exchange.
func (s site) exchange(temp string) error { return s.emulate(temp) }
