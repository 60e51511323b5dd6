package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/mcp/message"
	"waybill/schema"
	"waybill/wire/conn"
)

// settleTime is how long changes are collected before a notification, because the host reads the resource after each.
const settleTime = 250 * time.Millisecond

// maxWatched limits the watched runs, because a changed plan causes a notification for each.
const maxWatched = 1024

// updates turns waybill's notifications into notifications of changed resources.
type updates struct {
	notify  func(uri string)
	wakeups chan struct{} // of size 1: a resource has changed

	mu      sync.Mutex // guards the fields below
	changed map[string]bool
	watched map[string]map[string]bool // the subscribers of each watched resource, true once they are acknowledged
}

func newUpdates(notify func(uri string)) *updates {
	return &updates{
		notify: notify, wakeups: make(chan struct{}, 1),
		changed: map[string]bool{}, watched: map[string]map[string]bool{},
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
	defer u.mu.Unlock()
	u.markLocked(uris...)
}

// markLocked is mark for a caller that holds mu.
func (u *updates) markLocked(uris ...string) {
	for _, uri := range uris {
		u.changed[uri] = true
	}
	select {
	case u.wakeups <- struct{}{}:
	default:
	}
}

// runs returns the addresses of the watched runs.
func (u *updates) runs() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.watchedRuns()
}

// watchedRuns is runs for a caller that holds mu.
func (u *updates) watchedRuns() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(u.watched)), func(uri string) bool { return !strings.HasPrefix(uri, runsURI) })
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
			u.notify(uri)
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

// legacySubscriber is the subscriber of all subscriptions of the legacy era. The others are named by their requests.
const legacySubscriber = ""

// watch records that a subscriber watches a resource. Watching twice counts once. It returns an error if too many runs
// are watched.
func (u *updates) watch(uri, subscriber string) *schema.Error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.watched[uri] == nil {
		if strings.HasPrefix(uri, runsURI) && len(u.watchedRuns()) >= maxWatched {
			return tooManyRuns()
		}
		u.watched[uri] = map[string]bool{}
	}
	u.watched[uri][subscriber] = u.watched[uri][subscriber] || subscriber == legacySubscriber // which has no acknowledgement
	return nil
}

// acknowledge records that a subscriber has got the acknowledgement, which comes before its first notification.
func (u *updates) acknowledge(subscriber string, uris []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, uri := range uris {
		u.watched[uri][subscriber] = true
	}
}

// unwatch ends the subscriber's own subscription to a resource.
func (u *updates) unwatch(uri, subscriber string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.watched[uri], subscriber)
	if len(u.watched[uri]) == 0 {
		delete(u.watched, uri)
	}
}

// subscribers returns the acknowledged subscribers of a resource. While there are others, the resource stays changed.
func (u *updates) subscribers(uri string) (acknowledged []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for subscriber, ready := range u.watched[uri] {
		if ready {
			acknowledged = append(acknowledged, subscriber)
		} else {
			u.markLocked(uri)
		}
	}
	slices.Sort(acknowledged)
	return acknowledged
}

// notifyUpdated notifies the subscribers of a resource.
func (s *server) notifyUpdated(uri string) {
	for _, subscriber := range s.updates.subscribers(uri) {
		update := message.ResourceUpdate{URI: uri}
		if subscriber != legacySubscriber {
			update.Meta.Subscription = jsontext.Value(subscriber)
		}
		s.host.Notify("notifications/resources/updated", update)
	}
}

// watch starts to watch a resource. It opens the store, so that a host whose first call this is gets notifications. If
// that fails, notifications start when a later call opens the store.
func (s *server) watch(ctx context.Context, r *request, uri, subscriber string) *conn.Fault {
	if !watchable(uri) {
		return notFound(uri, r.client)
	}
	if fault := s.updates.watch(uri, subscriber); fault != nil {
		return conn.FaultOf(fault)
	}
	if fault := s.tools.Caller.Call(ctx, "list_awaiting", map[string]any{"limit": 1}, nil); fault != nil {
		s.o.Logger.Debug("no notifications of changes until the store can be opened", "cause", fault)
	}
	return nil
}

func (s *server) subscribe(ctx context.Context, r *request) (any, *conn.Fault) {
	p, fault := params[message.ResourceParams](r)
	if fault == nil {
		fault = s.watch(ctx, r, p.URI, legacySubscriber)
	}
	return message.EmptyResult{}, fault
}

func (s *server) unsubscribe(_ context.Context, r *request) (any, *conn.Fault) {
	p, fault := params[message.ResourceParams](r)
	s.updates.unwatch(p.URI, legacySubscriber)
	return message.EmptyResult{}, fault
}

// listen is a subscription, which lasts until ctx ends. Without a resource it ends at once.
func (s *server) listen(ctx context.Context, r *request) (any, *conn.Fault) {
	p, fault := params[message.ListenParams](r)
	if fault == nil && p.Notifications == nil {
		fault = invalidParams("invalid params: missing required 'notifications' field")
	}
	if fault != nil {
		return nil, fault
	}
	subscriber := string(r.ID)
	for _, uri := range p.Notifications.Resources {
		if fault := s.watch(ctx, r, uri, subscriber); fault != nil {
			return nil, fault
		}
		defer s.updates.unwatch(uri, subscriber)
	}
	mine := message.Meta{Subscription: r.ID}
	s.host.Notify("notifications/subscriptions/acknowledged", message.Acknowledgement{Meta: mine, Notifications: *p.Notifications})
	s.updates.acknowledge(subscriber, p.Notifications.Resources)
	if len(p.Notifications.Resources) > 0 {
		<-ctx.Done()
	}
	return &message.ListenResult{Head: message.Head{Meta: mine}}, nil
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
