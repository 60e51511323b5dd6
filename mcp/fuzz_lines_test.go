package mcp_test

import (
	"bytes"
)

// A buffer is an output that is read when the server has ended.
type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }
