// Package api binds each method of the wire to one small function, and translates between the words
// of the wire and the values of the core. Front doors find the methods in a Table.
//
// The package refuses to hold a rule of the domain, to know how a message is framed, and to open
// anything by itself: where the workspace is and how its engine comes to life is handed in.
package api

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store"
)

// Options configures a Service. Start is required.
type Options struct {
	Version string
	// Sources say where to look for the workspace; initialize adds the folder that the host names.
	Sources workspace.Sources
	// Start brings the engine of a workspace to life. It is called once it is needed, and again if
	// it failed.
	Start func(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error)
	// Watcher describes the watcher; it may wait for it, as long as ctx lets it.
	Watcher func(ctx context.Context) schema.WatcherStatus
	// Connection describes the connection to the host; without one there is none to describe.
	Connection func() *schema.ConnectionStatus
	// Degraded gives what is not as it should be with what Start brought to life, a sentence each.
	Degraded func() []string
	// Host is told the process id of the host when the host names it.
	Host func(pid int64)
	// Settings hold where a call says nothing; by default what is built in.
	Settings schema.Settings
	// Changed lists the settings of the process that are not as they are built in, for get_status.
	Changed []schema.Setting
	// Now is the clock; by default time.Now.
	Now func() time.Time
}

// A Service answers methods for one workspace. All methods may be called from any goroutine.
type Service struct {
	o       Options
	started time.Time
	ready   chan struct{} // closed when the engine is there
	prompts memo

	mu     sync.Mutex // guards what follows
	folder string     // that initialize named
	ws     workspace.Workspace
	engine *engine.Engine // nil until a method needed it
	plans  *engine.Plans
}

// New gives a service that has touched nothing yet.
func New(o Options) (*Service, error) {
	if o.Start == nil {
		return nil, errors.New("api: Options.Start is missing")
	}
	var err error
	if o.Settings, err = completed(o.Settings); err != nil {
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
	return &Service{o: o, started: o.Now(), ready: make(chan struct{})}, nil
}

// Table gives every method with its handler.
func (s *Service) Table() *Table {
	entries := s.entries()
	for _, m := range schema.Methods {
		if m.Kind == schema.Connection {
			entries = append(entries, Entry{Method: m})
		}
	}
	table := NewTable(entries)
	table.opening = s.opening
	return table
}

func (s *Service) opening() bool {
	s.mu.Lock()
	e := s.engine
	s.mu.Unlock()
	return e != nil && e.Opening()
}

// backend gives the engine and the plans of the workspace, and finds and starts them first if that
// was not done.
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

// resolve finds the workspace; the caller holds mu.
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
		found := wireWorkspace(ws)
		result.Workspace = &found
	}
	return result, nil
}

// cursor gives a cursor that points to now. While the store is not open it names a moment, because
// nobody should wait for a disk to say hello.
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
	return &schema.OpenRPC{Value: schema.OpenRPCDocument(s.o.Version)}, nil
}

// Subscribe gives a channel of size one that is signalled after every commit, of this process and of
// others. stop ends the subscription.
func (s *Service) Subscribe() (wake <-chan struct{}, stop func(), err error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, nil, err
	}
	wake, stop = e.Subscribe()
	return wake, stop, nil
}
