package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/schema/codec"
)

// A Store is the workspace of an agent and its store, which is opened when something needs it. Several goroutines may use it.
type Store struct {
	App    *program.App // of this store alone
	Folder string       // the workspace that the host names; "" if it names none
	Brief  bool         // the process makes one change and ends

	mu    sync.Mutex // guards the fields below
	ws    workspace.Workspace
	local *program.Local // nil until something needs the store
}

// ErrNoWorkspace says that the host runs in no workspace.
var ErrNoWorkspace = errors.New("there is no workspace: no folder from here upwards has a tasks.md or .git, and --workspace names none; waybill where says more")

// Exists reports whether the store exists.
func (s *Store) Exists() bool {
	some, err := s.open(false)
	return some && err == nil
}

// Root returns the folder of the workspace.
func (s *Store) Root() (string, error) {
	ws, err := s.place()
	return ws.Root, err
}

// place finds the workspace.
func (s *Store) place() (workspace.Workspace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find()
}

// find is place, for a caller that holds mu.
func (s *Store) find() (workspace.Workspace, error) {
	if s.ws.Root != "" {
		return s.ws, nil
	}
	if s.App.Workspace == "" && s.App.Env("WAYBILL_WORKSPACE") == "" {
		s.App.Workspace = s.Folder // of a host that runs its hooks elsewhere
	}
	ws, err := workspace.Resolve(s.App.Sources())
	if err != nil {
		return ws, ErrNoWorkspace
	}
	s.ws, s.App.Known = ws, ws
	return ws, nil
}

// open opens the store. Without create, it reports whether there is one.
func (s *Store) open(create bool) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local != nil {
		return true, nil
	}
	if _, err := s.find(); err != nil {
		return false, err
	}
	if !create && !s.App.StoreExists() {
		return false, nil
	}
	quiet := *s.App
	quiet.Brief = s.Brief
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return false, err
	}
	quiet.Err = null // warnings of the engine are notices, too, and a hook says one line at most
	s.local, err = quiet.Local()
	return err == nil, err
}

// Close closes the store, so that all of it is written, and returns after the period at the latest.
func (s *Store) Close(period time.Duration) {
	s.mu.Lock()
	local := s.local
	s.mu.Unlock()
	if local != nil {
		local.Backend.Abandon(period)
	}
}

// call carries out a method of the open store. undo, if not nil, takes back what the answer hands out.
func (s *Store) call(ctx context.Context, method string, params, result any) (undo func(), err error) {
	text, err := codec.Encode(params)
	if err != nil { // a message of the system may have bytes that are no text, which this replaces
		text, err = json.Marshal(params)
	}
	if err != nil {
		return nil, err
	}
	answer, err := s.local.CarryOut(ctx, method, text)
	for busy(err) && ctx.Err() == nil { // the store has waited for its lock already, and applied nothing
		answer, err = s.local.CarryOut(ctx, method, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	if result == nil {
		return answer.Undelivered, nil
	}
	encoded, err := json.Marshal(answer.Result)
	if err == nil {
		err = json.Unmarshal(encoded, result)
	}
	return answer.Undelivered, err
}

// busy reports whether a call was refused only because other processes held the store for too long.
func busy(err error) bool {
	fault, ok := errors.AsType[*schema.Error](err)
	return ok && fault.Data.Code == schema.StoreBusy
}

// folder returns the folder of the marks, or "" if there is no state folder.
func (s *Store) folder() string {
	ws, err := s.place()
	if err != nil || ws.StateDir == "" {
		return ""
	}
	return filepath.Join(ws.StateDir, "hooks")
}

// makeFolder makes the folder of the marks.
func (s *Store) makeFolder() error {
	ws, err := s.place()
	if err != nil {
		return err
	}
	if err := ws.EnsureStateDir(); err != nil {
		return err
	}
	return os.MkdirAll(s.folder(), 0o700)
}
