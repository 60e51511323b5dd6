package main

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"waybill/bench/disk"
)

// The probes measure the least work of any durable queue: a synced record, and on PostgreSQL one row in one
// transaction.
type probes struct {
	log  *disk.Log
	rows *bareQueue // nil without PostgreSQL
}

// openProbes creates the probes on the disk of the contenders.
func openProbes(ctx context.Context, h *house) (*probes, error) {
	log, err := disk.Create(filepath.Join(h.dir, "raw.log"))
	if err != nil || h.cluster == nil {
		return &probes{log: log}, err
	}
	url, err := h.database(ctx)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	rows, err := joinBare(ctx, url, most(callerCounts))
	return &probes{log, rows}, err
}

func (p *probes) close() error {
	if p.rows != nil {
		_ = p.rows.close() // closes a pool, which cannot fail
	}
	return p.log.Close()
}

// disk returns how many synced records a second the disk accepts from that many callers.
func (p *probes) disk(callers int) (float64, error) {
	if callers == 1 {
		const n = 150
		took, err := p.log.Alone(n)
		return rate(n, took), err
	}
	n := 40 * callers
	took, err := p.log.Together(n, callers)
	return rate(n, took), err
}

// insert returns how many rows a second PostgreSQL accepts from that many callers, each with a connection.
func (p *probes) insert(ctx context.Context, callers int) (float64, error) {
	n := max(150, 20*callers)
	n -= n % callers
	took, err := putAll(ctx, p.rows, callers, 0, n)
	return rate(n, took), err
}

// errand is the probe of the waits: the least work until an item is in another process, a synced record and
// two pipes.
type errand struct {
	log   *disk.Log
	other *childProcess
	mu    sync.Mutex // guards log
}

func (e *errand) put(_ context.Context, _ int, item string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.log.Append(1); err != nil {
		return err
	}
	_, err := e.other.in.WriteString(item[:8] + "\n")
	return err
}
