// Package api implements each wire method as one small function that translates between wire values and core values.
// Front doors find the methods in a Table.
//
// The package holds no domain rules, knows no message framing and opens no files: Options provide the workspace and
// the engine.
package api

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"waybill/api/entity"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/schema/gen"
	"waybill/store"
)

// Options configures a Service. Start is required.
type Options struct {
	Version string
	// Sources locate the workspace; initialize adds the folder that the host names.
	Sources workspace.Sources
	// Start creates the engine of a workspace. It is called at the first use, and again after it failed.
	Start func(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error)
	// Watcher describes the watcher. It may wait until ctx ends.
	Watcher func(ctx context.Context) schema.WatcherStatus
	// Connection describes the connection to the host; nil without one.
	Connection func() *schema.ConnectionStatus
	// Degraded returns a sentence for each problem of the components that Start created.
	Degraded func() []string
	// RequireChecks returns the names of the checks that every new run requires, besides those of call and settings.
	RequireChecks func() []string
	// Host is called with the process id that the host sends.
	Host func(pid int64)
	// Settings are the defaults of calls; by default the built-in ones.
	Settings schema.Settings
	// Changed lists the settings that differ from the built-in ones, for get_status.
	Changed []schema.Setting
	// Now is the clock; by default time.Now.
	Now func() time.Time
}

// A Service answers the methods for one workspace. All methods may be called from any goroutine.
type Service struct {
	o       Options
	started time.Time
	ready   chan struct{} // closed once the engine exists
	prompts promptCache

	mu     sync.Mutex // guards the fields below
	folder string     // the folder of initialize
	ws     workspace.Workspace
	engine *engine.Engine // nil until its first use
	plans  *engine.Plans
}

// New returns a service. It opens nothing yet.
func New(o Options) (*Service, error) {
	if o.Start == nil {
		return nil, errors.New("api: Options.Start is missing")
	}
	var err error
	if o.Settings, err = completeSettings(o.Settings); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Host == nil {
		o.Host = func(int64) {}
	}
	if o.Watcher == nil {
		o.Watcher = func(context.Context) schema.WatcherStatus { return schema.WatcherStatus{Mode: "off"} }
	}
	if o.Connection == nil {
		o.Connection = func() *schema.ConnectionStatus { return nil }
	}
	if o.Degraded == nil {
		o.Degraded = func() []string { return nil }
	}
	if o.RequireChecks == nil {
		o.RequireChecks = func() []string { return nil }
	}
	return &Service{o: o, started: o.Now(), ready: make(chan struct{})}, nil
}

// Table returns every method with its handler.
func (s *Service) Table() *Table {
	entries := s.entries()
	for _, m := range schema.Methods {
		if m.Kind == schema.Connection {
			entries = append(entries, Entry{Method: m})
		}
	}
	return NewTable(entries)
}

// backend returns the engine and the plans of the workspace. It creates them if necessary.
func (s *Service) backend() (*engine.Engine, *engine.Plans, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine != nil {
		return s.engine, s.plans, nil
	}
	ws, err := s.resolve()
	if err != nil {
		return nil, nil, err
	}
	s.engine, s.plans, err = s.o.Start(ws)
	if err != nil {
		return nil, nil, err
	}
	s.ws = ws
	close(s.ready)
	return s.engine, s.plans, nil
}

// resolve finds the workspace. The caller holds mu.
func (s *Service) resolve() (workspace.Workspace, error) {
	if s.engine != nil {
		return s.ws, nil
	}
	sources := s.o.Sources
	if sources.InitFolder == "" {
		sources.InitFolder = s.folder
	}
	return workspace.Resolve(sources)
}

func (s *Service) initialize(ctx context.Context, p *schema.InitializeParams) (*schema.InitializeResult, error) {
	if p.ProtocolVersion != nil && *p.ProtocolVersion < schema.ProtocolVersion {
		return nil, schema.NewError(schema.BadVersion, "protocol_version must be 1 or newer").
			With("min", schema.ProtocolVersion).With("max", schema.ProtocolVersion)
	}
	if p.ProcessID != nil {
		s.o.Host(*p.ProcessID)
	}
	cursor := s.cursor(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(p.WorkspaceFolders) > 0:
		s.folder = p.WorkspaceFolders[0].URI
	case p.RootURI != "":
		s.folder = p.RootURI
	}
	result := &schema.InitializeResult{
		ProtocolVersion: schema.ProtocolVersion,
		ServerInfo:      schema.ServerInfo{Name: "waybill", Version: s.o.Version, PID: os.Getpid()},
		Capabilities:    capabilities(),
		Limits: schema.Limits{
			MaxMessageBytes: schema.MaxMessageBytes, MaxContentBytes: schema.MaxContentBytes, MaxPending: schema.MaxPending,
		},
		Cursor: cursor,
	}
	if ws, err := s.resolve(); err == nil {
		found := entity.Workspace(ws)
		result.Workspace = &found
	}
	return result, nil
}

// cursor returns a cursor for the current end of the log. If the store is not open, it contains the time instead, so
// that initialize does not wait for the disk.
func (s *Service) cursor(ctx context.Context) string {
	moment := cursorAt(s.o.Now())
	s.mu.Lock()
	e := s.engine
	s.mu.Unlock()
	if e == nil {
		return moment
	}
	select {
	case <-e.Opened():
	default:
		return moment
	}
	var tip store.Point
	if err := e.View(ctx, func(tx store.Tx) (err error) {
		tip, err = tx.Tip()
		return err
	}); err != nil {
		return moment
	}
	return cursorOf(tip)
}

func capabilities() schema.Capabilities {
	var c schema.Capabilities
	for _, m := range schema.Methods {
		c.Methods = append(c.Methods, m.Name)
	}
	for _, n := range schema.Notifications {
		c.Notifications = append(c.Notifications, n.Name)
	}
	return c
}

func (s *Service) ping(context.Context, *schema.None) (*schema.PingResult, error) {
	return &schema.PingResult{Pong: true}, nil
}

func (s *Service) rpcDiscover(context.Context, *schema.None) (*schema.OpenRPC, error) {
	return &schema.OpenRPC{Value: gen.OpenRPC(s.o.Version)}, nil
}

// Subscribe returns a channel of size one that receives a value after every commit of any process. stop ends the
// subscription.
func (s *Service) Subscribe() (wake <-chan struct{}, stop func(), err error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, nil, err
	}
	wake, stop = e.Subscribe()
	return wake, stop, nil
}
