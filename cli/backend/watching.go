package backend

import (
	"context"
	"path/filepath"
	"time"

	"waybill/engine"
	"waybill/schema"
	"waybill/watcher"
)

func (b *Backend) newWatcher(root string) *watcher.Watcher {
	if !b.Follow {
		return nil
	}
	w := watcher.New(watcher.Options{ForcePolling: b.Poll, Root: root, Logger: b.Logger})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watch = w
	return w
}

func (b *Backend) add(w *watcher.Watcher, root string) func(string) {
	return func(rel string) {
		if w == nil {
			return
		}
		if err := w.Add(filepath.Join(root, filepath.FromSlash(rel))); err != nil {
			b.Logger.Warn("a path is not watched", "path", rel, "err", err)
		}
	}
}

// observe runs the watcher and makes the engine read the files that the watcher reports.
func (b *Backend) observe(e *engine.Engine, w *watcher.Watcher, root string) {
	b.watching.Run(func(ctx context.Context) {
		if err := w.Run(ctx); err != nil && ctx.Err() == nil {
			b.Logger.Error("the watcher ended badly", "err", err)
		}
	})
	b.watching.Run(func(ctx context.Context) {
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

// Status describes the watcher. It waits for a watcher that is still starting.
func (b *Backend) Status(ctx context.Context) schema.WatcherStatus {
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

// ConnectPeriod limits how long a status waits for the watches. A disk that hangs takes longer, and the status must
// still be shown then.
const ConnectPeriod = 5 * time.Second

// connected reports whether the watcher has installed its watches. Before that, it would look like a failed one.
func (b *Backend) connected(ctx context.Context, w *watcher.Watcher) bool {
	period := time.NewTimer(ConnectPeriod)
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
