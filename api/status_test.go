package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/slow"
)

func TestUnheardNotificationsAreInTheStatus(t *testing.T) {
	connection := &schema.ConnectionStatus{}
	h := newHost(t, setup{connection: func() *schema.ConnectionStatus { return connection }})
	status := h.call("get_status", `{}`)
	status.has(0, "connection.notifications_failed")
	require.NotContains(t, fmt.Sprint(status.at("degraded")), "notifications")
	connection = &schema.ConnectionStatus{NotificationsFailed: 3, NotificationsDropped: 41}
	status = h.call("get_status", `{}`)
	status.has(3, "connection.notifications_failed")
	status.has(41, "connection.notifications_dropped")
	degraded := fmt.Sprint(status.at("degraded"))
	require.Contains(t, degraded, "failed: 3;")
	require.Contains(t, degraded, "in time: 41;")
	newHost(t, setup{}).call("get_status", `{}`).lacks("connection")
}

func TestListPlansTellsWhatItCouldNotSearch(t *testing.T) {
	slow.Test(t)
	h := newHost(t, setup{})
	h.write("tasks.md", twoItems, time.Hour)
	h.call("list_plans", `{}`).has([]any{}, "problems")
	specs := filepath.Join(h.dir, "specs")
	require.NoError(t, os.Mkdir(specs, 0o755))
	for i := range 10_001 { // one more than is looked at
		require.NoError(t, os.WriteFile(filepath.Join(specs, fmt.Sprint(i)), nil, 0o600))
	}
	list := h.call("list_plans", `{}`)
	list.has("tasks.md", "items.0.plan")
	list.lacks("items.1")
	require.Contains(t, list.str("problems.0"), `find plans in the folder "specs"`)
	require.Contains(t, list.str("problems.0"), "more than 10000 entries")
	list.lacks("problems.1")
	require.Contains(t, h.call("get_status", `{}`).at("degraded"), list.at("problems.0"))
}
