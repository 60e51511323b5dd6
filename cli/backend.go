package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"waybill/engine"
	"waybill/engine/planfile"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store"
	"waybill/store/sqlite"
	"waybill/watcher"
)

// storeName is the file of the store in its folder.
const storeName = "store.db"

// plansLock follows the name of the store in that of the file whose lock makes the writers of plans take
// turns. It lies beside the store, because nothing but the plans is written in a workspace.
const plansLock = ".plans.lock"

// A backend brings the engine of a workspace to life, and everything that runs beside it, and ends
// them all.
type backend struct {
	version string // of this program
	store   string // --store
	shared  bool   // --shared-disk
	follow  bool   // whether plans are watched
	poll    bool   // whether they are watched without the help of the system
	// retryDelay is the first wait before a task is tried again on the same model.
	retryDelay time.Duration
	outputDir  string // --output-dir
	dialects   dialects
	// keepDialects says that they are to be those of the workspace, and not of this process alone.
	keepDialects bool
	logger       *slog.Logger

	// running ends first what looks at the workspace, then the engine.
	watching, running *group

	mu       sync.Mutex       // guards what follows
	watch    *watcher.Watcher // nil until a workspace was found, or for good without follow
	degraded []string         // what a person should know, a sentence each
	rulesAt  string           // the file of the dialects that the workspace has; "" before a workspace was found
}

// A group is goroutines that are ended together.
type group struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func newGroup() *group {
	ctx, cancel := context.WithCancel(context.Background())
	return &group{ctx: ctx, cancel: cancel}
}

// run starts fn; it ends when the group is stopped.
func (g *group) run(fn func(ctx context.Context)) { g.wg.Go(func() { fn(g.ctx) }) }

func (g *group) stop() {
	g.cancel()
	g.wg.Wait()
}

func newBackend(version, storeFlag string, follow bool, logger *slog.Logger) *backend {
	return &backend{
		version: version, store: storeFlag, follow: follow, logger: logger, retryDelay: time.Second,
		watching: newGroup(), running: newGroup(),
	}
}

// stop ends everything that start began. What was submitted before is committed first.
func (b *backend) stop() {
	b.watching.stop()
	b.running.stop()
}

// abandon is stop for a process that ends: what takes longer than the period is left to the end of
// the process.
func (b *backend) abandon(period time.Duration) {
	stopped := make(chan struct{})
	go func() { // ends with stop, or with the process
		defer close(stopped)
		b.stop()
	}()
	select {
	case <-stopped:
	case <-time.After(period):
	}
}

// start gives the running engine of a workspace and its plans. The store is opened when it is needed.
func (b *backend) start(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
	path, err := storePath(b.store, ws)
	if err != nil {
		return nil, nil, err
	}
	if err := b.makeFolder(); err != nil {
		return nil, nil, err
	}
	root, err := planfile.Open(ws.Root, planfile.Options{LockPath: path + plansLock, Folders: true})
	if err != nil {
		return nil, nil, err
	}
	watch := b.newWatcher(ws.Root)
	add := b.add(watch, ws.Root)
	plans := engine.NewPlans(root, b.planOptions(path, ws, add))
	e, err := engine.New(engine.Options{
		Open: b.open(path, ws), Plans: plans, Logger: b.logger, MaxPending: schema.MaxPending,
		Backoff: b.retryDelay, Outputs: engine.Outputs{Workspace: ws.Root, Other: b.outputDir},
	})
	if err != nil {
		return nil, nil, err
	}
	b.running.run(func(ctx context.Context) {
		if err := e.Run(ctx); err != nil {
			b.logger.Error("the engine ended badly", "err", err)
		}
		_ = root.Close() // what was written through it was synced at once
	})
	if watch != nil {
		b.observe(e, watch, ws.Root)
	}
	return e, plans, nil
}

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

// open gives the function that opens the store at path.
func (b *backend) open(path string, ws workspace.Workspace) func(context.Context) (store.Store, error) {
	return func(ctx context.Context) (store.Store, error) {
		if b.store == "" {
			if err := ws.EnsureStateDir(); err != nil {
				return nil, stateFault(err)
			}
			b.remember(ws)
		}
		// A folder that is named as the store, or made for it, is private; that of a file may have others.
		return sqlite.Open(ctx, sqlite.Options{Path: path, Version: b.version, Logger: b.logger, PrivateDir: !strings.HasSuffix(b.store, ".db"), AllowRemote: b.shared})
	}
}

// stateFault tells a state folder that must not be used from one that cannot be made now.
func stateFault(err error) error {
	if errors.Is(err, workspace.ErrUnsafeStateDir) {
		return &store.Error{Kind: store.Unsafe, Message: "the state folder cannot be used", Err: err}
	}
	return &store.Error{Kind: store.IO, Message: "the state folder cannot be made", Err: err}
}

// remember notes which folder the state belongs to, and says so if it is another than before.
func (b *backend) remember(ws workspace.Workspace) {
	before, err := ws.Remember()
	switch {
	case err != nil:
		b.logger.Warn("the identity of the workspace was not noted", "err", err)
	case before != nil:
		b.logger.Warn("the workspace is another folder than before at the same path; its instructions and runs are kept",
			"path", ws.Root, "inode", ws.Ino, "inode_before", before.Ino)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.degraded = append(b.degraded, fmt.Sprintf("the workspace %s is another folder than before at the same path; "+
			"the instructions and runs of the earlier one are kept: if they are not meant for this one, give --store another place", ws.Root))
	}
}

// troubles gives what a person should know about what start began, a sentence each.
func (b *backend) troubles() []string {
	b.mu.Lock()
	said, rulesAt := slices.Clone(b.degraded), b.rulesAt
	b.mu.Unlock()
	if rulesAt == "" {
		return said
	}
	return append(said, b.dialects.troubles(rulesAt, b.keepDialects)...)
}

// makeFolder makes the folder that --store names, if it names one.
func (b *backend) makeFolder() error {
	if b.store == "" || strings.HasSuffix(b.store, ".db") {
		return nil
	}
	if err := os.MkdirAll(b.store, 0o700); err != nil {
		return fmt.Errorf("--store %s: %w", b.store, err)
	}
	return nil
}

// storePath gives the file that --store means: a *.db file, or store.db in a folder. It makes nothing.
func storePath(flag string, ws workspace.Workspace) (string, error) {
	switch {
	case flag == "" && ws.StateDir == "":
		return "", usageError{errors.New("there is no place for the store: set HOME or XDG_STATE_HOME, or give --store")}
	case flag == "":
		return filepath.Join(ws.StateDir, storeName), nil
	case strings.HasSuffix(flag, ".db"):
		return filepath.Abs(flag)
	}
	return filepath.Abs(filepath.Join(flag, storeName))
}

// checkStore refuses a --store that names a kind of store which this binary does not have.
func checkStore(flag string) error {
	scheme, _, isURL := strings.Cut(flag, "://")
	if !isURL {
		return nil
	}
	return usageError{fmt.Errorf("--store: this waybill has no store for %q; name a *.db file or a folder", scheme)}
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
