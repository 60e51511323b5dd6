package file

import (
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
)

// Survey returns the Stat of a path. For a folder, it also returns a hash over the names and Stats of its entries,
// which differs after a change. It reads at most as many entries as Search, and no subfolders.
func Survey(path string) (stat Stat, entries uint64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return stat, 0, err
	}
	if stat, err = StatPath(path); err != nil || !info.IsDir() {
		return stat, 0, err // a file is not opened, because it may be a pipe
	}
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return stat, 0, nil // a folder that cannot be opened counts as empty
	}
	defer func() { _ = f.Close() }()
	names, _ := f.Readdirnames(maxEntries)
	for _, name := range names {
		entry, _ := StatPath(filepath.Join(path, name))
		entries += sum(name, entry) // a sum does not depend on the order
	}
	return stat, entries, nil
}

func sum(name string, s Stat) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	_ = binary.Write(h, binary.LittleEndian, s)
	return h.Sum64()
}
