package program

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"

	"waybill/api"
	"waybill/cli/backend"
	"waybill/internal/nearest"
	"waybill/schema"
	"waybill/schema/codec"
)

// A Local is a service in this process, for commands that look at the store without a server. The
// store may be in use by servers at the same time.
type Local struct {
	*api.Service
	Table   *api.Table
	Backend *backend.Backend
	say     func(line string)
}

// Local opens the service of the workspace.
func (a *App) Local() (*Local, error) { return open(a, false, nil) }

// Open opens the service, watches the plans, and runs what is beside the engine, if that is not nil.
func (a *App) Open(beside backend.Beside) (*Local, error) { return open(a, true, beside) }

func open(a *App, follow bool, beside backend.Beside) (*Local, error) {
	if a.Settings.Tasks == nil { // they were not read, as when the shell completes a word, or are those of At
		if err := a.Settings.Complete(); err != nil {
			return nil, err
		}
		var err error
		if a.Dialects, err = a.Settings.Dialects(a.Dialects); err != nil {
			return nil, err
		}
	}
	o := a.BackendOptions(follow, a.Logger(a.Err))
	o.Beside = beside
	b := backend.New(o)
	s, err := api.New(api.Options{
		Version: a.Version, Sources: a.Sources(), Start: b.Start, Watcher: b.Status, Degraded: b.Troubles, RequireChecks: b.RequiredChecks,
		Settings: a.Settings.Partial, Changed: a.Settings.Changed(),
	})
	if err != nil {
		return nil, err
	}
	return &Local{Service: s, Table: s.Table(), Backend: b, say: a.Say}, nil
}

func (l *Local) Close() { l.Backend.Stop() }

// Call carries out a method and decodes its answer into result.
func (l *Local) Call(ctx context.Context, method string, params, result any) error {
	text, err := codec.Encode(params)
	if err != nil {
		return err
	}
	if text, err = l.answer(ctx, method, text); err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// answer carries out a method and returns its answer as JSON.
func (l *Local) answer(ctx context.Context, method string, params []byte) ([]byte, error) {
	answer, err := l.CarryOut(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return codec.Encode(answer.Result)
}

// unknownMethod says which methods there are that the name may mean, or where they are listed.
func unknownMethod(name string, known []string) *schema.Error {
	near := nearest.Names(name, known)
	fault := schema.NewError(schema.MethodNotFound, "there is no method "+strconv.Quote(name)+" to call").With("did_you_mean", near)
	if len(near) == 0 {
		return fault.Hint("`waybill schema` prints the methods")
	}
	return fault.Hint("perhaps: " + strings.Join(near, ", "))
}

// CarryOut carries out a method. The answer is a success.
func (l *Local) CarryOut(ctx context.Context, method string, params []byte) (api.Answer, error) {
	entry, ok := l.Table.Entry(method)
	if !ok || entry.Start == nil {
		return api.Answer{}, unknownMethod(method, l.Table.Names())
	}
	answers := make(chan api.Answer, 1)
	entry.Start(ctx, params, func(answer api.Answer) { answers <- answer })
	answer := <-answers
	switch {
	case answer.Cause != nil:
		return api.Answer{}, answer.Cause // only the person at the terminal could look it up
	case answer.Err != nil:
		return api.Answer{}, answer.Err
	}
	return answer, nil
}

// With runs fn on the service of the workspace, which lives as long as fn. It is for commands about existing state. A
// named store that does not exist is a mistake in its name, so the command does not create it.
func (a *App) With(fn func(*Local) error) error {
	if a.Store != "" {
		if _, err := a.ExistingStore(nil); err != nil {
			return err
		}
	}
	l, err := a.Local()
	if err != nil {
		return err
	}
	defer l.Close()
	return fn(l)
}

// StoreExists reports whether the store exists. Shell completion checks this, because it must not create a store.
func (a *App) StoreExists() bool {
	_, err := a.ExistingStore(nil)
	return err == nil
}

// BackendOptions returns the options of a backend from the flags and the settings.
func (a *App) BackendOptions(follow bool, logger *slog.Logger) backend.Options {
	return backend.Options{
		Version: a.Version, Store: a.Store, Name: a.name, Shared: a.shared,
		Follow: follow, Brief: a.Brief, Poll: *a.Settings.Plans.Poll, Tidies: follow,
		RetryDelay: a.Settings.RetryDelay(), Keeps: a.Settings.Keep(), OutputDir: a.Settings.Results.OutputDir,
		Dialects: a.Dialects, Logger: logger,
	}
}
