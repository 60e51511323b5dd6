package web_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// neighbours are the other workspaces of a person. One of them lies on a disk that hangs.
type neighbours struct {
	called chan string // workspace, method and params of each call
	looked time.Time
	hangs  chan struct{} // closed when the disk answers
	wake   chan struct{}
}

func newNeighbours() *neighbours {
	return &neighbours{called: make(chan string, 10), hangs: make(chan struct{}), wake: make(chan struct{}, 1)}
}

func (n *neighbours) Inbox(context.Context) (any, error) { return map[string]int{"waiting": 3}, nil }

func (n *neighbours) Looked(_ context.Context, at time.Time) error {
	n.looked = at
	return nil
}

func (n *neighbours) Watch() (<-chan struct{}, func()) { return n.wake, func() {} }

func (n *neighbours) Call(_ context.Context, workspace, method string, params []byte) api.Answer {
	n.called <- workspace + " " + method + " " + string(params)
	switch workspace {
	case "hangs":
		<-n.hangs
	case "panics":
		panic("it is broken")
	}
	return api.Answer{Result: &schema.PingResult{Pong: true}}
}

// A path that names a workspace leads there, and needs what the same path without it needs.
func TestPathOfAnotherWorkspaceLeadsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNeighbours()
		defer close(n.hangs)
		h := newHarness(t, setup{workspaces: n})
		h.ask("GET", "/api/workspaces/w-1/tasks?limit=5", "").requireOK()
		require.Equal(t, `w-1 list_tasks {"limit":5}`, <-n.called)
		h.ask("POST", "/api/workspaces/w-1/tasks/tsk_1/reply", `{"reply":"oak"}`, "Idempotency-Key: k").requireOK()
		require.Equal(t, `w-1 reply {"reply":"oak","task_id":"tsk_1","idempotency_key":"k"}`, <-n.called)
		require.Equal(t, "3", h.ask("GET", "/api/inbox", "").requireOK().str("waiting"))
		h.ask("POST", "/api/inbox/looked", `{"read_at":"2026-11-28T08:00:00.5Z"}`).requireOK()
		require.Equal(t, "2026-11-28T08:00:00.5Z", n.looked.UTC().Format(time.RFC3339Nano))

		h.ask("POST", "/api/inbox/looked", `{"read_at":"today"}`).requireError(400, schema.InvalidParams)
		for _, path := range []string{"/api/workspaces/w-1/events", "/api/workspaces/w-1/inbox", "/api/workspaces/w-1/metrics", "/api/workspaces/w-1", "/api/workspaces/w-1/", "/api/workspaces//tasks"} {
			h.ask("GET", path, "").requireError(404, schema.MethodNotFound)
		}
		h.ask("POST", "/api/workspaces/w-1/codes", "").requireError(404, schema.MethodNotFound)
		h.ask("POST", "/api/workspaces/w-1/login", `{"code":"x"}`, "Authorization").requireError(404, schema.MethodNotFound)
		h.ask("GET", "/api/workspaces/w-1/tasks", "", "Authorization").requireError(401, schema.Unauthorized)
		h.ask("GET", "/api/inbox", "", "Authorization").requireError(401, schema.Unauthorized)
		h.ask("POST", "/api/workspaces/w-1/tasks/tsk_1/reply", `{"reply":"x"}`, "Sec-Fetch-Site: cross-site").requireError(403, schema.Forbidden)
		h.ask("GET", "/api/workspaces/panics/tasks", "").requireError(500, schema.Internal)
		require.Len(t, n.called, 1, "a refused request reached a workspace")
	})
}

// A disk that hangs holds the call for its time, and no other one.
func TestWorkspaceOnADiskThatHangsHoldsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNeighbours()
		h := newHarness(t, setup{workspaces: n})
		answers := make(chan answer, 1)
		go func() { answers <- h.ask("GET", "/api/workspaces/hangs/tasks", "") }() // ends with the time limit of a call
		<-n.called
		h.ask("GET", "/api/workspaces/w-1/tasks", "").requireOK()
		h.ask("GET", "/api/inbox", "").requireOK()
		(<-answers).requireError(503, schema.StoreIO)
		close(n.hangs)
	})
}

// Without other workspaces there are no paths to them.
func TestPageWithoutWorkspacesHasNoPathsToThem(t *testing.T) {
	serve(t, func(_ *testing.T, h *harness) {
		for _, path := range []string{"/api/inbox", "/api/workspaces/w-1/tasks"} {
			h.ask("GET", path, "").requireError(404, schema.MethodNotFound)
		}
	})
}

// A stream tells of changes in other workspaces, whose events it has not. Its cursor stays.
func TestStreamTellsOfOtherWorkspaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNeighbours()
		h := newHarness(t, setup{workspaces: n})
		conn := h.connect()
		defer func() { _ = conn.Close() }()
		_, err := io.WriteString(conn, "GET /api/events HTTP/1.1\r\nHost: "+h.at+"\r\nAuthorization: Bearer "+testToken+"\r\n\r\n")
		require.NoError(t, err)
		in := bufio.NewReader(conn)
		until := func(want string) {
			for line := ""; !strings.HasPrefix(line, want); {
				line, err = in.ReadString('\n')
				require.NoError(t, err)
				require.False(t, strings.HasPrefix(line, "id: ") && want != "event: ready", line)
			}
		}
		until("event: ready")
		n.wake <- struct{}{}
		until("event: inbox")
	})
}
