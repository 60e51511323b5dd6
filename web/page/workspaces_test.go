package page_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"waybill/api"
	"waybill/cli/inboxes"
	"waybill/cli/program"
	"waybill/core"
	"waybill/engine/inbox"
	"waybill/schema"
)

// A harness is the web.Workspaces of its page: its own workspace and the others that the test has made.

func (h *harness) place() inbox.Place {
	return inbox.Place{ID: filepath.Base(h.dir) + "-id", Root: h.dir}
}

func (h *harness) all() []*harness { return append([]*harness{h}, h.others...) }

func (h *harness) Inbox(ctx context.Context) (any, error) {
	var sources []inbox.Source
	for _, one := range h.all() {
		e := <-one.engine
		one.engine <- e
		one.mu.Lock()
		since, gone := one.looked, one.gone
		one.mu.Unlock()
		sources = append(sources, inbox.Source{Place: one.place(), View: e.View, Since: since, Gone: gone})
	}
	app := (&program.App{}).At("")
	for {
		all := inbox.Merge(inbox.Read(ctx, sources))
		silent := slices.ContainsFunc(all.Entries, func(e inbox.Entry) bool { return strings.HasPrefix(e.Text, inbox.ErrSilent.Error()) })
		if ctx.Err() != nil || !silent { // the disk of a busy machine seems to hang
			return inboxes.PageOf(app, all, h.today(), h.place().ID), ctx.Err()
		}
	}
}

func (h *harness) Looked(_ context.Context, at time.Time) error {
	for _, one := range h.all() {
		one.mu.Lock()
		one.looked = core.Instant(at.UnixMicro())
		one.mu.Unlock()
	}
	return nil
}

func (h *harness) Call(ctx context.Context, workspace, method string, params []byte) api.Answer {
	for _, one := range h.all() {
		if entry, ok := one.table.Entry(method); ok && one.place().ID == workspace {
			done := make(chan api.Answer, 1)
			entry.Start(ctx, params, func(a api.Answer) { done <- a })
			return <-done
		}
	}
	return api.Answer{Err: schema.NewError(schema.NoWorkspace, "there is no such workspace")}
}

func (h *harness) Watch() (<-chan struct{}, func()) {
	wake, left := make(chan struct{}, 1), make(chan struct{})
	var stops []func()
	for _, one := range h.others {
		e := <-one.engine
		one.engine <- e
		changed, stop := e.Subscribe()
		stops = append(stops, stop)
		go func() { // ends with the stream
			for {
				select {
				case <-changed:
				case <-left:
					return
				}
				select {
				case wake <- struct{}{}:
				default:
				}
			}
		}()
	}
	return wake, func() {
		close(left)
		for _, stop := range stops {
			stop()
		}
	}
}
