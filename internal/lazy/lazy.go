// Package lazy holds the values of package variables that few commands need. A short command, such as a hook, would otherwise
// pay for all of them at its start.
package lazy

import "sync"

// A Value is made when it is first needed. The compiler initialises a package variable of this type, so startup runs no code.
type Value[T any] struct {
	// Of makes the value.
	Of   func() T
	once sync.Once // guards made
	made T
}

// Get calls Of on the first call and returns its value. Goroutines may call Get concurrently.
func (v *Value[T]) Get() T {
	v.once.Do(func() { v.made = v.Of() })
	return v.made
}
