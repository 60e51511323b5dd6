//go:build unix

package linear_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/linear"
)

// looks reads everything that the calls may have made, when nobody else is at work any more.
func (c *client) looks(t *testing.T, calls []linear.Call) []linear.Call {
	t.Helper()
	began := c.clock()
	letters, tasks := c.allLetters(t), c.allTasks(t)
	ended := c.clock()
	var all []linear.Call
	for _, call := range calls {
		look := linear.Call{Client: c.number, Began: began, Ended: ended}
		switch act := call.Act.(type) {
		case linear.Queue:
			is := letters[act.Name]
			is.Name = act.Name
			look.Act = is
			delete(letters, act.Name)
		case linear.Create:
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

func (c *client) allLetters(t *testing.T) map[string]linear.Look {
	t.Helper()
	all := map[string]linear.Look{}
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
			all[in.Content] = linear.Look{State: in.State, Sends: in.Sends}
		}
		cursor = page.Next
	}
	return all
}

func (c *client) allTasks(t *testing.T) map[string]linear.LookTask {
	t.Helper()
	all := map[string]linear.LookTask{}
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
			all[task.Prompt] = linear.LookTask{Status: task.Status, Attempt: task.Attempt}
		}
		cursor = page.Next
	}
	return all
}
