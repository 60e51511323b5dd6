package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"waybill/doctor"
	"waybill/internal/lazyregexp"
	"waybill/internal/ownfile"
	"waybill/store"
)

// Survey describes the store at o.Path and the files around it without opening it for writing. It creates, removes and
// repairs nothing, and other processes continue. It takes the lock of the store for a moment if the lock is free, and
// waits for it as long as an Update would. It also returns the files beside the store that waybill no longer needs.
func Survey(ctx context.Context, o Options, now time.Time) (doctor.Store, []doctor.Leftover) {
	o, err := o.filled()
	facts := doctor.Store{Kind: "SQLite", Path: o.Path}
	facts.Engine = doctor.Engine{Version: sqlite3.SQLITE_VERSION, Err: checkVersion(sqlite3.SQLITE_VERSION)}
	if err != nil {
		return facts, nil // without a path there are no further facts
	}
	if real, err := filepath.EvalSymlinks(o.Path); err == nil {
		facts.Path = real
	}
	s := surveyor{place: &place{path: facts.Path}, o: o, now: now, facts: &facts}
	s.files() // before anything is read: SQLite makes files for that
	e := examine(ctx, o)
	facts.Findings = e.findings
	if facts.There {
		s.locks(ctx)
	}
	if facts.There && !e.refusal {
		s.contents(ctx)
	}
	return facts, s.litter()
}

// surveyor is one Survey.
type surveyor struct {
	place *place
	o     Options
	now   time.Time
	facts *doctor.Store
}

// files examines the files of the store and those beside it.
func (s *surveyor) files() {
	parts, files := s.place.parts(), &s.facts.Files
	info, err := os.Stat(parts[0])
	s.facts.There = err == nil && info.Mode().IsRegular()
	files.Private, files.WantReserve, files.WALLimit, files.Reserve = modesCount, s.wantedReserve(), walLimit, -1
	files.Bytes, files.WALBytes = sizeOf(parts[0]), sizeOf(parts[1])
	for _, path := range s.place.files() {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && (path == parts[0] && ours(path) || ownfile.Check(path) == nil) {
			files.Open = append(files.Open, path)
		}
		if changed := info.ModTime(); path != s.place.reservePath() && changed.After(files.Changed) {
			files.Changed = changed
		}
	}
	if info, err := os.Lstat(s.place.reservePath()); err == nil {
		files.Reserve = info.Size()
	}
	files.Copies = s.place.copies()
	s.place.eachPeer(func(peer doctor.Peer, _ string) { s.facts.Peers = append(s.facts.Peers, peer) }, func(string) {})
}

// wantedReserve returns the size of a full reserve, or 0 if the disk does not tell its size.
func (s *surveyor) wantedReserve() int64 {
	v, err := volumeOf(s.place.dir())
	if err != nil {
		return 0
	}
	return (&place{volume: v}).reserveSize()
}

// ours reports whether a file belongs to this user, where that can be known.
func ours(path string) bool {
	uid, _, err := owner(path)
	return err == nil && (uid < 0 || uid == os.Geteuid())
}

// copyKinds are the suffixes after the store's name in the names of its copies.
var copyKinds = map[string]doctor.Known{rescuedMark: "rescued", ".corrupt-": "corrupt", ".replaced-": "replaced"}

// copies returns the copies that were left beside the store on purpose.
func (p *place) copies() (found []doctor.Copy) {
	p.eachBeside(func(path, rest string, info fs.FileInfo) {
		for mark, kind := range copyKinds {
			// A copy that was opened has files of SQLite and of its lock beside it.
			name, marked := strings.CutPrefix(rest, mark)
			if marked && !strings.Contains(name, ".") && !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") {
				found = append(found, doctor.Copy{Path: path, Kind: kind, Bytes: info.Size()})
			}
		}
	})
	return found
}

// eachBeside calls each for the regular files whose names begin with the store's name, with the rest of the name.
func (p *place) eachBeside(each func(path, rest string, info fs.FileInfo)) {
	entries, _ := os.ReadDir(p.dir()) // a folder that is not there has none
	for _, entry := range entries {
		rest, beside := strings.CutPrefix(entry.Name(), filepath.Base(p.path))
		info, err := entry.Info()
		if beside && err == nil && info.Mode().IsRegular() {
			each(filepath.Join(p.dir(), entry.Name()), rest, info)
		}
	}
}

// eachPeer returns the processes that have the store open, and the files that dead ones have left.
func (p *place) eachPeer(living func(peer doctor.Peer, path string), dead func(path string)) {
	p.eachBeside(func(path, rest string, _ fs.FileInfo) {
		if !strings.HasPrefix(rest, peerMark) {
			return
		}
		f, err := openOwn(path, os.O_RDONLY)
		if err != nil {
			return
		}
		defer func() { _ = f.Close() }() // and with it the lock
		switch free, err := tryLock(f); {
		case err != nil:
		case free:
			dead(path)
		default:
			if peer, ok := peerIn(f); ok {
				living(doctor.Peer{PID: peer.PID, Version: peer.Version}, path)
			}
		}
	})
}

// abandoned is how old an unfinished copy is that is certainly no longer written.
const abandoned = time.Hour

// unfinished matches the rest of a file name after the store's name, for an unfinished rescue, backup, restore or
// salvage of the store.
var unfinished = lazyregexp.New(`^((\.rescued-[0-9TZ-]+)?\.part|\.restoring|\.salvaging)-[0-9]+(-wal|-shm|-journal)?$`)

// litter returns the files that killed processes left.
func (s *surveyor) litter() (found []doctor.Leftover) {
	s.place.eachPeer(func(doctor.Peer, string) {}, func(path string) {
		if ours(path) {
			found = append(found, doctor.Leftover{Path: path, Bytes: sizeOf(path)})
		}
	})
	if len(s.facts.Peers) > 0 {
		return found // one of those processes may be writing a copy
	}
	s.place.eachBeside(func(path, rest string, info fs.FileInfo) {
		if unfinished.Compiled().MatchString(rest) && s.now.Sub(info.ModTime()) > abandoned && ours(path) {
			found = append(found, doctor.Leftover{Path: path, Bytes: info.Size()})
		}
	})
	return found
}

// locks reads who holds the lock and the gate.
func (s *surveyor) locks(ctx context.Context) {
	s.facts.Lock = s.held(ctx, s.place.lockPath())
	s.facts.Gate = s.held(ctx, gatePath(s.place.lockPath()))
	says := (&examination{path: s.place.path}).record()
	s.facts.Files.Spent = says.spent
	s.facts.Lock.PID, s.facts.Lock.Host = says.pid, says.host
	s.facts.Lock.Broken = s.facts.Lock.There && !s.facts.Lock.Held && says.state == locked
}

// lookEvery is how often a held lock is tried.
const lookEvery = 10 * time.Millisecond

// held tries a lock until it has it, and lets go of it at once.
func (s *surveyor) held(ctx context.Context, path string) (l doctor.Lock) {
	f, err := openOwn(path, os.O_RDONLY)
	if isKind(err, store.Unsafe) {
		return doctor.Lock{There: true, Odd: true}
	}
	if err != nil {
		return l
	}
	defer func() { _ = f.Close() }() // and with it the lock
	l.There, l.Held, l.For = true, true, s.o.lockWait
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	end := time.NewTimer(s.o.lockWait)
	defer end.Stop()
	for {
		if had, err := tryLock(f); had || err != nil {
			l.Held = false
			return l
		}
		select {
		case <-again.C:
		case <-end.C:
			return l
		case <-ctx.Done():
			return l
		}
	}
}

// wantedJournal returns how changes become durable on the disk that the store is on.
func (s *surveyor) wantedJournal() (journal doctor.Known, sync int64, script string) {
	v, err := volumeOf(s.place.dir())
	p := place{path: s.place.path, volume: v}
	if err == nil && p.checkVolume(true) == nil && p.volume.remote {
		return "delete", syncExtra, remoteSettings
	}
	if runtime.GOOS == "darwin" {
		return "wal", syncFull, durableSettings + darwinSettings
	}
	return "wal", syncFull, durableSettings
}

// MendReserve recreates the disk reserve of an existing store that has none. It waits for its turn.
func MendReserve(ctx context.Context, o Options) error {
	s, err := Open(ctx, o)
	if err != nil {
		return err
	}
	var missing error
	if s.w == nil { // it was opened for reading only
		missing = s.Update(ctx, func(store.Tx) error { return nil })
	}
	if _, err := os.Stat(s.place.reservePath()); err != nil {
		missing = errors.Join(missing, err)
	}
	return errors.Join(missing, s.Close())
}

// Sweep removes the files with which dead processes announced themselves beside the store at path.
func Sweep(path string) { _ = (&place{path: path}).peers(nil) }
