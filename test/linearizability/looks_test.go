//go:build unix

package linearizability_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/test/linearizability"
)

// looks reads everything that the calls may have created, after all clients have ended.
func (c *client) looks(t *testing.T, calls []linearizability.Call) []linearizability.Call {
	t.Helper()
	began := c.clock()
	letters, tasks := c.allInstructions(t), c.allTasks(t)
	ended := c.clock()
	var all []linearizability.Call
	for _, call := range calls {
		look := linearizability.Call{Client: c.number, Began: began, Ended: ended}
		switch act := call.Act.(type) {
		case linearizability.Queue:
			is := letters[act.Name]
			is.Name = act.Name
			look.Act = is
			delete(letters, act.Name)
		case linearizability.Create:
			is := tasks[act.Name]
			is.Name = act.Name
			look.Act = is
			delete(tasks, act.Name)
		default:
			continue
		}
		all = append(all, look)
	}
	require.Empty(t, letters, "nobody has queued them")
	require.Empty(t, tasks, "nobody has created them")
	return all
}

func (c *client) allInstructions(t *testing.T) map[string]linearizability.Look {
	t.Helper()
	all := map[string]linearizability.Look{}
	for cursor, more := "", true; more; more = cursor != "" {
		var page struct {
			Items []struct {
				Content string `json:"content"`
				State   string `json:"state"`
				Sends   int    `json:"sends"`
			} `json:"items"`
			Next string `json:"next_cursor"`
		}
		require.NoError(t, c.call("list_instructions", map[string]any{"limit": 500, "cursor": cursor}, &page))
		for _, in := range page.Items {
			require.NotContains(t, all, in.Content, "it is there twice")
			all[in.Content] = linearizability.Look{State: in.State, Sends: in.Sends}
		}
		cursor = page.Next
	}
	return all
}

func (c *client) allTasks(t *testing.T) map[string]linearizability.LookTask {
	t.Helper()
	all := map[string]linearizability.LookTask{}
	for cursor, more := "", true; more; more = cursor != "" {
		var page struct {
			Items []struct {
				Prompt  string `json:"prompt"`
				Status  string `json:"status"`
				Attempt int    `json:"attempt_number"`
			} `json:"items"`
			Next string `json:"next_cursor"`
		}
		require.NoError(t, c.call("list_tasks", map[string]any{"limit": 500, "cursor": cursor}, &page))
		for _, task := range page.Items {
			require.NotContains(t, all, task.Prompt, "it is there twice")
			all[task.Prompt] = linearizability.LookTask{Status: task.Status, Attempt: task.Attempt}
		}
		cursor = page.Next
	}
	return all
}
