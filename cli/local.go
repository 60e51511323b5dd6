package cli

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"waybill/api"
	"waybill/schema"
)

// A local is a service in this process, for commands that look at the store without a server. The
// store may be in use by servers at the same time.
type local struct {
	*api.Service
	table   *api.Table
	backend *backend
}

// local opens the service of the workspace.
func (a *app) local() (*local, error) { return a.opened(false) }

// opened opens it, with a watcher of the plans if it is to live on and follow them.
func (a *app) opened(follow bool) (*local, error) {
	if a.settings.Tasks == nil { // nobody looked for settings, as when the shell completes a word
		if err := a.settings.complete(); err != nil {
			return nil, err
		}
	}
	b := newBackend(a.version, a.store, follow, a.logger(a.Err))
	b.name, b.shared, b.poll = a.name, a.shared, *a.settings.Plans.Poll
	b.dialects = a.dialects
	b.retryDelay, b.keeps, b.outputDir = a.settings.retryDelay(), a.settings.keep(), a.settings.Results.OutputDir
	s, err := api.New(api.Options{
		Version: a.version, Sources: a.sources(), Start: b.start, Watcher: b.status, Degraded: b.troubles,
		Settings: a.settings.partial, Changed: a.settings.changed(),
	})
	if err != nil {
		return nil, err
	}
	return &local{Service: s, table: s.Table(), backend: b}, nil
}

func (l *local) close() { l.backend.stop() }

// call carries out a method and decodes its answer into result.
func (l *local) call(ctx context.Context, method string, params, result any) error {
	text, err := schema.Encode(params)
	if err != nil {
		return err
	}
	if text, err = l.answer(ctx, method, text); err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// answer carries out a method and gives its answer as JSON.
func (l *local) answer(ctx context.Context, method string, params []byte) ([]byte, error) {
	answer, err := l.carryOut(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return schema.Encode(answer.Result)
}

// unknownMethod says which methods there are that the name may mean, or where they are listed.
func unknownMethod(name string, known []string) *schema.Error {
	near := schema.Nearest(name, known)
	fault := schema.NewError(schema.MethodNotFound, "there is no method "+strconv.Quote(name)+" to call").With("did_you_mean", near)
	if len(near) == 0 {
		return fault.Hint("`waybill schema` prints the methods")
	}
	return fault.Hint("perhaps: " + strings.Join(near, ", "))
}

// carryOut carries out a method. The answer is a success.
func (l *local) carryOut(ctx context.Context, method string, params []byte) (api.Answer, error) {
	entry, ok := l.table.Entry(method)
	if !ok || entry.Start == nil {
		return api.Answer{}, unknownMethod(method, l.table.Names())
	}
	answers := make(chan api.Answer, 1)
	entry.Start(ctx, params, func(answer api.Answer) { answers <- answer })
	answer := <-answers
	switch {
	case answer.Cause != nil:
		return api.Answer{}, answer.Cause // nobody but the person at the terminal could look it up
	case answer.Err != nil:
		return api.Answer{}, answer.Err
	}
	return answer, nil
}
