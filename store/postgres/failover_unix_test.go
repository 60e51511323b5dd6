//go:build unix

package postgres_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// caughtUp waits until a standby has everything that its primary server has committed.
func caughtUp(t testing.TB, primary, standby *pgtest.Server) {
	t.Helper()
	at := primary.Ask(t, primary.Admin(), "SELECT pg_current_wal_lsn()")
	require.Eventually(t, func() bool {
		return standby.Ask(t, standby.Admin(), "SELECT pg_last_wal_replay_lsn() >= '"+at+"'") == "t"
	}, soon, 10e6)
}

// at returns the URL of the same database on another server.
func at(t testing.TB, text, host string) string {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	u.Host = host
	return u.String()
}

func host(t testing.TB, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u.Host
}

// TestFaultS19_Failover: the primary server goes, and the standby is promoted. A process that is told of both goes on
// without a restart, with everything that was promised, and so does who listens.
func TestFaultS19_Failover(t *testing.T) {
	primary, o := own(t)
	require.NoError(t, open(t, o).Close())
	standby := primary.Follow(t)
	caughtUp(t, primary, standby)
	o.URL = at(t, o.URL, host(t, standby.Admin())+","+host(t, o.URL)) // the first that answers is not the one
	s, other := open(t, o), open(t, o)
	changed := other.Changed()
	awaitEach(t, 3, s, changed)
	caughtUp(t, primary, standby)

	require.NoError(t, primary.End("immediate"))
	err := s.Update(t.Context(), appendOne)
	requireKind(t, err, store.IO)
	require.ErrorContains(t, err, "at "+host(t, standby.Admin())+", "+host(t, primary.Admin()))
	require.NoError(t, standby.Promote())
	require.NoError(t, s.Update(t.Context(), appendOne))
	require.EqualValues(t, 4, newest(t, s))
	awaitSignal(t, changed)
	require.EqualValues(t, 4, newest(t, other))
	awaitEach(t, 3, s, changed)
	require.False(t, s.Status(t.Context()).ReadOnly)
}

// TestFaultS19_StandbyIsPromoted: a process that was on it all the time may write from then on.
func TestFaultS19_StandbyIsPromoted(t *testing.T) {
	server, o := own(t)
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	require.NoError(t, server.BecomeStandby())
	s, other := open(t, o), open(t, o)
	changed := other.Changed()
	require.EqualValues(t, 1, newest(t, s))
	requireKind(t, s.Update(t.Context(), appendOne), store.ReadOnly)
	_, err := postgres.Open(t.Context(), postgres.Options{URL: o.URL, Workspace: pgtest.Name(t)})
	requireKind(t, err, store.ReadOnly)
	status := s.Status(t.Context())
	require.True(t, status.ReadOnly)
	require.Len(t, status.Degraded, 1)
	require.Contains(t, status.Degraded[0], "standby")

	require.NoError(t, server.Promote())
	require.NoError(t, s.Update(t.Context(), appendOne))
	status = s.Status(t.Context())
	require.False(t, status.ReadOnly)
	require.Empty(t, status.Degraded)
	require.EqualValues(t, 2, newest(t, s))
	awaitEach(t, 3, s, changed)
}

// TestFaultS19_AddressLeadsToAnotherServer: who is connected to a standby finds the primary server where its address
// leads now.
func TestFaultS19_AddressLeadsToAnotherServer(t *testing.T) {
	primary, o := own(t)
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	standby := primary.Follow(t)
	caughtUp(t, primary, standby)
	p := startProxy(t, at(t, o.URL, host(t, standby.Admin())))
	s := open(t, postgres.Options{URL: p.url, Workspace: o.Workspace})
	require.EqualValues(t, 1, newest(t, s))
	requireKind(t, s.Update(t.Context(), appendOne), store.ReadOnly)
	require.EqualValues(t, 1, newest(t, s))
	p.server.Store(new(host(t, o.URL)))
	require.NoError(t, s.Update(t.Context(), appendOne))
	require.EqualValues(t, 2, newest(t, s))
}

// TestFaultS19_FailoverLosesCommits: those that the standby had not been sent. What a process knows of them it does not
// build on, though there are as many commits again by then, and who waits is told that the count has gone back.
func TestFaultS19_FailoverLosesCommits(t *testing.T) {
	t.Parallel()
	pair := startPair(t)
	through := postgres.Options{URL: pair.url, Workspace: pair.workspace}
	s, waits := open(t, through), open(t, through)
	changed := waits.Changed()
	awaitEach(t, 3, s, changed)
	other := pair.fail(t, func() { // a signal that is left of what was before
		select {
		case <-changed:
		default:
		}
	})
	awaitSignal(t, changed)
	require.EqualValues(t, 1, newest(t, waits))
	requireBuiltOn(t, s, other)
}

// A pair is a server that has a store with one event, and its standby, which has that and is away.
type pair struct {
	*proxy
	primary, standby    *pgtest.Server
	database, workspace string
}

func startPair(t *testing.T) pair {
	t.Helper()
	primary := pgtest.Own(t)
	o := options(t, primary)
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	standby := primary.Follow(t)
	caughtUp(t, primary, standby)
	require.NoError(t, standby.End("fast"))
	return pair{startProxy(t, o.URL), primary, standby, o.URL, o.Workspace}
}

// fail has the standby take the place of the server, and calls between before anybody finds it. It returns the store there.
func (p pair) fail(t *testing.T, between func()) *postgres.Store {
	t.Helper()
	require.NoError(t, p.primary.End("immediate"))
	require.NoError(t, p.standby.Start())
	require.NoError(t, p.standby.Promote())
	between()
	p.server.Store(new(host(t, p.standby.Admin())))
	return open(t, postgres.Options{URL: at(t, p.database, host(t, p.standby.Admin())), Workspace: p.workspace})
}

// requireBuiltOn has as many changes made by another as s has made that were lost, and checks what s builds on then.
func requireBuiltOn(t *testing.T, s, other *postgres.Store) {
	t.Helper()
	for range 3 {
		require.NoError(t, other.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Append(store.Event{Type: "run.created", Subject: "another", At: 5, Data: "{}"})
			return err
		}))
	}
	require.NoError(t, s.Update(t.Context(), appendOne))
	require.EqualValues(t, 5, newest(t, s))
	requireSound(t, other)
}

// TestStandbyThatLacksTheWorkspaceEndedAllWriting: a standby gets it when it gets what was committed last.
func TestStandbyThatLacksTheWorkspaceEndedAllWriting(t *testing.T) {
	primary, o := own(t)
	require.NoError(t, open(t, o).Close())
	standby := primary.Follow(t)
	caughtUp(t, primary, standby)
	standby.Run(t, standby.Admin(), "SELECT pg_wal_replay_pause()")
	p := startProxy(t, o.URL)
	s := open(t, postgres.Options{URL: p.url, Workspace: pgtest.Name(t)})
	require.NoError(t, s.Update(t.Context(), appendOne))

	p.server.Store(new(host(t, standby.Admin())))
	primary.Run(t, o.URL, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()")
	err := s.View(t.Context(), appendOne)
	requireKind(t, err, store.IO)
	require.ErrorContains(t, err, "standby")
	standby.Run(t, standby.Admin(), "SELECT pg_wal_replay_resume()")
	caughtUp(t, primary, standby)
	require.EqualValues(t, 1, newest(t, s))
	p.server.Store(new(host(t, primary.Admin())))
	require.NoError(t, s.Update(t.Context(), appendOne))
	require.EqualValues(t, 2, newest(t, s))
}
