package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Syncs are the numbers of disk syncs for each item of one caller.
type syncs struct {
	Put, Take float64 // Take is taking and acknowledging
}

// A watch is strace attached to a process and its later children.
type watch struct {
	cmd *exec.Cmd
	log string
}

// watched are the system calls that write to the disk durably. PostgreSQL, SQLite, Redis and NATS use no others to
// sync.
const watched = "trace=fsync,fdatasync,sync_file_range,openat,pwrite64"

// beginWatch attaches to a process. It returns when every call is traced.
func beginWatch(pid int, log string) (*watch, error) {
	cmd := exec.Command("strace", "-f", "-y", "-s", "0", "-e", watched, "-o", log, "-p", strconv.Itoa(pid))
	said, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(said)
	first, err := lines.ReadString('\n')
	if err != nil || !strings.Contains(first, "attached") {
		return nil, errors.Join(err, fmt.Errorf("strace: %s", first), ended(cmd.Wait()))
	}
	return &watch{cmd, log}, nil
}

// end detaches from the process.
func (w *watch) end() error {
	return errors.Join(w.cmd.Process.Signal(os.Interrupt), ended(w.cmd.Wait()))
}

// synced matches a sync call, or the opening of a file whose writes are synced.
var synced = regexp.MustCompile(`(?:fsync|fdatasync|sync_file_range)\(|openat\(.*O_D?SYNC`)

// logged matches a write to the write-ahead log of SQLite, with its length.
var logged = regexp.MustCompile(`pwrite64\(\d+<[^>]*-wal>.* = (\d+)$`)

// tally returns the number of syncs so far, and the bytes written to a write-ahead log of SQLite.
func (w *watch) tally() (syncs, walBytes int, err error) {
	f, err := os.Open(w.log)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if synced.MatchString(line) && !strings.Contains(line, "resumed>") {
			syncs++
		}
		if m := logged.FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return 0, 0, err
			}
			walBytes += n
		}
	}
	return syncs, walBytes, lines.Err()
}

// countSyncs counts the syncs of a contender at a new place, for n items of one caller. Without strace it returns nil.
func countSyncs(ctx context.Context, h *house, c contender, n int) (*syncs, error) {
	if _, err := exec.LookPath("strace"); err != nil {
		return nil, nil
	}
	at, err := c.place(ctx, h)
	if err != nil {
		return nil, err
	}
	s, err := countSyncsAt(ctx, h, c, at, n)
	if err != nil {
		err = fmt.Errorf("the syncs of %s: %w", c.name, err)
	}
	return s, errors.Join(err, at.end())
}

func countSyncsAt(ctx context.Context, h *house, c contender, at *place, n int) (found *syncs, err error) {
	log := filepath.Join(h.dir, c.key+".strace")
	var w *watch
	if at.pid != 0 { // before the client connects, because servers fork a process for each connection
		if w, err = beginWatch(at.pid, log); err != nil {
			return nil, err
		}
	}
	q, err := c.join(ctx, at.address)
	if err != nil {
		return nil, errors.Join(err, endWatch(w))
	}
	if w == nil {
		w, err = beginWatch(q.pid(), log)
	}
	if err == nil {
		found, err = (&runner{contender: c, q: q}).syncs(ctx, w, n)
	}
	return found, errors.Join(err, q.close(), endWatch(w))
}

func endWatch(w *watch) error {
	if w == nil {
		return nil
	}
	return w.end()
}

// syncs sends a few items through, and then counts the syncs of n more.
func (r *runner) syncs(ctx context.Context, w *watch, n int) (*syncs, error) {
	if _, _, err := r.through(ctx, 1, 5); err != nil {
		return nil, err
	}
	before, _, err := w.tally()
	if err != nil {
		return nil, err
	}
	first := r.next
	if _, err := putAll(ctx, r.q, 1, first, n); err != nil {
		return nil, err
	}
	between, _, err := w.tally()
	if err != nil {
		return nil, err
	}
	if _, err := drain(ctx, r.q, 1, first, n); err != nil {
		return nil, err
	}
	after, _, err := w.tally()
	return &syncs{float64(between-before) / float64(n), float64(after-between) / float64(n)}, err
}
