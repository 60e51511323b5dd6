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

// listen subscribes to a resource under the id of the request.
func (c *rawClient) listen(id, uri string) {
	c.t.Helper()
	c.send(inModern(id, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["`+uri+`"]}`))
	require.Equal(c.t, id, c.notified("notifications/subscriptions/acknowledged"))
}

// notified returns the subscription that the next line is for, which must be of that method.
func (c *rawClient) notified(method string) (subscription string) {
	c.t.Helper()
	a := parse(c.t, c.nextAnswer())
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
func TestSubscriptionsToOneResourceAreIndependent(t *testing.T) {
	h, c := connectRaw(t, setup{})
	c.listen("1", "waybill://awaiting")
	c.listen(`"two"`, "waybill://awaiting")
	h.taskThatAsks("oak or elm?")
	both := []string{c.notified(updated), c.notified(updated)}
	slices.Sort(both)
	require.Equal(t, []string{`"two"`, "1"}, both)

	c.send(note("notifications/cancelled", `"requestId":"two"`))
	h.taskThatAsks("brass or steel?")
	for c.notified(updated) != "1" { // the other one may have been told before it had ended
	}
	require.Equal(t, []string{"1 complete"}, c.remaining())
}

// A subscription that has ended leaves nothing behind, however many came before it.
func TestEndedSubscriptionsAreReleased(t *testing.T) {
	_, c := connectRaw(t, setup{})
	c.requireAlive()
	before := runtime.NumGoroutine()
	for i := range 1000 {
		id := fmt.Sprint(i)
		c.listen(id, "waybill://awaiting")
		c.send(note("notifications/cancelled", `"requestId":`+id))
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() < before+10 }, patience, time.Millisecond)
	require.Empty(t, c.remaining())
}
