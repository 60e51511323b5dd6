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

// settleTime is how long changes are gathered before a host is told of them: it reads the resource anew each time.
const settleTime = 250 * time.Millisecond

// maxWatched bounds the runs that are watched at a time: they are all told of when a plan changes.
const maxWatched = 1024

// updates turns waybill's notifications into those of resources.
type updates struct {
	tell func(ctx context.Context, uri string)
	some chan struct{} // of size 1: there is something to tell

	mu      sync.Mutex // guards what follows
	changed map[string]bool
	watched map[string]map[*sdk.ServerSession]bool // the runs that somebody watches, and who does
}

func newUpdates(tell func(ctx context.Context, uri string)) *updates {
	return &updates{
		tell: tell, some: make(chan struct{}, 1),
		changed: map[string]bool{}, watched: map[string]map[*sdk.ServerSession]bool{},
	}
}

// note takes a notification. It waits for nobody.
func (u *updates) note(method string, params any) {
	switch p := params.(type) {
	case *schema.TaskNote:
		u.mark(tasksURI, awaitingURI)
	case *schema.RunNote:
		u.mark(progressURI, runsURI+p.RunID)
	case *schema.LedgerNote:
		u.mark(append(u.runs(), progressURI)...) // which runs are of the plan is not said
	case *schema.LogNote:
		if p.Rewound {
			u.mark(append(u.runs(), tasksURI, awaitingURI, progressURI)...)
		}
	}
}

// mark notes that resources have changed.
func (u *updates) mark(uris ...string) {
	u.mu.Lock()
	for _, uri := range uris {
		u.changed[uri] = true
	}
	u.mu.Unlock()
	select {
	case u.some <- struct{}{}:
	default:
	}
}

// runs gives the addresses of the runs that somebody watches.
func (u *updates) runs() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.watched))
}

// run tells of changes until ctx ends.
func (u *updates) run(ctx context.Context) {
	settle := time.NewTimer(settleTime)
	defer settle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.some:
		}
		settle.Reset(settleTime)
		select {
		case <-ctx.Done():
			return
		case <-settle.C:
		}
		for _, uri := range u.taken() {
			u.tell(ctx, uri)
		}
	}
}

// taken gives what has changed since the last time.
func (u *updates) taken() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	uris := slices.Sorted(maps.Keys(u.changed))
	clear(u.changed)
	return uris
}

// subscribe begins to watch a resource, if there can be one with this address.
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

// unsubscribe ends what the session watches at this address, and nothing of others.
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

// watch notes that a session watches a run, if not too many are watched. As for the SDK, twice is once.
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

// watchable reports whether an address is one of ours.
func watchable(uri string) bool {
	id, ofRun := strings.CutPrefix(uri, runsURI)
	return ofRun && schema.IsID(id) || slices.ContainsFunc(resources, func(r resource) bool { return r.uri == uri })
}
