package mcp

import (
	"context"
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

// updates turns waybill's notifications into those of resources.
type updates struct {
	tell func(ctx context.Context, uri string)
	some chan struct{} // of size 1: there is something to tell

	mu      sync.Mutex // guards what follows
	changed map[string]bool
	watched map[string]int // the runs that somebody watches, and how many do
}

func newUpdates(tell func(ctx context.Context, uri string)) *updates {
	return &updates{tell: tell, some: make(chan struct{}, 1), changed: map[string]bool{}, watched: map[string]int{}}
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
	if !watchable(req.Params.URI) {
		return notFound(req.Params.URI)
	}
	u.watch(req.Params.URI, 1)
	return nil
}

func (u *updates) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	u.watch(req.Params.URI, -1)
	return nil
}

// watch counts who watches a run.
func (u *updates) watch(uri string, by int) {
	if !strings.HasPrefix(uri, runsURI) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.watched[uri] += by; u.watched[uri] <= 0 {
		delete(u.watched, uri)
	}
}

// watchable reports whether an address is one of ours.
func watchable(uri string) bool {
	id, ofRun := strings.CutPrefix(uri, runsURI)
	return ofRun && id != "" && strings.Map(plain, id) == id ||
		slices.ContainsFunc(resources, func(r resource) bool { return r.uri == uri })
}
