package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// newerTables are what a newer waybill does to the tables.
const newerTables = "BEGIN; LOCK TABLE waybill.workspaces IN ACCESS EXCLUSIVE MODE; ALTER TABLE waybill.workspaces ADD COLUMN motto text; " +
	"INSERT INTO waybill.versions VALUES (2); COMMIT"

// TestTablesAreMadeOnce, by whichever of the processes that come at the same moment is first, also where the database says
// something else of transactions than they do.
func TestTablesAreMadeOnce(t *testing.T) {
	server := pgtest.Shared(t)
	for _, defaults := range []string{"default_transaction_isolation = 'serializable'", "default_transaction_read_only = on"} {
		o := options(t, server)
		server.Run(t, server.Admin(), "ALTER DATABASE "+database(t, o.URL)+" SET "+defaults)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				s, err := postgres.Open(t.Context(), o)
				if err != nil {
					t.Errorf("open: %v", err)
					return
				}
				if err := errors.Join(s.Update(t.Context(), appendOne), s.Close()); err != nil {
					t.Errorf("update: %v", err)
				}
			})
		}
		wg.Wait()
		require.Equal(t, "1", server.Ask(t, o.URL, "SELECT count(*) FROM waybill.versions"))
		require.EqualValues(t, 4, newest(t, open(t, o)))
	}
}

// TestFaultS6_TablesAreBroughtUpUnderUs: by a newer waybill, while this one is at work. It reads on, and writes no more,
// not even what it was about to.
func TestFaultS6_TablesAreBroughtUpUnderUs(t *testing.T) {
	server, o := shared(t)
	s, other := open(t, o), open(t, o)
	changed := make(chan error, 1)
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		go func() { // ends when the tables are changed
			_, err := server.Query(o.URL, newerTables)
			changed <- err
		}()
		return appendOne(tx)
	}))
	require.NoError(t, <-changed)
	for _, old := range []*postgres.Store{s, other, open(t, o)} {
		requireKind(t, old.Update(t.Context(), appendOne), store.NewerSchema)
		require.EqualValues(t, 1, newest(t, old))
		status := old.Status(t.Context())
		require.True(t, status.ReadOnly)
		require.Contains(t, fmt.Sprint(status.Degraded), "version 2, and this waybill writes version 1")
	}
}

// TestFaultS7_HolderIsNamed: who waits in vain is told which server process has the workspace, and of whom.
func TestFaultS7_HolderIsNamed(t *testing.T) {
	server, o := shared(t)
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	s := open(t, o.Waiting(50*time.Millisecond))
	holder := server.Connect(t, o.URL+"&application_name=psql%20of%20Ann")
	_, err := holder.Exec(t.Context(), "BEGIN; SELECT 0 FROM waybill.workspaces FOR UPDATE").ReadAll()
	require.NoError(t, err)
	err = s.Update(t.Context(), appendOne)
	requireKind(t, err, store.Busy)
	requireNotApplied(t, err)
	require.ErrorContains(t, err, fmt.Sprintf("the server process %d (psql of Ann, 127.0.0.1, idle in transaction) has had it for", holder.PID()))
	require.Error(t, s.Update(t.Context(), appendOne))
	holder.Hang()
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	require.NoError(t, s.Update(t.Context(), appendOne))
}

// TestFaultS11_WorkspaceIsRemoved: who has it open is told, and nobody is given what another one has.
func TestFaultS11_WorkspaceIsRemoved(t *testing.T) {
	for name, after := range map[string]string{
		"for good":                       "",
		"and another took its number":    "INSERT INTO waybill.workspaces (number, name) OVERRIDING SYSTEM VALUE VALUES (%s, 'another')",
		"with its schema, and was begun": "begin",
	} {
		t.Run(name, func(t *testing.T) {
			server, o := shared(t)
			s := open(t, o)
			require.NoError(t, s.Update(t.Context(), appendOne))
			number := server.Ask(t, o.URL, "SELECT number FROM waybill.workspaces")
			server.Run(t, o.URL, "TRUNCATE waybill.workspaces CASCADE")
			switch after {
			case "":
			case "begin":
				server.Run(t, o.URL, "DROP SCHEMA waybill CASCADE")
				another := o
				another.Workspace = pgtest.Name(t)
				require.NoError(t, open(t, another).Update(t.Context(), appendOne))
				require.Equal(t, number, server.Ask(t, o.URL, "SELECT number FROM waybill.workspaces"))
			default:
				server.Run(t, o.URL, fmt.Sprintf(after, number))
			}
			requireKind(t, s.View(t.Context(), func(store.Tx) error { return nil }), store.Lost)
			requireKind(t, s.Update(t.Context(), appendOne), store.Lost)
			require.True(t, s.Status(t.Context()).ReadOnly)
		})
	}
}

// TestFaultS17_StoreDoesNotGrow: what is pruned makes room for what comes, and nothing grows with the number of commits.
func TestFaultS17_StoreDoesNotGrow(t *testing.T) {
	t.Parallel()
	server, o := shared(t)
	s := open(t, o.Mute()) // a transaction beside a VACUUM keeps dead rows alive
	server.Run(t, o.URL, "ALTER TABLE waybill.events SET (autovacuum_enabled = off)")
	round := func() int64 {
		for range 10 {
			require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
				for range 300 {
					if err := appendOne(tx); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Prune(1<<60, 100_000)
			return err
		}))
		// What somebody may still look at stays: the server itself, for one, that counts the rows of another table.
		for dead := ""; dead != "0"; {
			server.Run(t, o.URL, "VACUUM waybill.events")
			dead = server.Ask(t, o.URL, "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relid = 'waybill.events'::regclass")
		}
		return s.Status(t.Context()).SizeBytes
	}
	round()
	first := round()
	last := first
	for range 3 {
		last = round()
	}
	require.Less(t, last, 2*first, "VACUUM skips pages that somebody looks at; a store that reuses nothing has 2.5 times the size")
	for range 300 {
		require.NoError(t, s.Update(t.Context(), appendOne))
	}
	require.Equal(t, "256", server.Ask(t, o.URL, "SELECT count(*) FROM waybill.stamps"))
}
