package inboxes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"waybill/api"
	"waybill/cli/backend"
	"waybill/cli/program"
	"waybill/engine/inbox"
	"waybill/engine/workspace"
	"waybill/internal/safetext"
	"waybill/schema"
)

const (
	// quickPatience is how long a page waits for the folder of a workspace. A slow one is shown as soon as it answers.
	quickPatience = 500 * time.Millisecond
	// idleTime is how long an unused store of another workspace stays open.
	idleTime = 30 * time.Second
	// maxOpen is how many stores of other workspaces stay open. Beyond it, each closes after its last call.
	maxOpen = 4
	// maxCalls bounds the calls at a time in one workspace, because a disk that hangs holds each of them.
	maxCalls = 16
	// maxText bounds a text in the list, but not that of a report. The page reads the whole question or reason where it shows that.
	maxText = 1000
	// closeTime is how long Close waits for a store.
	closeTime = 300 * time.Millisecond
)

// A Server shows the inbox of all workspaces on a page, and carries out the methods that a person calls in them.
type Server struct {
	app  *program.App
	here bool          // only the workspace of Found
	turn chan struct{} // has a value while the reader is used

	// These are guarded by turn.
	reader  *Reader
	served  time.Time            // read_at of the last inbox
	shown   map[string]time.Time // read_at of the first inbox since which all have shown this workspace, by its id
	version string               // of the last inbox

	mu    sync.Mutex // guards what follows
	own   workspace.Workspace
	open  map[string]*opened
	wakes map[chan struct{}]bool
	stop  context.CancelFunc // of the looks at the files; nil without wakes
}

// An opened is another workspace with its store. The mutex of the Server guards its fields.
type opened struct {
	app     *program.App
	table   *api.Table
	backend *backend.Backend
	calls   int
	since   time.Time   // of the end of the last call
	idle    *time.Timer // closes it
}

// NewServer returns a Server that has read nothing yet. With here, or with --store, it knows one workspace.
func NewServer(a *program.App, here bool) *Server {
	return &Server{
		app: a, here: here || a.Store != "", turn: make(chan struct{}, 1),
		open: map[string]*opened{}, wakes: map[chan struct{}]bool{},
	}
}

// Found names the workspace that the page belongs to.
func (s *Server) Found(ws workspace.Workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own = ws
}

// load reads what has changed. The caller has the turn.
func (s *Server) load(ctx context.Context) error {
	s.mu.Lock()
	own := s.own.ID
	s.mu.Unlock()
	if s.reader == nil || s.here && s.reader.here.ID != own { // a host may name another workspace
		s.reader, s.shown = nil, map[string]time.Time{}
		r, err := New(s.app, Options{})
		if s.here {
			r, err = s.newReaderHere()
		}
		if err != nil {
			return err
		}
		r.follows, r.patience = true, quickPatience
		s.reader = r
	}
	s.reader.own = own
	return s.reader.Load(ctx)
}

func (s *Server) newReaderHere() (*Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own.Root == "" {
		return nil, schema.NewError(schema.NoWorkspace, "the host has not named the workspace yet")
	}
	return &Reader{
		App: s.app, base: s.app.Sources().StateBase, asked: map[string]chan string{},
		here: &workspace.Known{ID: s.own.ID, Root: s.own.Root, StateDir: s.own.StateDir},
	}, nil
}

// A document is an inbox on the page.
type document struct {
	Document
	ReadAt schema.Time `json:"read_at"`
	Here   string      `json:"here"` // the id of the workspace that the page belongs to
}

// Inbox implements web.Workspaces.
func (s *Server) Inbox(ctx context.Context) (any, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.turn }()
	now := time.Now().Truncate(time.Microsecond) // like read_at
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	s.serve(now)
	s.mu.Lock()
	here := s.own.ID
	s.mu.Unlock()
	return PageOf(s.app, s.reader.inbox, now, here), nil
}

// PageOf returns an inbox for the page, with long texts cut.
func PageOf(a *program.App, all inbox.Inbox, now time.Time, here string) any {
	doc := DocumentOf(a, all, now)
	for i, e := range doc.Entries {
		if e.Kind != string(inbox.Reported) {
			doc.Entries[i].Text = safetext.Truncate(e.Text, maxText)
		}
	}
	return document{doc, schema.TimeOf(now), here}
}

// serve notes which workspaces the inbox of this moment shows. Those that cannot be read are not shown. The caller has
// the turn.
func (s *Server) serve(now time.Time) {
	shown := map[string]time.Time{}
	for id := range s.reader.Readings() {
		if shown[id] = now; !s.shown[id].IsZero() {
			shown[id] = s.shown[id]
		}
	}
	s.served, s.shown, s.version = now, shown, s.reader.version
}

// Looked implements web.Workspaces. It counts for the workspaces that the inbox showed which the person saw.
func (s *Server) Looked(ctx context.Context, readAt time.Time) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	if readAt.After(s.served) {
		return schema.NewError(schema.InvalidParams, "read_at is later than every inbox that was read").Hint("take it from the answer of GET /api/inbox")
	}
	readings := map[string]time.Time{}
	for id, since := range s.shown {
		if !since.After(readAt) {
			readings[id] = readAt
		}
	}
	if len(readings) == 0 {
		return nil
	}
	return s.reader.Looked(readings)
}

// Watch implements web.Workspaces.
func (s *Server) Watch() (wake <-chan struct{}, stop func()) {
	mine := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakes[mine] = true
	if s.stop == nil {
		var ctx context.Context
		ctx, s.stop = context.WithCancel(context.Background())
		go s.look(ctx) // ends with the last stop
	}
	return mine, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.wakes, mine)
		if len(s.wakes) == 0 && s.stop != nil {
			s.stop()
			s.stop = nil
		}
	}
}

// look looks at the files of the stores, and wakes the watchers after each change since the inbox that was served before
// the first look.
func (s *Server) look(ctx context.Context) {
	ticker := time.NewTicker(LookEvery)
	defer ticker.Stop()
	var version string
	for {
		now, served, err := s.versions(ctx)
		if ctx.Err() != nil {
			return
		}
		if version == "" {
			version = served
		}
		if err != nil {
			now = err.Error()
		} else if version != "" && now != version {
			s.wake()
		}
		version = now
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// versions returns the version of what can be read now, and that of the last inbox that was served.
func (s *Server) versions(ctx context.Context) (now, served string, err error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return "", "", ctx.Err()
	}
	defer func() { <-s.turn }()
	if err := s.load(ctx); err != nil {
		return "", "", err
	}
	return s.reader.version, s.version, nil
}

func (s *Server) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for wake := range s.wakes {
		select {
		case wake <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// Call implements web.Workspaces.
func (s *Server) Call(ctx context.Context, id, method string, params []byte) api.Answer {
	o, err := s.enter(id)
	if err != nil {
		return api.Answer{Err: api.Fault(err)}
	}
	defer s.leave(id, o)
	// Another folder may have the place of this one since.
	if ws, err := workspace.Resolve(o.app.Sources()); err != nil || ws.ID != id {
		return api.Answer{Err: schema.NewError(schema.NoWorkspace, "the folder of the workspace cannot be used: it was moved, deleted or replaced, or its disk is away")}
	}
	entry, ok := o.table.Entry(method)
	if !ok {
		return api.Answer{Err: schema.NewError(schema.MethodNotFound, "there is no method "+method)}
	}
	answers := make(chan api.Answer, 1)
	entry.Start(ctx, params, func(a api.Answer) { answers <- a })
	return <-answers
}

// enter begins a call in a workspace, which leave ends.
func (s *Server) enter(id string) (*opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] == nil {
		s.mu.Unlock() // the disk of the state folders may be slow
		o, err := s.openNow(id)
		s.mu.Lock()
		switch {
		case err != nil:
			return nil, err
		case s.open[id] == nil:
			s.open[id] = o
			o.idle = time.AfterFunc(idleTime, func() { s.closeIdle(id, o) })
		default: // another call was faster; this one has opened no store yet
			o.backend.Stop()
		}
	}
	o := s.open[id]
	if o.calls == maxCalls {
		return nil, schema.NewError(schema.Overloaded, fmt.Sprintf("%d calls in this workspace are under way", maxCalls))
	}
	o.calls++
	o.idle.Stop()
	return o, nil
}

// openNow opens a workspace of this user. The first call opens its store.
func (s *Server) openNow(id string) (*opened, error) {
	unknown := schema.NewError(schema.NoWorkspace, "this page knows no workspace "+safetext.Quote(id, 80)).Hint("GET /api/inbox names them")
	base := s.app.Sources().StateBase
	if s.here || base == "" {
		return nil, unknown
	}
	known, err := workspace.Every(base)
	if err != nil {
		return nil, err
	}
	for _, k := range known {
		if k.ID != id || k.Root == "" {
			continue
		}
		app := s.app.At(k.Root)
		local, err := app.Local()
		if err != nil {
			return nil, err
		}
		return &opened{app: app, table: local.Table, backend: local.Backend}, nil
	}
	return nil, unknown
}

// leave ends a call. With too many open stores, the one that was unused for longest is closed.
func (s *Server) leave(id string, o *opened) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.calls--
	if o.calls > 0 || s.open[id] != o {
		return
	}
	o.since = time.Now()
	o.idle.Reset(idleTime)
	if len(s.open) <= maxOpen {
		return
	}
	oldest := o
	for _, other := range s.open {
		if other.calls == 0 && other.since.Before(oldest.since) {
			oldest = other
		}
	}
	oldest.idle.Reset(0)
}

// closeIdle closes a workspace without calls.
func (s *Server) closeIdle(id string, o *opened) {
	s.mu.Lock()
	unused := o.calls == 0 && s.open[id] == o
	if unused {
		delete(s.open, id)
	}
	s.mu.Unlock()
	if unused {
		o.backend.Stop()
	}
}

// Close closes the stores of other workspaces. A disk that hangs does not hold it.
func (s *Server) Close() {
	s.mu.Lock()
	open := s.open
	s.open = map[string]*opened{}
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, o := range open {
		o.idle.Stop()
		closing.Go(func() { o.backend.Abandon(closeTime) })
	}
	closing.Wait()
}
