package postgres_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"waybill/store"
	"waybill/store/law"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
	"waybill/test/slow"
	"waybill/test/teststore"
)

func TestMain(m *testing.M) {
	if slow.Race {
		_ = flag.Set("rapid.checks", "40") // the command line may say otherwise
	}
	goleak.VerifyTestMain(tests{m})
}

// tests are those of the package, with a server.
type tests struct{ *testing.M }

func (m tests) Run() int { return pgtest.Main(m.M) }

func open(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestLaws(t *testing.T) {
	t.Parallel()
	holdLaws(t, pgtest.Shared(t).Database(t))
}

// holdLaws runs the laws on the stores of a database.
func holdLaws(t *testing.T, url string) {
	law.Run(t, law.All(), func(t *testing.T) func() store.Store {
		o := postgres.Options{URL: url, Workspace: pgtest.Name(t)}
		return func() store.Store {
			s, err := postgres.Open(t.Context(), o)
			require.NoError(t, err)
			return s
		}
	})
}

// TestAgreesWithSQLite: both databases answer the same after the same random changes.
func TestAgreesWithSQLite(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t)
	rapid.Check(t, func(rt *rapid.T) {
		s, err := postgres.Open(t.Context(), postgres.Options{URL: url, Workspace: pgtest.Name(t)})
		require.NoError(rt, err)
		defer func() { require.NoError(rt, s.Close()) }()
		law.Agree(rt, teststore.New(t), s)
	})
}
