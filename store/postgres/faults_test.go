package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// soon bounds waits for what is sure to happen.
const soon = time.Minute

func options(t testing.TB, s *pgtest.Server) postgres.Options {
	t.Helper()
	return postgres.Options{URL: s.Database(t), Workspace: pgtest.Name(t)}
}

// shared returns the server that all tests share, and the options of a store in a database of its own.
func shared(t testing.TB) (*pgtest.Server, postgres.Options) {
	t.Helper()
	return pgtest.Shared(t), options(t, pgtest.Shared(t))
}

// own returns a server of the test's own, which starts beside others, and the options of a store there.
func own(t *testing.T, settings ...string) (*pgtest.Server, postgres.Options) {
	t.Helper()
	t.Parallel()
	server := pgtest.Own(t, settings...)
	return server, options(t, server)
}

func appendOne(tx store.Tx) error {
	_, err := tx.Append(store.Event{Type: core.LedgerChanged, Subject: "plan", At: 1, Data: "{}"})
	return err
}

func newest(t testing.TB, s store.Store) (seq int64) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) (err error) {
		_, seq, err = tx.Bounds()
		return err
	}))
	return seq
}

func requireKind(t testing.TB, err error, kind store.Kind) {
	t.Helper()
	fault, ok := errors.AsType[*store.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, kind, fault.Kind, "kind of %v", err)
}

// TestWorkspacesAreApart: what one has, another has not, though the tables are the same.
func TestWorkspacesAreApart(t *testing.T) {
	o := options(t, pgtest.Shared(t))
	one := open(t, o)
	require.NoError(t, one.Update(t.Context(), appendOne))
	o.Workspace = pgtest.Name(t)
	other := open(t, o)
	require.Zero(t, newest(t, other))
	require.NoError(t, other.Update(t.Context(), appendOne))
	require.EqualValues(t, 1, newest(t, one))
}

// TestReadOnlyStoreIsNotWritten: one that was opened for reading is not written, and one that is not there is not made.
func TestReadOnlyStoreIsNotWritten(t *testing.T) {
	o := options(t, pgtest.Shared(t))
	require.NoError(t, open(t, o).Update(t.Context(), appendOne))
	o.ReadOnly = true
	s := open(t, o)
	require.EqualValues(t, 1, newest(t, s))
	requireKind(t, s.Update(t.Context(), appendOne), store.ReadOnly)
	require.True(t, s.Status(t.Context()).ReadOnly)
	o.Workspace = pgtest.Name(t)
	_, err := postgres.Open(t.Context(), o)
	requireKind(t, err, store.ReadOnly)
	require.ErrorContains(t, err, "there is no workspace")
	o.ReadOnly = false
	require.Zero(t, newest(t, open(t, o)))
}

// TestWholeStoresTakeLonger: what goes through all of a store has another limit than other calls.
func TestWholeStoresTakeLonger(t *testing.T) {
	o := options(t, pgtest.Shared(t))
	nothing := func(tx store.Tx) error {
		_, _, err := tx.Bounds()
		return err
	}
	hasty := open(t, o)
	hasty.LimitCalls(time.Nanosecond)
	require.Error(t, hasty.View(t.Context(), nothing))
	require.Error(t, hasty.Update(t.Context(), nothing))
	o.Whole = soon
	patient := open(t, o)
	patient.LimitCalls(time.Nanosecond)
	require.NoError(t, patient.View(t.Context(), nothing))
	require.NoError(t, patient.Update(t.Context(), nothing))
}

// TestFaultS4_RowsThatNobodyWrote are found, and hold up no other.
func TestFaultS4_RowsThatNobodyWrote(t *testing.T) {
	server, o := shared(t)
	s := open(t, o)
	for range 3 {
		require.NoError(t, s.Update(t.Context(), appendOne))
	}
	server.Run(t, o.URL, "UPDATE waybill.events SET data = 'x' WHERE seq = 2")
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.Damage{{What: "event 2", Detail: "it is not what was written"}}, damage)
	requireKind(t, s.View(t.Context(), func(tx store.Tx) error {
		_, err := tx.Events(0, 10, nil)
		return err
	}), store.Corrupt)
	require.NoError(t, s.Update(t.Context(), appendOne))
	require.Len(t, s.Status(t.Context()).Degraded, 1)
}

// TestFaultS19_BackendKilledInAChange: the change is made anew on another connection.
func TestFaultS19_BackendKilledInAChange(t *testing.T) {
	server, o := shared(t)
	s := open(t, o)
	runs := 0
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		if runs++; runs <= 3 {
			server.Run(t, server.Admin(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = '"+database(t, o.URL)+"'")
		}
		return appendOne(tx)
	}))
	require.Equal(t, 4, runs, "three runs lost their connection")
	require.EqualValues(t, 1, newest(t, s))
}

func database(t testing.TB, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u.Path[1:]
}

// TestFaultS18_CommitIsCutOff: the connection is lost, or the server crashes as one whose disk has failed does, and comes
// back, before or after the commit takes effect. The change is made exactly once, and said to be.
func TestFaultS18_CommitIsCutOff(t *testing.T) {
	t.Parallel()
	own := pgtest.Own(t)
	for what, server := range map[string]*pgtest.Server{"connection": pgtest.Shared(t), "server": own} {
		for when, cut := range map[string]func(*proxy){
			"before it takes effect": func(p *proxy) { p.dropRequest.Store(true) },
			"before its answer":      func(p *proxy) { p.dropAnswer.Store(true) },
		} {
			t.Run(what+" "+when, func(t *testing.T) {
				o := options(t, server)
				p := startProxy(t, o.URL)
				o.URL = p.url
				s := open(t, o)
				require.NoError(t, s.Update(t.Context(), appendOne))
				restarted := make(chan error, 1)
				if server == own {
					p.whenCut.Store(new(func() { restarted <- errors.Join(server.End("immediate"), server.Start()) }))
				} else {
					restarted <- nil
				}
				runs := 0
				require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
					if runs++; runs == 1 {
						cut(p)
					}
					return appendOne(tx)
				}))
				require.NoError(t, <-restarted)
				require.EqualValues(t, 2, newest(t, s))
				require.EqualValues(t, 1, p.cuts.Load())
			})
		}
	}
}

// TestFaultS18_ServerStaysAway: nobody is told that a change was made or was not if nobody can know.
func TestFaultS18_ServerStaysAway(t *testing.T) {
	t.Parallel()
	o := options(t, pgtest.Shared(t))
	p := startProxy(t, o.URL)
	s := open(t, postgres.Options{URL: p.url, Workspace: o.Workspace})
	err := s.Update(t.Context(), func(tx store.Tx) error {
		err := appendOne(tx)
		p.whenCut.Store(new(func() { p.closed.Store(true) }))
		p.dropAnswer.Store(true)
		s.LimitCalls(2 * time.Second)
		return err
	})
	requireKind(t, err, store.IO)
	fault, _ := errors.AsType[*store.Error](err)
	require.Equal(t, store.Unknown, fault.Outcome)
	direct := open(t, o)
	require.NoError(t, direct.Update(t.Context(), appendOne), "it waits for what is under way")
	require.EqualValues(t, 2, newest(t, direct), "the other one was made")
}

// TestServerEndsAndComesBack: calls are refused while it is away, and go on when it is back, with everything that was
// promised.
func TestServerEndsAndComesBack(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	s := open(t, options(t, server).Limiting(2*time.Second))
	require.NoError(t, s.Update(t.Context(), appendOne))
	require.NoError(t, server.End("immediate"))
	requireKind(t, s.Update(t.Context(), appendOne), store.IO)
	requireKind(t, s.View(t.Context(), appendOne), store.IO)
	require.NotEmpty(t, s.Status(t.Context()).Degraded)
	require.NoError(t, server.Start())
	require.Eventually(t, func() bool { return s.Update(t.Context(), appendOne) == nil }, soon, 10*time.Millisecond)
	require.EqualValues(t, 2, newest(t, s))
}

// TestFaultS19_ServerThatDoesNotSync is asked to, for each change, and the status names what is off.
func TestFaultS19_ServerThatDoesNotSync(t *testing.T) {
	server, o := own(t, "synchronous_commit = off", "full_page_writes = off")
	s := open(t, o)
	require.NoError(t, s.Update(t.Context(), appendOne))
	noted := s.Status(t.Context()).Degraded
	require.Len(t, noted, 2)
	require.Contains(t, noted[0], "synchronous_commit")
	require.Contains(t, noted[1], "full_page_writes")
	requireSynced(t, server, s, o)
}

// TestFaultS19_ServerIsToldNotToSync: who has a connection by then waits for the disk all the same.
func TestFaultS19_ServerIsToldNotToSync(t *testing.T) {
	server, o := own(t)
	s := open(t, o)
	require.NoError(t, s.Update(t.Context(), appendOne))
	server.Run(t, o.URL, "ALTER SYSTEM SET synchronous_commit = off")
	server.Run(t, o.URL, "SELECT pg_reload_conf()")
	for server.Ask(t, o.URL, "SHOW synchronous_commit") != "off" {
	}
	requireSynced(t, server, s, o)
	require.Eventually(t, func() bool { return len(s.Status(t.Context()).Degraded) == 1 }, soon, 5*time.Millisecond)
	require.Contains(t, s.Status(t.Context()).Degraded[0], "synchronous_commit")

	server.Run(t, o.URL, "ALTER SYSTEM RESET synchronous_commit")
	server.Run(t, o.URL, "SELECT pg_reload_conf()")
	require.Eventually(t, func() bool { return len(s.Status(t.Context()).Degraded) == 0 }, soon, 5*time.Millisecond, "it was mended")
}

// TestWhatAServerCannotDoWasTakenForAStandby: the same code says both.
func TestWhatAServerCannotDoWasTakenForAStandby(t *testing.T) {
	server, o := shared(t)
	s := open(t, o)
	server.Run(t, o.URL, "CREATE FUNCTION waybill.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE feature_not_supported; END $$; "+
		"CREATE TRIGGER no BEFORE INSERT ON waybill.events FOR EACH ROW EXECUTE FUNCTION waybill.no()")
	requireKind(t, s.Update(t.Context(), appendOne), store.IO)
	server.Run(t, o.URL, "DROP TRIGGER no ON waybill.events")
	require.NoError(t, s.Update(t.Context(), appendOne))
}

// requireSynced checks that a change waits for the disk.
func requireSynced(t *testing.T, server *pgtest.Server, s *postgres.Store, o postgres.Options) {
	t.Helper()
	server.Run(t, o.URL, "CREATE FUNCTION waybill.synced() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+
		"IF current_setting('synchronous_commit') = 'off' THEN RAISE 'it does not wait for the disk'; END IF; RETURN NEW; END $$")
	server.Run(t, o.URL, "CREATE TRIGGER synced BEFORE UPDATE ON waybill.workspaces FOR EACH ROW EXECUTE FUNCTION waybill.synced()")
	for range 3 {
		require.NoError(t, s.Update(t.Context(), appendOne))
	}
}

// TestFaultS3_RightsThatAreMissing are named, and what to do.
func TestFaultS3_RightsThatAreMissing(t *testing.T) {
	server, o := shared(t)
	server.Run(t, o.URL, "DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN")
	u, err := url.Parse(o.URL)
	require.NoError(t, err)
	u.User = url.UserPassword("stranger", "hunter2")
	_, err = postgres.Open(t.Context(), postgres.Options{URL: u.String(), Workspace: "a"})
	requireKind(t, err, store.Unsafe)
	require.ErrorContains(t, err, "GRANT CREATE")
	require.NotContains(t, err.Error(), "hunter2")
}

// TestFaultS16_LongViewIsEnded: it would hold back what the server clears away.
func TestFaultS16_LongViewIsEnded(t *testing.T) {
	s := open(t, options(t, pgtest.Shared(t)).Viewing(time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	requireKind(t, s.View(ctx, func(tx store.Tx) error {
		for {
			if _, _, err := tx.Bounds(); err != nil {
				return err
			}
		}
	}), store.Cancelled)
	require.NoError(t, ctx.Err())
}

// A proxy carries bytes between a store and a server, and cuts the connection that a commit is on when it is told to.
type proxy struct {
	url                     string
	server                  atomic.Pointer[string] // where it leads to
	dropRequest, dropAnswer atomic.Bool
	closed                  atomic.Bool            // it lets nothing through
	whenCut                 atomic.Pointer[func()] // what happens before the client learns that a connection was cut
	cuts                    atomic.Int64
}

func startProxy(t *testing.T, server string) *proxy {
	t.Helper()
	p := &proxy{}
	var real string
	p.url, real = standBefore(t, server, p.carry)
	p.server.Store(&real)
	return p
}

// standBefore has serve serve who connects, gives the URL for that, and tells where the server is.
func standBefore(t *testing.T, server string, serve func(net.Conn)) (here, there string) {
	t.Helper()
	u, err := url.Parse(server)
	require.NoError(t, err)
	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = at.Close() })
	go func() { // ends when the listener is closed
		for {
			c, err := at.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	there, u.Host = u.Host, at.Addr().String()
	return u.String(), there
}

func (p *proxy) carry(client net.Conn) {
	defer func() { _ = client.Close() }()
	if p.closed.Load() {
		return
	}
	server, err := net.Dial("tcp", *p.server.Load())
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	answers := make(chan struct{})
	var cut atomic.Bool
	go func() { // ends when the server or the client does
		defer close(answers)
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if err == nil && cut.Load() {
				p.act()
			}
			if err != nil || cut.Load() {
				_ = client.Close()
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	p.requests(client, server, &cut)
	if !cut.Load() {
		_ = server.Close()
	}
	<-answers
}

// requests carries what the client says. The first script behind a command to cut is the one with the commit.
func (p *proxy) requests(client io.Reader, server io.Writer, cut *atomic.Bool) {
	buf := make([]byte, 1<<16)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		commit := n > 0 && buf[0] == 'Q' && bytes.LastIndex(buf[:n], []byte("COMMIT")) > 6
		if commit && p.dropRequest.CompareAndSwap(true, false) {
			p.cuts.Add(1)
			p.act()
			return
		}
		if commit && p.dropAnswer.CompareAndSwap(true, false) {
			p.cuts.Add(1)
			cut.Store(true)
		}
		if p.closed.Load() && !cut.Load() {
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// act does what happens when a connection is cut.
func (p *proxy) act() {
	if f := p.whenCut.Load(); f != nil {
		(*f)()
	}
}

func requireNotApplied(t testing.TB, err error) {
	t.Helper()
	fault, ok := errors.AsType[*store.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, store.NotApplied, fault.Outcome)
}
