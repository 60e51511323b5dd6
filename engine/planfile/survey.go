package planfile

import (
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
)

// Survey is StatPath, and for a folder also a sum over the names of its entries and their Stats: what has
// another sum has changed. It looks at no more entries than Search does, and into no folder below.
func Survey(path string) (stat Stat, entries uint64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return stat, 0, err
	}
	if stat, err = StatPath(path); err != nil || !info.IsDir() {
		return stat, 0, err // a file is not opened: it may be a pipe
	}
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return stat, 0, nil // what must not be opened has no entries that count
	}
	defer func() { _ = f.Close() }()
	names, _ := f.Readdirnames(maxEntries)
	for _, name := range names {
		entry, _ := StatPath(filepath.Join(path, name))
		entries += sum(name, entry) // in any order
	}
	return stat, entries, nil
}

func sum(name string, s Stat) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	_ = binary.Write(h, binary.LittleEndian, s)
	return h.Sum64()
}
