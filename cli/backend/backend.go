// Package backend starts the engine of a workspace, with its store and the watcher of its plans, and ends them
// together.
package backend

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

	"waybill/check/config"
	"waybill/check/trust"
	"waybill/cli/output"
	"waybill/cli/settings"
	"waybill/engine"
	"waybill/engine/resultfile"
	"waybill/engine/workspace"
	planfile "waybill/plan/file"
	"waybill/schema"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/sqlite"
	"waybill/watcher"
	"waybill/web"
)

// StoreName is the file of the store in its folder.
const StoreName = "store.db"

// PlansLock is the suffix of the file whose lock orders the writers of plans. The file is next to the store, because
// waybill writes only plans into a workspace.
const PlansLock = ".plans.lock"

// A Backend runs the engine of a workspace and the watcher of its plans.
type Backend struct {
	Options
	clock postgres.Clock // of the server of the store, if it has one
	// Found, if not nil, is called with the workspace before anything else is done for it.
	Found func(workspace.Workspace)
	// host, if not nil, returns the counts of the conversation with the host.
	Host func() *web.Host

	// Group watching ends before group running, which has the engine.
	watching, running *Group

	mu       sync.Mutex       // guards the fields below
	engine   *engine.Engine   // nil until a workspace was found
	watch    *watcher.Watcher // nil until a workspace was found, or for good without follow
	degraded []string         // sentences that the status shows
	used     bool             // the store was opened
	unusable error            // why the store could not be opened last, until it is
	rulesAt  string           // the file of the dialects that the workspace has; "" before a workspace was found
	checks   trust.Place      // of the workspace; zero before one was found
}

// Options are the settings of a backend.
type Options struct {
	Version string // of this program
	Store   string // --store, or WAYBILL_STORE
	Name    string // --workspace-name
	Shared  bool   // --shared-disk
	Follow  bool   // whether plans are watched
	Poll    bool   // whether they are watched without the help of the system
	// RetryDelay is the first wait before a task is tried again on the same model.
	RetryDelay time.Duration
	Keeps      engine.Retention
	Tidies     bool   // removes finished records, as a long-lived process does
	Brief      bool   // the process makes one change and ends
	OutputDir  string // --output-dir
	Dialects   settings.Dialects
	// KeepDialects stores the rules for the workspace, instead of using them in this process alone.
	KeepDialects bool
	Logger       *slog.Logger
	// Beside, if not nil, runs beside the engine until the backend stops.
	Beside Beside
}

// A Beside runs beside the engine of a workspace, whose store is at a path or has files there, until ctx ends.
type Beside func(ctx context.Context, ws workspace.Workspace, store string, e *engine.Engine)

func New(o Options) *Backend {
	return &Backend{Options: o, watching: NewGroup(), running: NewGroup()}
}

// Stop ends everything that start began, after the submitted changes are committed.
func (b *Backend) Stop() {
	b.watching.Stop()
	b.running.Stop()
}

// Abandon stops the backend, and returns after the period at the latest. The end of the process ends the rest.
func (b *Backend) Abandon(period time.Duration) {
	stopped := make(chan struct{})
	go func() { // ends with stop, or with the process
		defer close(stopped)
		b.Stop()
	}()
	select {
	case <-stopped:
	case <-time.After(period):
	}
}

// Start returns the running engine of a workspace and its plans. The store is opened when it is needed.
func (b *Backend) Start(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
	path, err := StorePath(b.Store, ws)
	if err != nil {
		return nil, nil, err
	}
	if err := b.makeFolder(); err != nil {
		return nil, nil, err
	}
	if b.Found != nil {
		b.Found(ws)
	}
	root, err := planfile.Open(ws.Root, planfile.Options{LockPath: path + PlansLock, Folders: true, Kept: func(path string) {
		b.Logger.Warn("a file has a text that was saved while waybill changed an item: compare it with the plan, then remove it", "path", path)
	}})
	if err != nil {
		return nil, nil, err
	}
	watch := b.newWatcher(ws.Root)
	add := b.add(watch, ws.Root)
	plans := engine.NewPlans(root, b.planOptions(path, ws, add))
	e, err := engine.New(engine.Options{
		Open: b.open(path, ws), Plans: plans, Logger: b.Logger, MaxPending: schema.MaxPending,
		Now: b.clock.Now, Backoff: b.RetryDelay, Retention: b.Keeps, Prunes: b.Tidies, Brief: b.Brief, Outputs: resultfile.Folders{Workspace: ws.Root, Other: b.OutputDir},
	})
	if err != nil {
		return nil, nil, err
	}
	b.mu.Lock()
	b.engine, b.checks = e, trust.Place{Root: ws.Root, StateDir: ws.StateDir}
	b.mu.Unlock()
	b.running.Run(func(ctx context.Context) {
		if err := e.Run(ctx); err != nil {
			b.Logger.Error("the engine ended badly", "err", err)
		}
		_ = root.Close() // each write through it was synced at once
	})
	if watch != nil {
		b.observe(e, watch, ws.Root)
	}
	if b.Beside != nil {
		b.watching.Run(func(ctx context.Context) { b.Beside(ctx, ws, path, e) })
	}
	return e, plans, nil
}

// open returns the function that opens the store at path.
func (b *Backend) open(path string, ws workspace.Workspace) func(context.Context) (store.Store, error) {
	try := b.opener(path, ws)
	return func(ctx context.Context) (store.Store, error) {
		st, err := try(ctx)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.used, b.unusable = b.used || err == nil, err
		return st, err
	}
}

func (b *Backend) opener(path string, ws workspace.Workspace) func(context.Context) (store.Store, error) {
	return func(ctx context.Context) (store.Store, error) {
		if b.Store == "" || postgres.Names(b.Store) {
			if err := ws.EnsureStateDir(); err != nil {
				return nil, StateFault(err)
			}
			b.remember(ws)
		}
		if postgres.Names(b.Store) {
			return postgres.Open(ctx, postgres.Options{
				URL: b.Store, Workspace: cmp.Or(b.Name, ws.ID), Version: b.Version, Logger: b.Logger, Clock: &b.clock,
			})
		}
		// A folder that --store names or that waybill creates is private. The folder of a named file may have other
		// files.
		return sqlite.Open(ctx, sqlite.Options{Path: path, Version: b.Version, Logger: b.Logger, PrivateDir: !strings.HasSuffix(b.Store, ".db"), AllowRemote: b.Shared, Brief: b.Brief})
	}
}

// Fate reports whether the store was opened, and otherwise why the last attempt failed; nil without an attempt.
func (b *Backend) Fate() (used bool, unusable error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.unusable
}

// StateFault distinguishes a state folder that must not be used from one that cannot be created now.
func StateFault(err error) error {
	if errors.Is(err, workspace.ErrUnsafeStateDir) {
		return &store.Error{Kind: store.Unsafe, Message: "the state folder cannot be used", Err: err}
	}
	return &store.Error{Kind: store.IO, Message: "the state folder cannot be made", Err: err}
}

// remember notes which folder the state belongs to, and says so if it is another than before.
func (b *Backend) remember(ws workspace.Workspace) {
	before, err := ws.Remember()
	switch {
	case err != nil:
		b.Logger.Warn("the identity of the workspace was not noted", "err", err)
	case before != nil:
		b.Logger.Warn("the workspace was replaced by another folder at the same path; its instructions and runs are kept",
			"path", ws.Root, "inode", ws.Ino, "inode_before", before.Ino)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.degraded = append(b.degraded, fmt.Sprintf("the workspace %s was replaced by another folder at the same path; "+
			"the instructions and runs of the earlier one are kept: if they are not meant for this one, give --store another place", ws.Root))
	}
}

// Troubles returns the faults that a person should know, one sentence each.
func (b *Backend) Troubles() []string {
	b.mu.Lock()
	said, rulesAt := slices.Clone(b.degraded), b.rulesAt
	b.mu.Unlock()
	if standing := b.checksNow(); standing.Why != "" {
		said = append(said, standing.Why+": "+standing.Mend)
	}
	if rulesAt == "" {
		return said
	}
	return append(said, b.Dialects.Troubles(rulesAt, b.KeepDialects)...)
}

// RequiredChecks returns the names of the checks for items that a person of this workspace trusts. It runs none of them.
func (b *Backend) RequiredChecks() []string { return b.checksNow().Required(config.PerItem) }

// checksNow returns how a person and the file with the checks stand.
func (b *Backend) checksNow() trust.Standing {
	b.mu.Lock()
	place := b.checks
	b.mu.Unlock()
	if place == (trust.Place{}) {
		return trust.Standing{State: trust.None}
	}
	return place.Look()
}

// makeFolder creates the folder that --store names, if it names one.
func (b *Backend) makeFolder() error {
	if b.Store == "" || strings.HasSuffix(b.Store, ".db") || postgres.Names(b.Store) {
		return nil
	}
	if err := os.MkdirAll(b.Store, 0o700); err != nil {
		return fmt.Errorf("--store %s: %w", b.Store, err)
	}
	return nil
}

// StorePath returns the file that --store means: a *.db file, or store.db in a folder. It creates nothing. For a
// database it returns the path to which suffixes for local files are added; that path reveals neither user nor
// password.
func StorePath(flag string, ws workspace.Workspace) (string, error) {
	switch {
	case postgres.Names(flag) && ws.StateDir == "":
		return "", output.UsageError(errors.New("there is no place for the files of this machine: set HOME or XDG_STATE_HOME"))
	case postgres.Names(flag):
		return filepath.Join(ws.StateDir, "postgres-"+postgres.Digest(flag)), nil
	case flag == "" && ws.StateDir == "":
		return "", output.UsageError(errors.New("there is no place for the store: set HOME or XDG_STATE_HOME, or give --store"))
	case flag == "":
		return filepath.Join(ws.StateDir, StoreName), nil
	case strings.HasSuffix(flag, ".db"):
		return filepath.Abs(flag)
	}
	return filepath.Abs(filepath.Join(flag, StoreName))
}

// Degrade adds a sentence to the faults in the status.
func (b *Backend) Degrade(said string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.degraded = append(b.degraded, said)
}
