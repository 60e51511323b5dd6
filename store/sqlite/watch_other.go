//go:build !linux

package sqlite

import "errors"

// A watch of a file there is none of on this system. It never rings.
type watch struct{}

func newWatch(string) (*watch, error) { return nil, errors.ErrUnsupported }

func (*watch) rings() <-chan struct{} { return nil }

func (*watch) renew() {}

func (*watch) close() {}
