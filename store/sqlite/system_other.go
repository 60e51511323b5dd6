//go:build unix && !linux && !darwin && !freebsd

package sqlite

import "os"

// volumeOf knows nothing about the file systems of this platform and takes them for local ones.
func volumeOf(string) (volume, error) { return volume{free: 1 << 62}, nil }

func allocate(f *os.File, size int64) error { return fill(f, size) }
