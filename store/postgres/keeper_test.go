package postgres_test

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/postgres/pgtest"
)

// TestFaultS18_PoolerLosesTheServerInACommit: some poolers keep a client whose server they have lost, and say so with a code
// of connections. The change is made exactly once all the same, and said to be.
func TestFaultS18_PoolerLosesTheServerInACommit(t *testing.T) {
	for name, reaches := range map[string]bool{"before it was sent on": false, "before its answer": true} {
		t.Run(name, func(t *testing.T) {
			o := options(t, pgtest.Shared(t))
			k := startKeeper(t, o.URL)
			s := open(t, postgres.Options{URL: k.url + "&pooler=yes", Workspace: o.Workspace})
			require.NoError(t, s.Update(t.Context(), appendOne))
			runs := 0
			require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
				if runs++; runs == 1 {
					k.reaches.Store(reaches)
					k.loses.Store(true)
				}
				return appendOne(tx)
			}))
			require.False(t, k.loses.Load(), "a commit was lost")
			require.Equal(t, reaches, runs == 1, "one that took effect is not made anew")
			require.EqualValues(t, 2, newest(t, s))
		})
	}
}

// A keeper stands between a store and a server as a pooler does that keeps its clients. When it is told to, it loses the
// server of the next commit.
type keeper struct {
	url     string
	server  string
	loses   atomic.Bool
	reaches atomic.Bool // the commit that is lost reaches the server, and only its answer does not come
}

func startKeeper(t *testing.T, server string) *keeper {
	t.Helper()
	k := &keeper{}
	k.url, k.server = standBefore(t, server, k.serve)
	return k
}

// serve carries requests and answers in turn, until one of the two sides ends.
func (k *keeper) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	client := pgproto3.NewBackend(conn, conn)
	hello, err := client.ReceiveStartupMessage()
	if err != nil {
		return
	}
	at, server, err := k.call(hello, client.Send)
	defer func() { _ = at.Close() }()
	for err == nil && client.Flush() == nil {
		request, failed := client.Receive()
		if failed != nil {
			return
		}
		query, isQuery := request.(*pgproto3.Query)
		lost := isQuery && strings.LastIndex(query.String, "COMMIT") > 1 && k.loses.CompareAndSwap(true, false)
		told := client.Send
		if lost {
			told = func(pgproto3.BackendMessage) {}
		}
		if !lost || k.reaches.Load() {
			server.Send(request)
			if _, isSync := request.(*pgproto3.Sync); isQuery || isSync {
				err = answer(server, told)
			}
		}
		if lost && err == nil {
			_ = at.Close()
			at, server, err = k.call(hello, told)
			client.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "08006", Message: "the server was lost"})
			client.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		}
	}
}

// call connects to the server, and tells what it says to that.
func (k *keeper) call(hello pgproto3.FrontendMessage, told func(pgproto3.BackendMessage)) (at net.Conn, server *pgproto3.Frontend, err error) {
	if at, err = net.Dial("tcp", k.server); err != nil {
		return new(net.TCPConn), nil, err
	}
	server = pgproto3.NewFrontend(at, at)
	server.Send(hello)
	return at, server, answer(server, told)
}

// answer tells what a server says to what it was sent, up to where it is ready for the next request.
func answer(server *pgproto3.Frontend, told func(pgproto3.BackendMessage)) error {
	if err := server.Flush(); err != nil {
		return err
	}
	for {
		m, err := server.Receive()
		if err != nil {
			return err
		}
		told(m)
		if _, ready := m.(*pgproto3.ReadyForQuery); ready {
			return nil
		}
	}
}
