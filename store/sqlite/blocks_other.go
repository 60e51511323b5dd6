//go:build !linux

package sqlite

import "os"

// allocatesAhead reports whether files can have blocks beyond their end.
const allocatesAhead = false

func ensureBlocks(*os.File, int64) error { return nil }

func allocateAhead(*os.File, int64, int64) error { return nil }
