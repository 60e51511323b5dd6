package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/schema"
)

// settleTime is how long changes are collected before a notification, because the host reads the resource after each.
const settleTime = 250 * time.Millisecond

// maxWatched limits the watched runs, because a changed plan causes a notification for each.
const maxWatched = 1024

// updates turns waybill's notifications into notifications of changed resources.
type updates struct {
	notify  func(ctx context.Context, uri string)
	wakeups chan struct{} // of size 1: a resource has changed

	mu      sync.Mutex // guards the fields below
	changed map[string]bool
	watched map[string]map[*sdk.ServerSession]bool // the subscribers of each watched run
}

func newUpdates(notify func(ctx context.Context, uri string)) *updates {
	return &updates{
		notify: notify, wakeups: make(chan struct{}, 1),
		changed: map[string]bool{}, watched: map[string]map[*sdk.ServerSession]bool{},
	}
}

// record records the resources that a notification changes. It does not block.
func (u *updates) record(method string, params any) {
	switch p := params.(type) {
	case *schema.TaskNote:
		u.mark(tasksURI, awaitingURI)
	case *schema.RunNote:
		u.mark(progressURI, runsURI+p.RunID)
	case *schema.LedgerNote:
		u.mark(append(u.runs(), progressURI)...) // the notification does not name the runs of the plan
	case *schema.LogNote:
		if p.Rewound {
			u.mark(append(u.runs(), tasksURI, awaitingURI, progressURI)...)
		}
	}
}

// mark marks resources as changed.
func (u *updates) mark(uris ...string) {
	u.mu.Lock()
	for _, uri := range uris {
		u.changed[uri] = true
	}
	u.mu.Unlock()
	select {
	case u.wakeups <- struct{}{}:
	default:
	}
}

// runs returns the addresses of the watched runs.
func (u *updates) runs() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.watched))
}

// run sends notifications of changes until ctx ends.
func (u *updates) run(ctx context.Context) {
	settle := time.NewTimer(settleTime)
	defer settle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.wakeups:
		}
		settle.Reset(settleTime)
		select {
		case <-ctx.Done():
			return
		case <-settle.C:
		}
		for _, uri := range u.takeChanged() {
			u.notify(ctx, uri)
		}
	}
}

// takeChanged returns the resources that have changed since the last call.
func (u *updates) takeChanged() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	uris := slices.Sorted(maps.Keys(u.changed))
	clear(u.changed)
	return uris
}

// subscribe starts to watch a resource. It returns an error for an address that cannot exist.
func (u *updates) subscribe(_ context.Context, req *sdk.SubscribeRequest) error {
	uri := req.Params.URI
	if !watchable(uri) {
		return notFound(uri)
	}
	if strings.HasPrefix(uri, runsURI) && !u.watch(uri, req.Session) {
		return wireError(tooManyRuns())
	}
	return nil
}

// unsubscribe ends the session's own subscription to this address.
func (u *updates) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	uri := req.Params.URI
	delete(u.watched[uri], req.Session)
	if len(u.watched[uri]) == 0 {
		delete(u.watched, uri)
	}
	return nil
}

// watch records that a session watches a run. It reports false if too many runs are watched. Watching twice counts
// once.
func (u *updates) watch(uri string, session *sdk.ServerSession) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.watched[uri] == nil {
		if len(u.watched) >= maxWatched {
			return false
		}
		u.watched[uri] = map[*sdk.ServerSession]bool{}
	}
	u.watched[uri][session] = true
	return true
}

func tooManyRuns() *schema.Error {
	return schema.NewError(schema.Overloaded, fmt.Sprintf("%d runs are watched already", maxWatched)).
		With("limit", maxWatched).
		Hint("end the subscriptions to runs that are over; " + progressURI + " tells of all plans at once")
}

// watchable reports whether an address can be that of a resource.
func watchable(uri string) bool {
	id, ofRun := strings.CutPrefix(uri, runsURI)
	return ofRun && schema.IsID(id) || slices.ContainsFunc(resources, func(r resource) bool { return r.uri == uri })
}
