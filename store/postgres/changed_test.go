package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

func awaitSignal(t testing.TB, changed <-chan struct{}) {
	t.Helper()
	select {
	case <-changed:
	case <-time.After(soon):
		require.FailNow(t, "nobody said that the store has changed")
	}
}

// awaitEach makes changes, each of which has to be signalled by itself: there are no more signals than changes.
func awaitEach(t testing.TB, n int, by *postgres.Store, changed <-chan struct{}) {
	t.Helper()
	for range n {
		require.NoError(t, by.Update(t.Context(), appendOne))
		awaitSignal(t, changed)
	}
}

// listening waits until a store listens, which its connection says at the server.
func listening(t testing.TB, server *pgtest.Server, o postgres.Options, n string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return server.Ask(t, server.Admin(), "SELECT count(*) FROM pg_stat_activity WHERE datname = '"+database(t, o.URL)+"' AND application_name LIKE 'waybill %/%'") == n
	}, soon, 5*time.Millisecond)
}

// TestCommitsOfOthersAreTold: who never looks by himself hears of each commit of another process.
func TestCommitsOfOthersAreTold(t *testing.T) {
	o := options(t, pgtest.Shared(t))
	one, other := open(t, o), open(t, o.Looking(time.Hour))
	awaitEach(t, 20, one, other.Changed())
	require.EqualValues(t, 20, newest(t, other))
}

// TestOwnCommitsAreNoNews: a process is not woken by what it has told others, which is told to itself, too.
func TestOwnCommitsAreNoNews(t *testing.T) {
	s := open(t, options(t, pgtest.Shared(t)))
	for range 10 {
		require.NoError(t, s.Update(t.Context(), appendOne))
	}
	for told, rings := range map[string]bool{"9": false, "10": false, "11": true, "": true, "x": true} {
		require.Equal(t, rings, s.RungBy(told), "%q", told)
	}
}

// TestFaultS19_NotificationsAreLost: who heard well looks by himself when he is told nothing any more.
func TestFaultS19_NotificationsAreLost(t *testing.T) {
	server, o := shared(t)
	silent, other := open(t, o.Mute()), open(t, o)
	changed := other.Changed()
	listening(t, server, o, "1")
	awaitEach(t, 10, silent, changed)
}

// TestFaultS19_ListenerIsCutOff: it listens anew, and what was told meanwhile is not missed.
func TestFaultS19_ListenerIsCutOff(t *testing.T) {
	server, o := shared(t)
	one, other := open(t, o), open(t, o.Looking(time.Hour))
	changed := other.Changed()
	awaitEach(t, 1, one, changed)
	for range 3 {
		server.Run(t, server.Admin(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+
			database(t, o.URL)+"' AND application_name LIKE 'waybill %/%'")
		awaitEach(t, 3, one, changed)
		listening(t, server, o, "1")
	}
}

// TestCommitsOfAMomentAreToldOnce: and what is unsent when a process ends is told then.
func TestCommitsOfAMomentAreToldOnce(t *testing.T) {
	server, o := shared(t)
	s, err := postgres.Open(t.Context(), o.Telling(time.Hour))
	require.NoError(t, err)
	hears := server.Connect(t, o.URL)
	topic := "waybill_" + server.Ask(t, o.URL, "SELECT number FROM waybill.workspaces")
	_, err = hears.Exec(t.Context(), "LISTEN "+topic).ReadAll()
	require.NoError(t, err)
	heard := func() string {
		within, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		for len(hears.Heard) == 0 {
			require.NoError(t, hears.WaitForNotification(within))
		}
		n := hears.Heard[0]
		hears.Heard = hears.Heard[1:]
		return n
	}
	require.NoError(t, s.Update(t.Context(), appendOne))
	require.Equal(t, "1", heard())
	for range 9 {
		require.NoError(t, s.Update(t.Context(), appendOne))
	}
	require.NoError(t, s.Close())
	server.Run(t, o.URL, "NOTIFY "+topic+", 'end'")
	require.Equal(t, "10", heard())
	require.Equal(t, "end", heard())
}

// TestForgedNotificationsAreNoMoreThanAReasonToLook: nothing is believed that anybody can say.
func TestForgedNotificationsAreNoMoreThanAReasonToLook(t *testing.T) {
	server, o := shared(t)
	one, other := open(t, o), open(t, o.Looking(time.Hour))
	changed := other.Changed()
	awaitEach(t, 1, one, changed)
	topic := "waybill_" + server.Ask(t, o.URL, "SELECT number FROM waybill.workspaces")
	for _, told := range []string{"", "more", "-1", "9223372036854775807", "9223372036854775808"} {
		server.Run(t, o.URL, "NOTIFY "+topic+", '"+told+"'")
	}
	awaitEach(t, 5, one, changed)
}

// TestTellingHoldsUpNoCommit: somebody whose commit has the lock of all who told something, and does not end, holds up
// nobody.
func TestTellingHoldsUpNoCommit(t *testing.T) {
	server, o := own(t, "synchronous_commit = local", "synchronous_standby_names = 'nobody'")
	one, other := open(t, o), open(t, o)
	changed := other.Changed()
	awaitEach(t, 1, one, changed)
	server.Run(t, o.URL, "CREATE TABLE things ()")
	hangs := server.Connect(t, o.URL)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { // ends with ctx
		_, _ = hangs.Exec(ctx, "SET synchronous_commit = on; BEGIN; INSERT INTO things DEFAULT VALUES; NOTIFY somebody; COMMIT").ReadAll()
	})
	defer wg.Wait()
	defer cancel()
	require.Eventually(t, func() bool {
		return server.Ask(t, o.URL, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1"
	}, soon, 5*time.Millisecond)
	awaitEach(t, 3, one, changed)
}

// TestFaultS19_TooManyConnectionsOfOneProcess: it never has more than four, and listening is one of them, however many
// calls there are, and however many of them are cancelled while the server is at work on them.
func TestFaultS19_TooManyConnectionsOfOneProcess(t *testing.T) {
	server, o := shared(t)
	s := open(t, o)
	fillConnections(t, s)() // four that nobody uses, before there is one that listens
	s.Changed()
	blocker := server.Connect(t, o.URL)
	_, err := blocker.Exec(t.Context(), "BEGIN; LOCK TABLE waybill.events").ReadAll()
	require.NoError(t, err)

	counter := server.Connect(t, server.Admin())
	at := func(where string) int {
		within, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		results, err := counter.Exec(within, "SELECT count(*) FROM pg_stat_activity WHERE datname = '"+database(t, o.URL)+
			"' AND pid <> "+strconv.Itoa(int(blocker.PID()))+" AND "+where).ReadAll()
		require.NoError(t, err)
		n, err := strconv.Atoi(string(results[0].Rows[0][0]))
		require.NoError(t, err)
		return n
	}
	const most = 4
	var wg sync.WaitGroup
	defer wg.Wait()
	give := func() {}
	defer func() { give() }()
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 * most {
			wg.Go(func() {
				_ = s.View(ctx, func(tx store.Tx) error { // is cancelled
					_, err := tx.Events(0, 10, nil)
					return err
				})
			})
		}
		give() // and others wait for the connections of those that gave up
		give = cancel
		for end := time.Now().Add(soon); at("wait_event_type = 'Lock'") < most-1; {
			require.LessOrEqual(t, at("true"), most)
			require.True(t, time.Now().Before(end), "the calls do not wait")
		}
		require.LessOrEqual(t, at("true"), most)
	}
	give()
	wg.Wait()
	blocker.Hang()
	require.NoError(t, s.Update(t.Context(), appendOne))
	listening(t, server, o, "1")
}

// fillConnections has Views use all connections that are left, at the same time, until the function that it gives is called.
func fillConnections(t testing.TB, s *postgres.Store) (release func()) {
	t.Helper()
	var wg sync.WaitGroup
	const most = 4
	inside, end := make(chan struct{}, most), make(chan struct{})
	for range most {
		wg.Go(func() {
			err := s.View(t.Context(), func(store.Tx) error {
				inside <- struct{}{}
				<-end
				return nil
			})
			if err != nil {
				t.Errorf("view: %v", err)
			}
		})
	}
	for range most {
		<-inside
	}
	return func() {
		close(end)
		wg.Wait()
	}
}

// TestBusyProcessIsNotAServerThatDoesNotAnswer: who asks for the status while all connections are in use is told so, and what
// was known before.
func TestBusyProcessIsNotAServerThatDoesNotAnswer(t *testing.T) {
	s := open(t, options(t, pgtest.Shared(t)))
	before := s.Status(t.Context())
	require.Positive(t, before.SizeBytes)
	release := fillConnections(t, s)
	during := s.Status(t.Context())
	release()
	require.Len(t, during.Degraded, 1)
	require.Contains(t, during.Degraded[0], "all 4 connections")
	require.Equal(t, before.SizeBytes, during.SizeBytes)
	require.Empty(t, s.Status(t.Context()).Degraded)
}

// TestFaultR30_VersionsOfOtherProcesses: who listens is known to the others with its version and machine, until its
// connection ends, and who calls himself something else is not.
func TestFaultR30_VersionsOfOtherProcesses(t *testing.T) {
	server, o := shared(t)
	o.Version = "v0.0.0-20261122065900-c788e54abcde+dirty"
	s := open(t, o)
	s.Changed()
	listening(t, server, o, "1")
	require.Empty(t, s.Status(t.Context()).Peers, "it is no other process")
	name := server.Ask(t, o.URL, "SELECT application_name FROM pg_stat_activity WHERE application_name LIKE 'waybill %/%' AND datname = current_database()")
	number := server.Ask(t, o.URL, "SELECT number FROM waybill.workspaces")
	ours := fmt.Sprintf("waybill %s/%d ", number, os.Getpid())
	require.Regexp(t, `^`+ours+`v0\.0\.0-2026112206~[0-9a-f]{6} \S+$`, name)

	another := fmt.Sprintf("waybill %s/77 ", number)
	other := server.Connect(t, named(o, strings.Replace(name, ours, another, 1)))
	for _, name := range []string{
		another + "2.0?new far-away", "waybill " + number + "/", "waybill " + number + "/x 1.0 h", "waybill " + number + "7/78 1.0 h", "psql",
	} {
		server.Connect(t, named(o, name))
	}
	require.ElementsMatch(t, []store.Peer{
		{PID: 77, Version: "2.0?new", Host: "far-away"}, {PID: 77, Version: o.Version},
	}, s.Status(t.Context()).Peers)
	other.Hang()
	require.Eventually(t, func() bool { return len(s.Status(t.Context()).Peers) == 1 }, soon, 5*time.Millisecond)
}

// named returns the URL of a store for a connection of that name.
func named(o postgres.Options, name string) string {
	return o.URL + "&application_name=" + url.PathEscape(name)
}
