package inboxes

// These tests are inside because the files of the stores are looked at by time.

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/api"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/engine/inbox"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/schema/codec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newApp returns the program of a user with a state folder of their own.
func newApp(t *testing.T) *program.App {
	t.Helper()
	state := t.TempDir()
	app := &program.App{Version: "test", Printer: output.Printer{Env: func(name string) string {
		return map[string]string{"XDG_STATE_HOME": state, "LOCALAPPDATA": state, "HOME": state}[name]
	}}}
	return app.At(t.TempDir())
}

// asking makes a workspace with a task that waits for an answer.
func asking(t *testing.T, app *program.App, question string) (ws workspace.Workspace, task string) {
	t.Helper()
	there := app.At(t.TempDir())
	ws, err := workspace.Resolve(there.Sources())
	require.NoError(t, err)
	require.NoError(t, there.With(func(l *program.Local) error {
		var claimed schema.ClaimTaskResult
		err := errors.Join(
			l.Call(t.Context(), "create_task", schema.CreateTaskParams{Prompt: "Wind the clock."}, new(map[string]any)),
			l.Call(t.Context(), "claim_task", schema.ClaimTaskParams{Worker: "w"}, &claimed))
		if err != nil {
			return err
		}
		task = claimed.Claim.Task.TaskID
		return l.Call(t.Context(), "finish_attempt", schema.FinishAttemptParams{
			TaskID: task, LeaseToken: claimed.Claim.Lease.Token, Status: "awaiting_response", Question: question,
		}, new(map[string]any))
	}))
	return ws, task
}

func newServer(t *testing.T, app *program.App, here bool) *Server {
	t.Helper()
	s := NewServer(app, here)
	t.Cleanup(s.Close)
	return s
}

func (s *Server) read(t *testing.T) document {
	t.Helper()
	for {
		all, err := s.Inbox(t.Context())
		require.NoError(t, err)
		doc := all.(document)
		if !slices.ContainsFunc(doc.Entries, func(e Entry) bool { return strings.HasPrefix(e.Text, inbox.ErrSilent.Error()) }) {
			return doc
		}
	}
}

func (s *Server) call(t *testing.T, id, method string, params any) api.Answer {
	t.Helper()
	text, err := codec.Encode(params)
	require.NoError(t, err)
	return s.Call(t.Context(), id, method, text)
}

// A person answers on the page what an agent asked in another workspace.
func TestQuestionOfAnotherWorkspaceIsAnsweredThroughItsStore(t *testing.T) {
	app := newApp(t)
	s := newServer(t, app, false)
	wake, stop := s.Watch()
	defer stop()
	first, task := asking(t, app, "Which key?")
	second, _ := asking(t, app, "Which clock?")
	store := filepath.Join(second.StateDir, "store.db")
	require.NoError(t, os.RemoveAll(store+"-wal")) // which may have all of it
	require.NoError(t, os.WriteFile(store, []byte("no store"), 0o600))
	doc := s.read(t)
	require.Equal(t, 2, doc.Waiting)
	require.Equal(t, "question", doc.Entries[0].Kind)
	require.Equal(t, first.ID, doc.Entries[0].ID)
	require.Equal(t, "unreadable", doc.Entries[1].Kind)

	p := schema.ReplyParams{TaskID: task, Reply: "The small one.", AttemptID: doc.Entries[0].AttemptID}
	require.Nil(t, s.call(t, first.ID, "reply", p).Err)
	select {
	case <-wake: // by the files of the stores
	case <-time.After(time.Minute):
		t.Fatal("no change was seen")
	}
	again := s.call(t, first.ID, "reply", schema.ReplyParams{TaskID: task, Reply: "The big one.", AttemptID: p.AttemptID})
	require.Equal(t, schema.AlreadyResolved, again.Err.Data.Code)
	require.Equal(t, 1, s.read(t).Waiting)
	require.NotNil(t, s.call(t, second.ID, "list_tasks", schema.ListTasksParams{}).Err)
	require.Equal(t, schema.NoWorkspace, s.call(t, "nowhere", "list_tasks", schema.ListTasksParams{}).Err.Data.Code)
	require.NoError(t, os.Rename(first.Root, first.Root+".away"))
	require.Equal(t, schema.NoWorkspace, s.call(t, first.ID, "list_tasks", schema.ListTasksParams{}).Err.Data.Code)
	require.NoError(t, os.Symlink(second.Root, first.Root))
	require.Equal(t, schema.NoWorkspace, s.call(t, first.ID, "list_tasks", schema.ListTasksParams{}).Err.Data.Code, "another folder has its place")
}

// What has ended is listed until a person has seen it, at the terminal or on a page that is open for days.
func TestLookOnThePageCountsEverywhere(t *testing.T) {
	app := newApp(t)
	ws, _ := asking(t, app, "Which key?")
	s := newServer(t, app, false)
	doc := s.read(t)
	readAt, err := time.Parse(time.RFC3339Nano, string(doc.ReadAt))
	require.NoError(t, err)
	before := s.reader.since(ws.ID)
	require.NoError(t, s.Looked(t.Context(), readAt))
	require.WithinDuration(t, readAt, readLooks(s.reader.base)[ws.ID], 0)
	require.ErrorContains(t, s.Looked(t.Context(), readAt.Add(time.Hour)), "later than every inbox")
	s.read(t)
	require.Greater(t, s.reader.since(ws.ID), before)
	terminal, err := New(app, Options{})
	require.NoError(t, err)
	require.Equal(t, readAt.UnixMicro(), terminal.since(ws.ID))
}

// With --here nothing of another workspace is shown, and nothing of it can be called.
func TestPageOfOneWorkspaceReachesNoOther(t *testing.T) {
	app := newApp(t)
	own, _ := asking(t, app, "Which key?")
	other, _ := asking(t, app, "Which clock?")
	s := newServer(t, app, true)
	_, err := s.Inbox(t.Context())
	require.ErrorContains(t, err, "has not named the workspace")
	s.Found(own)
	doc := s.read(t)
	require.Equal(t, own.ID, doc.Here)
	require.Len(t, doc.Entries, 1)
	require.Equal(t, "Which key?", doc.Entries[0].Text)
	require.Equal(t, schema.NoWorkspace, s.call(t, other.ID, "list_tasks", schema.ListTasksParams{}).Err.Data.Code)
}

// A disk that hangs holds some calls, and not all the memory.
func TestCallsInOneWorkspaceAreBounded(t *testing.T) {
	app := newApp(t)
	ws, _ := asking(t, app, "Which key?")
	s := newServer(t, app, false)
	for range maxCalls {
		_, err := s.enter(ws.ID)
		require.NoError(t, err)
	}
	require.Equal(t, schema.Overloaded, s.call(t, ws.ID, "list_tasks", schema.ListTasksParams{}).Err.Data.Code)
	s.leave(ws.ID, s.open[ws.ID])
	require.Nil(t, s.call(t, ws.ID, "list_tasks", schema.ListTasksParams{}).Err)
}

// Mark as seen counted for workspaces that were unreadable or new when the person read the list.
func TestWorkspaceThatTheInboxDidNotShowIsNotSeen(t *testing.T) {
	app := newApp(t)
	first, _ := asking(t, app, "Which key?")
	s := newServer(t, app, false)
	doc := s.read(t)
	second, _ := asking(t, app, "Which clock?")
	s.read(t)
	readAt, err := time.Parse(time.RFC3339Nano, string(doc.ReadAt))
	require.NoError(t, err)
	require.NoError(t, s.Looked(t.Context(), readAt))
	looks := readLooks(s.reader.base)
	require.Contains(t, looks, first.ID)
	require.NotContains(t, looks, second.ID)
}

// A host that named its workspace late was shown the inbox of the folder in which it was started.
func TestPageFollowsTheHostToItsWorkspace(t *testing.T) {
	app := newApp(t)
	one, _ := asking(t, app, "Which key?")
	two, _ := asking(t, app, "Which clock?")
	s := newServer(t, app, true)
	s.Found(one)
	require.Equal(t, "Which key?", s.read(t).Entries[0].Text)
	s.Found(two)
	require.Equal(t, "Which clock?", s.read(t).Entries[0].Text)
}

// The most recently used store was closed after each call, so each call opened it again.
func TestStoreUnusedForLongestIsClosed(t *testing.T) {
	app := newApp(t)
	s := newServer(t, app, false)
	var all []string
	for range maxOpen + 1 {
		ws, _ := asking(t, app, "Which key?")
		all = append(all, ws.ID)
		require.Nil(t, s.call(t, ws.ID, "list_tasks", schema.ListTasksParams{}).Err)
	}
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.open) <= maxOpen
	}, time.Minute, time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NotContains(t, s.open, all[0])
	require.Contains(t, s.open, all[maxOpen])
}
