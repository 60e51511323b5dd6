package sqlite

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"waybill/store"
)

// A full disk must not stop changes that only finish existing work. Three kinds of space make that hold:
//
//   - The pages of the database. Before a commit, the file gets blocks for every page that it has then. So a
//     checkpoint never needs space, and can always empty the write-ahead log.
//   - The write-ahead log and its index. Their files get blocks for one large change when the store is opened, and keep
//     them.
//   - The reserve, a file that holds nothing. UpdateReserved shortens it piece by piece where the other two are
//     not enough. Until it has its full size again, every other Update of every process is refused, so
//     that nothing new takes what was made free. The lock file says whether it is short.
const (
	maxReserve   = 3 << 20
	reservePiece = 128 << 10
	maxLogSpace  = 5 << 18
	indexSpace   = 64 << 10 // for more pages than a log has while no reader stays long
)

// reserveSize returns the size of a full reserve: less on a small disk.
func (p *place) reserveSize() int64 {
	return min(maxReserve, p.volume.size/8*3) / reservePiece * reservePiece
}

// logSpace returns the space that the write-ahead log always has.
func (p *place) logSpace() int64 { return min(maxLogSpace, p.volume.size/8) }

// makingRoom runs a transaction. On a full disk it empties the write-ahead log and tries again. A transaction that may
// use the reserve then receives it piece by piece, until it fits or the reserve is used up.
func (s *Store) makingRoom(reserved bool, attempt func() error) error {
	err := attempt()
	if !isKind(err, store.Full) {
		return err
	}
	s.restartLog()
	for err = attempt(); reserved && isKind(err, store.Full) && s.shortenReserve(); {
		err = attempt()
	}
	return err
}

// restartLog moves the write-ahead log into the database, so that the next transaction writes at the log's start. It
// also frees the space that a large transaction used. A long read prevents that; the log then grows.
func (s *Store) restartLog() {
	if s.w == nil || s.place.volume.remote {
		return
	}
	mode := "RESTART"
	if sizeOf(s.place.parts()[1]) > s.place.logSpace() {
		mode = "TRUNCATE"
	}
	_, _ = s.w.Exec("PRAGMA wal_checkpoint(" + mode + ")")
	_ = s.place.fillLog()
}

// shortenReserve frees a piece of the reserve and reports whether there was one. The lock is held.
func (s *Store) shortenReserve() bool {
	f, err := openOwn(s.place.reservePath(), os.O_RDWR)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 || f.Truncate(max(0, info.Size()-reservePiece)) != nil {
		return false
	}
	if !s.lock.says.spent {
		s.lock.says.spent = true
		s.note("the disk is full: only what finishes existing work is still accepted")
	}
	return true
}

// takeBackReserve restores the full size of the reserve, or returns an error if there is no space for it.
func (s *Store) takeBackReserve() error {
	if !s.lock.says.spent {
		return nil
	}
	if err := s.place.fillReserve(); err != nil {
		return fault(store.Full, err, "no space is left for the store %s, and its reserve is for finishing existing work: free some and try again",
			s.place.path)
	}
	s.lock.says.spent = false
	s.o.Logger.Info("the store has its reserve of space back", "path", s.place.path)
	return nil
}

// prepareSpace allocates the space of the database, the write-ahead log and its index, and fills the reserve, when a store is opened. A
// store without them still works until the disk is full.
func (s *Store) prepareSpace() {
	for errors.Is(errors.Join(s.ensurePages(), s.fillIndex()), syscall.ENOSPC) && s.shortenReserve() {
	}
	s.lock.says.spent = s.place.fillReserve() != nil
	if err := s.place.fillLog(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.o.Logger.Debug("the write-ahead log has no space of its own", "path", s.place.path, "err", err)
	}
}

// fillReserve returns the reserve its full size.
func (p *place) fillReserve() error {
	f, err := openOwn(p.reservePath(), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() >= p.reserveSize() {
		return err
	}
	return allocate(f, p.reserveSize())
}

func (p *place) fillLog() error {
	f, err := openOwn(p.parts()[1], os.O_RDWR)
	if err != nil {
		return err
	}
	return errors.Join(ensureBlocks(f, p.logSpace()), f.Close())
}

// shortLog is the length, in frames of one page, of the longest write-ahead log that a brief process leaves behind.
const shortLog = 64

// hasShortLog reports whether a write-ahead log is so short. Its index has the number of frames behind 16 bytes, in the
// byte order of the machine. Source: https://www.sqlite.org/walformat.html.
func (p *place) hasShortLog(shared *sharedFile) bool {
	path := p.parts()[2]
	info, err := os.Lstat(path)
	if err != nil || p.volume.remote {
		return false
	}
	f, err := shared.keep(path, info, os.O_RDONLY)
	if err != nil {
		return false
	}
	var frames [4]byte
	_, err = f.ReadAt(frames[:], 16)
	return err == nil && binary.NativeEndian.Uint32(frames[:]) <= shortLog
}

// fillIndex allocates the blocks of the index of the write-ahead log. SQLite writes a byte in each of its pages, so that a file
// system with smaller blocks leaves holes, and ends a call that later meets one on a full disk.
func (s *Store) fillIndex() error {
	path := s.place.parts()[2]
	info, err := os.Lstat(path)
	if err != nil || s.place.volume.remote {
		return nil // there is no index
	}
	f, err := s.w.sharedFile.keep(path, info, os.O_RDWR)
	if err != nil {
		return err
	}
	return allocateAhead(f, 0, indexSpace)
}

// ensurePages returns the database blocks for every page that it has once the transaction under way is committed.
func (s *Store) ensurePages() error {
	if !allocatesAhead || s.place.volume.remote {
		return nil
	}
	pages, err := s.w.number("PRAGMA page_count")
	if err != nil {
		return err
	}
	f, err := s.w.sharedFile.file(s.place.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the comparison of the files after the commit finds more
	}
	if err != nil {
		return err
	}
	return ensureBlocks(f, pages*s.w.pageSize)
}
