package mcp_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// listens subscribes to a resource under the id of the request.
func (c *caller) listens(id, uri string) {
	c.t.Helper()
	c.send(inModern(id, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["`+uri+`"]}`))
	require.Equal(c.t, id, c.told("notifications/subscriptions/acknowledged"))
}

// told gives the subscription that the next line is for, which must be of that method.
func (c *caller) told(method string) (subscription string) {
	c.t.Helper()
	a := parse(c.t, c.hear())
	require.Equal(c.t, method, a.Method)
	var p struct {
		Meta struct {
			ID json.RawMessage `json:"io.modelcontextprotocol/subscriptionId"`
		} `json:"_meta"`
	}
	require.NoError(c.t, json.Unmarshal(a.Params, &p))
	return string(p.Meta.ID)
}

const updated = "notifications/resources/updated"

// Of two subscriptions to one resource on one connection, the second took the place of the first, and its end was the
// end of both.
func TestFaultSubscriptionsToOneResourceAreTheirOwn(t *testing.T) {
	h, c := wired(t, plot{})
	c.listens("1", "waybill://awaiting")
	c.listens(`"two"`, "waybill://awaiting")
	h.asked("oak or elm?")
	both := []string{c.told(updated), c.told(updated)}
	slices.Sort(both)
	require.Equal(t, []string{`"two"`, "1"}, both)

	c.send(note("notifications/cancelled", `"requestId":"two"`))
	h.asked("brass or steel?")
	for c.told(updated) != "1" { // the other one may have been told before it had ended
	}
	require.Equal(t, []string{"1 complete"}, c.rest())
}

// A subscription that has ended leaves nothing behind, however many came before it.
func TestFaultSubscriptionsThatEndedAreLetGo(t *testing.T) {
	_, c := wired(t, plot{})
	c.lives()
	before := runtime.NumGoroutine()
	for i := range 1000 {
		id := fmt.Sprint(i)
		c.listens(id, "waybill://awaiting")
		c.send(note("notifications/cancelled", `"requestId":`+id))
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() < before+10 }, patience, time.Millisecond)
	require.Empty(t, c.rest())
}
