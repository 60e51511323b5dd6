package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocatesAhead reports whether files can have blocks beyond their end.
const allocatesAhead = true

const (
	blocksAhead  = 256 << 10 // allocated beyond the request, so that few commits allocate
	blocksBeside = 64 << 10  // more than a file system counts for its own lists of the blocks of a file
)

// ensureBlocks returns the file blocks for that many bytes, without changing its size. A file system that cannot do
// so promises nothing.
func ensureBlocks(f *os.File, size int64) error {
	had, enough, err := measure(f, size)
	if err != nil || enough {
		return err
	}
	from := min(had, size)
	err = allocateAhead(f, from, size+blocksBeside+blocksAhead-from)
	if errors.Is(err, unix.ENOSPC) {
		err = allocateAhead(f, from, size+blocksBeside-from)
	}
	if err != nil {
		return err
	}
	// The file may have holes for pages that were free when it grew.
	if _, enough, err = measure(f, size); err != nil || enough {
		return err
	}
	return allocateAhead(f, 0, size+blocksBeside)
}

// measure returns the size of the file and whether it has blocks for that many bytes. It does not request file times,
// for the reason in statx.
func measure(f *os.File, size int64) (had int64, enough bool, err error) {
	var st unix.Statx_t
	err = ignoringEINTR(func() error {
		return unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_SIZE|unix.STATX_BLOCKS, &st)
	})
	if errors.Is(err, unix.ENOSYS) {
		return 0, true, nil
	}
	return int64(st.Size), int64(st.Blocks)*512 >= size+blocksBeside, described(err, "measure", f)
}

func allocateAhead(f *os.File, from, size int64) error {
	err := ignoringEINTR(func() error { return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, size) })
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return described(err, "allocate", f)
}
