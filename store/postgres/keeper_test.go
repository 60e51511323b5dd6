package postgres_test

import (
	"encoding/binary"
	"io"
	"net"
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
func (k *keeper) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	hello, err := readMessage(client, 0)
	if err != nil {
		return
	}
	server, welcome, err := k.call(hello)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	for answer := welcome; ; {
		if _, err := client.Write(answer); err != nil {
			return
		}
		request, err := readUntil(client, "QSX")
		if err != nil {
			return
		}
		lost := request[0] == 'Q' && containsCommit(request) && k.loses.CompareAndSwap(true, false)
		if lost && !k.reaches.Load() {
			answer = nil
		} else if answer, err = ask(server, request); err != nil {
			return
		}
		if lost {
			_ = server.Close()
			if server, _, err = k.call(hello); err != nil {
				return
			}
			answer = lostServer()
		}
	}
}

// call connects to the server, and returns what it says to that.
func (k *keeper) call(hello []byte) (server net.Conn, welcome []byte, err error) {
	if server, err = net.Dial("tcp", k.server); err != nil {
		return nil, nil, err
	}
	welcome, err = ask(server, hello)
	return server, welcome, err
}

// ask sends a request and returns the answer, up to where the server is ready for the next one.
func ask(server net.Conn, request []byte) (answer []byte, err error) {
	if _, err := server.Write(request); err != nil {
		return nil, err
	}
	return readUntil(server, "Z")
}

// lostServer is what a client is told that goes on.
func lostServer() []byte {
	said, err := (&pgproto3.ErrorResponse{Severity: "ERROR", Code: "08006", Message: "the server was lost"}).Encode(nil)
	if err == nil {
		said, err = (&pgproto3.ReadyForQuery{TxStatus: 'I'}).Encode(said)
	}
	if err != nil {
		panic(err)
	}
	return said
}

// readUntil reads messages up to one of those types, with it.
func readUntil(from io.Reader, last string) (all []byte, err error) {
	for {
		m, err := readMessage(from, 1)
		if err != nil {
			return nil, err
		}
		all = append(all, m...)
		for _, kind := range []byte(last) {
			if m[0] == kind {
				return all, nil
			}
		}
	}
}

// readMessage reads a message whose length stands behind that many bytes.
func readMessage(from io.Reader, before int) ([]byte, error) {
	head := make([]byte, before+4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	m := append(head, make([]byte, binary.BigEndian.Uint32(head[before:])-4)...)
	_, err := io.ReadFull(from, m[len(head):])
	return m, err
}
