package rpc

import "io"

// immediate would give a way to write without waiting, if pipes had one here.
func immediate(io.Writer) func(text []byte) (int, error) { return nil }
