package cli

import (
	"cmp"
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
	"waybill/store/postgres"
	"waybill/store/sqlite"
	"waybill/watcher"
	"waybill/web"
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
	store   string // --store, or WAYBILL_STORE
	name    string // --workspace-name
	shared  bool   // --shared-disk
	follow  bool   // whether plans are watched
	poll    bool   // whether they are watched without the help of the system
	// retryDelay is the first wait before a task is tried again on the same model.
	retryDelay time.Duration
	keeps      engine.Keep
	tidies     bool   // removes what is over, as a process that lives on does
	outputDir  string // --output-dir
	dialects   dialects
	// keepDialects says that they are to be those of the workspace, and not of this process alone.
	keepDialects bool
	logger       *slog.Logger
	clock        postgres.Clock // of the server of the store, if it has one
	// found, if not nil, is told the workspace before anything is done for it.
	found func(workspace.Workspace)
	// host, if not nil, gives what was counted of the conversation with the host.
	host func() *web.Host

	// running ends first what looks at the workspace, then the engine.
	watching, running *group

	mu       sync.Mutex       // guards what follows
	engine   *engine.Engine   // nil until a workspace was found
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
		version: version, store: storeFlag, follow: follow, logger: logger, retryDelay: time.Second, tidies: follow,
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
	if b.found != nil {
		b.found(ws)
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
		Now: b.clock.Now, Backoff: b.retryDelay, Keep: b.keeps, Tidies: b.tidies, Outputs: engine.Outputs{Workspace: ws.Root, Other: b.outputDir},
	})
	if err != nil {
		return nil, nil, err
	}
	b.mu.Lock()
	b.engine = e
	b.mu.Unlock()
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

// open gives the function that opens the store at path.
func (b *backend) open(path string, ws workspace.Workspace) func(context.Context) (store.Store, error) {
	return func(ctx context.Context) (store.Store, error) {
		if b.store == "" || postgres.Names(b.store) {
			if err := ws.EnsureStateDir(); err != nil {
				return nil, stateFault(err)
			}
			b.remember(ws)
		}
		if postgres.Names(b.store) {
			return postgres.Open(ctx, postgres.Options{
				URL: b.store, Workspace: cmp.Or(b.name, ws.ID), Version: b.version, Logger: b.logger, Clock: &b.clock,
			})
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
	if b.store == "" || strings.HasSuffix(b.store, ".db") || postgres.Names(b.store) {
		return nil
	}
	if err := os.MkdirAll(b.store, 0o700); err != nil {
		return fmt.Errorf("--store %s: %w", b.store, err)
	}
	return nil
}

// storePath gives the file that --store means: a *.db file, or store.db in a folder. It makes nothing. Of a database it is
// what the files that belong to this machine lie beside; its name says nothing of the user or the password.
func storePath(flag string, ws workspace.Workspace) (string, error) {
	switch {
	case postgres.Names(flag) && ws.StateDir == "":
		return "", usageError{errors.New("there is no place for the files of this machine: set HOME or XDG_STATE_HOME")}
	case postgres.Names(flag):
		return filepath.Join(ws.StateDir, "postgres-"+postgres.Digest(flag)), nil
	case flag == "" && ws.StateDir == "":
		return "", usageError{errors.New("there is no place for the store: set HOME or XDG_STATE_HOME, or give --store")}
	case flag == "":
		return filepath.Join(ws.StateDir, storeName), nil
	case strings.HasSuffix(flag, ".db"):
		return filepath.Abs(flag)
	}
	return filepath.Abs(filepath.Join(flag, storeName))
}
