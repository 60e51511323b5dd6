package postgres_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// putTask makes a task with its first attempt, and with what belongs to one.
func putTask(tx store.Tx, id string) error {
	t, _ := task.Create(id, "att_"+id, 1, task.Spec{Prompt: "do " + id, MaxAttempts: 3}, 0, 1)
	return errors.Join(tx.PutTask(t), tx.PutAttempt(t.Current),
		tx.AddReply(store.Reply{TaskID: id, Number: 1, AttemptID: "att_" + id, Text: "yes", At: 1}), appendOne(tx))
}

func requireTask(t testing.TB, s store.Store, id string, want bool) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		_, ok, err := tx.Task(id)
		require.Equal(t, want, ok, id)
		return err
	}))
}

func requireSound(t testing.TB, s *postgres.Store) {
	t.Helper()
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, damage)
}

// TestReplacedStoreIsUsedByAllWhoHadIt: what others know is forgotten, who waits is told, and everybody goes on. What was
// there is in a workspace of its own.
func TestReplacedStoreIsUsedByAllWhoHadIt(t *testing.T) {
	_, o := shared(t)
	one, other := open(t, o), open(t, o)
	changed := other.Changed()
	require.NoError(t, one.Update(t.Context(), func(tx store.Tx) error { return putTask(tx, "tsk_old") }))
	awaitSignal(t, changed)
	awaitEach(t, 2, one, changed)

	inside, end, seen := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	finish := sync.OnceFunc(func() { close(end) })
	defer finish()
	go func() { // ends when it is told to
		seen <- one.View(t.Context(), func(tx store.Tx) error {
			_, before, err := tx.Bounds()
			close(inside)
			<-end
			_, after, again := tx.Bounds()
			if before != 3 || after != 3 {
				return errors.New("the reading has seen two moments")
			}
			return errors.Join(err, again)
		})
	}()
	<-inside
	aside, err := open(t, o).Replace(t.Context(), func(tx store.Tx) error { return putTask(tx, "tsk_new") })
	require.NoError(t, err)
	require.Regexp(t, `^`+o.Workspace+`\.replaced-\d{8}T\d{6}Z$`, aside)
	awaitSignal(t, changed)
	finish()
	require.NoError(t, <-seen)
	for _, s := range []*postgres.Store{one, other} {
		requireTask(t, s, "tsk_old", false)
		requireTask(t, s, "tsk_new", true)
		require.NoError(t, s.Update(t.Context(), appendOne))
	}
	require.EqualValues(t, 3, newest(t, one))
	requireSound(t, one)

	second, err := other.Replace(t.Context(), appendOne)
	require.NoError(t, err)
	require.NotEqual(t, aside, second)
	require.EqualValues(t, 1, newest(t, one))
	o.Workspace = aside
	kept := open(t, o)
	requireTask(t, kept, "tsk_old", true)
	require.EqualValues(t, 3, newest(t, kept))
	requireSound(t, kept)
	require.NoError(t, kept.Update(t.Context(), appendOne), "it is a store as any other")
	requireSound(t, kept)
}

// TestReplacingThatFailsChangesNothing, be it the function or the connection that fails.
func TestReplacingThatFailsChangesNothing(t *testing.T) {
	server, o := shared(t)
	s := open(t, o)
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error { return putTask(tx, "tsk_old") }))
	no := errors.New("no")
	_, err := s.Replace(t.Context(), func(tx store.Tx) error { return errors.Join(putTask(tx, "tsk_new"), no) })
	require.ErrorIs(t, err, no)
	requireTask(t, s, "tsk_old", true)
	require.Equal(t, "1", server.Ask(t, o.URL, "SELECT count(*) FROM waybill.workspaces"))
	require.NoError(t, s.Update(t.Context(), appendOne))

	runs := 0
	aside, err := s.Replace(t.Context(), func(tx store.Tx) error {
		if runs++; runs == 1 {
			server.Run(t, server.Admin(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = '"+database(t, o.URL)+"'")
		}
		return putTask(tx, "tsk_new")
	})
	require.NoError(t, err)
	require.Equal(t, 2, runs)
	require.Equal(t, aside, server.Ask(t, o.URL, "SELECT name FROM waybill.workspaces ORDER BY number DESC"))
	require.Equal(t, "2", server.Ask(t, o.URL, "SELECT count(*) FROM waybill.workspaces"))
	requireSound(t, s)
	o.ReadOnly = true
	_, err = open(t, o).Replace(t.Context(), appendOne)
	requireKind(t, err, store.ReadOnly)
}

// TestReplacingAnEmptyStoreSetsNothingAside, and a long name is no hindrance.
func TestReplacingAnEmptyStoreSetsNothingAside(t *testing.T) {
	o := options(t, pgtest.Shared(t))
	o.Workspace = strings.Repeat("w", 128)
	s := open(t, o)
	aside, err := s.Replace(t.Context(), appendOne)
	require.NoError(t, err)
	require.Empty(t, aside)
	aside, err = s.Replace(t.Context(), appendOne)
	require.NoError(t, err)
	require.NoError(t, postgres.CheckName(aside))
	requireSound(t, s)
}

// TestEveryTableIsReplaced: a table that is added belongs to what is set aside, behind those that it refers to.
func TestEveryTableIsReplaced(t *testing.T) {
	server, o := shared(t)
	open(t, o)
	tables := strings.Fields(server.Ask(t, o.URL, "SELECT string_agg(table_name, ' ') FROM information_schema.columns "+
		"WHERE table_schema = 'waybill' AND column_name = 'workspace' AND table_name <> 'stamps'"))
	require.ElementsMatch(t, tables, postgres.HeldBy)
	for _, reference := range strings.Fields(server.Ask(t, o.URL, "SELECT string_agg(conrelid::regclass || '>' || confrelid::regclass, ' ') "+
		"FROM pg_constraint WHERE contype = 'f' AND connamespace = 'waybill'::regnamespace AND confrelid <> 'waybill.workspaces'::regclass")) {
		from, to, _ := strings.Cut(strings.ReplaceAll(reference, "waybill.", ""), ">")
		require.Less(t, slices.Index(postgres.HeldBy, to), slices.Index(postgres.HeldBy, from), reference)
	}
}

// TestSpecWithoutTaskIsDamage: another task at its position was called damaged, and no error named the spec.
func TestSpecWithoutTaskIsDamage(t *testing.T) {
	server, o := shared(t)
	s := open(t, o)
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error { return putTask(tx, "first") }))
	server.Run(t, o.URL, "SET session_replication_role = replica; DELETE FROM waybill.replies; DELETE FROM waybill.attempts; DELETE FROM waybill.tasks")
	other, _ := task.Create("other", "att_other", 1, task.Spec{Prompt: "other", MaxAttempts: 3}, 0, 1)
	requireKind(t, s.Update(t.Context(), func(tx store.Tx) error {
		require.ErrorContains(t, tx.PutTask(other), "the spec of another task at the position of task "+other.ID)
		return nil
	}), store.Corrupt)
	requireTask(t, s, "other", false)
}
