package cli

import (
	"context"
	"path/filepath"
	"time"

	"waybill/engine"
	"waybill/schema"
	"waybill/watcher"
)

func (b *backend) newWatcher(root string) *watcher.Watcher {
	if !b.follow {
		return nil
	}
	w := watcher.New(watcher.Options{ForcePolling: b.poll, Root: root, Logger: b.logger})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watch = w
	return w
}

func (b *backend) add(w *watcher.Watcher, root string) func(string) {
	return func(rel string) {
		if w == nil {
			return
		}
		if err := w.Add(filepath.Join(root, filepath.FromSlash(rel))); err != nil {
			b.logger.Warn("a path is not watched", "path", rel, "err", err)
		}
	}
}

// observe runs the watcher and lets the engine look at what it names.
func (b *backend) observe(e *engine.Engine, w *watcher.Watcher, root string) {
	b.watching.run(func(ctx context.Context) {
		if err := w.Run(ctx); err != nil && ctx.Err() == nil {
			b.logger.Error("the watcher ended badly", "err", err)
		}
	})
	b.watching.run(func(ctx context.Context) {
		e.Follow(ctx, w.Wake(), func() []string { return relative(root, w.Take()) })
	})
}

func relative(root string, paths []string) []string {
	rels := make([]string, 0, len(paths))
	for _, path := range paths {
		if rel, err := filepath.Rel(root, path); err == nil {
			rels = append(rels, filepath.ToSlash(rel))
		}
	}
	return rels
}

// status describes the watcher. It waits for one that has just been started.
func (b *backend) status(ctx context.Context) schema.WatcherStatus {
	b.mu.Lock()
	w := b.watch
	b.mu.Unlock()
	if w == nil {
		return schema.WatcherStatus{Mode: "off"}
	}
	if !b.connected(ctx, w) {
		return schema.WatcherStatus{Mode: "off", Reason: "the watcher has not come up yet; plans are looked at when they are used"}
	}
	st := w.Status()
	status := schema.WatcherStatus{
		Mode: string(st.Mode), Reason: st.Reason, Plans: st.Files,
		Overflows: int64(st.Overflows), Rescans: int64(st.Rescans),
	}
	if !st.LastRescan.IsZero() {
		status.LastRescanAt = schema.TimeOf(st.LastRescan)
	}
	return status
}

// connectPeriod is how long a status waits for the watches to be in place. A disk that hangs takes longer,
// and a person who asks for the status then is to get it.
const connectPeriod = 5 * time.Second

// connected reports whether the watcher has put its watches in place; before, it would pass for one that
// has failed.
func (b *backend) connected(ctx context.Context, w *watcher.Watcher) bool {
	period := time.NewTimer(connectPeriod)
	defer period.Stop()
	select {
	case <-w.Connected():
		return true
	case <-b.watching.ctx.Done():
	case <-ctx.Done():
	case <-period.C:
	}
	return false
}
