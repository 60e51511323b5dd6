package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/slow"
)

// A head comes a byte at a time, or not at all.
func TestSlowHeadTimesOut(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		conn := h.connect()
		began := time.Now()
		dripped := make(chan struct{})
		go func() { // ends when the connection does
			defer close(dripped)
			writeSlowly(conn, 'G')
		}()
		h.readAnswer(bufio.NewReader(conn)).requireError(400, schema.InvalidRequest)
		require.Equal(t, 5*time.Second, time.Since(began))
		_ = conn.Close()
		<-dripped

		silent := h.connect()
		began = time.Now()
		_, err := silent.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

// writeSlowly writes a byte each second until the connection is closed.
func writeSlowly(conn net.Conn, char byte) {
	for {
		if _, err := conn.Write([]byte{char}); err != nil {
			return
		}
		time.Sleep(time.Second) // of the bubble
	}
}

// A body is announced and comes a byte at a time.
func TestSlowBodyTimesOut(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		conn := h.connect()
		began := time.Now()
		_, err := fmt.Fprintf(conn, "POST /api/codes HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n", testAddress, testToken)
		require.NoError(t, err)
		dripped := make(chan struct{})
		go func() { // ends when the connection does
			defer close(dripped)
			writeSlowly(conn, ' ')
		}()
		h.readAnswer(bufio.NewReader(conn)).requireError(503, schema.Cancelled)
		require.Equal(t, 30*time.Second, time.Since(began))
		_ = conn.Close()
		<-dripped
	})
}

// Without a token the body is not read.
func TestBodyWithoutATokenIsNotRead(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		began := time.Now()
		a := h.sendRaw("POST /api/codes HTTP/1.1\r\nHost: " + testAddress + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
		a.requireError(401, schema.Unauthorized)
		require.Zero(t, time.Since(began))
	})
}

// A client requests a large answer and reads nothing.
func TestUnreadAnswerTimesOut(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		conn := h.connect()
		began := time.Now()
		_, err := fmt.Fprintf(conn, "GET /api/openrpc HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", testAddress, testToken)
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		_, err = conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, 10*time.Second, time.Since(began))
	})
}

// Requests without a token can be slow or leave their answers unread, in any number. The oldest connection gives way.
func TestSlowRequestsWithoutATokenDoNotBlockOthers(t *testing.T) {
	for _, request := range []string{
		"POST /api/login HTTP/1.1\r\nHost: " + testAddress + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n",
		"GET /healthz HTTP/1.1\r\nHost: " + testAddress + "\r\n\r\n",
	} {
		serve(t, func(t *testing.T, h *harness) {
			var slow []net.Conn
			for range 256 {
				conn := h.connect()
				slow = append(slow, conn)
				_, err := io.WriteString(conn, request)
				require.NoError(t, err)
			}
			synctest.Wait()
			h.ask("GET", "/api/status", "").requireOK()
			for i, conn := range slow {
				_, err := conn.Write([]byte("{"))
				require.Equal(t, i == 0, err != nil, "%d", i)
				_ = conn.Close()
			}
		})
	}
}

// Clients open connections and send nothing. The oldest of these give way, and never an idle connection with a token.
func TestSilentConnectionsDoNotBlockOthers(t *testing.T) {
	many := 1000
	if slow.Race {
		many = 400
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := newHarness(t, setup{listener: listener})
	conn := h.connect()
	in := bufio.NewReader(conn)
	ask := func() {
		_, err := fmt.Fprintf(conn, "GET /api/status HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", h.at, testToken)
		require.NoError(t, err)
		h.readAnswer(in).requireOK()
	}
	ask()
	var silent []net.Conn
	for range many {
		silent = append(silent, h.connect())
	}
	ask()
	h.ask("GET", "/api/status", "").requireOK()
	for i, conn := range silent[:many-256] {
		_, err := conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "%d", i)
	}
	for _, conn := range silent {
		_ = conn.Close()
	}
}

// Clients that connected in a loop closed the connection of another one before its request was read.
func TestConnectionWasClosedBeforeItsRequestCouldBeRead(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		conn := h.connect()
		var crowd []net.Conn
		for range 256 {
			crowd = append(crowd, h.connect())
		}
		_, err := fmt.Fprintf(conn, "GET /api/status HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", h.at, testToken)
		require.NoError(t, err)
		h.readAnswer(bufio.NewReader(conn)).requireOK()
		h.ask("GET", "/api/status", "").requireOK()
		for _, conn := range crowd {
			_ = conn.Close()
		}
	})
}

// A machine that was too busy to read a request in time closed its connection for those of others.
func TestConnectionWasClosedBeforeTheServerReadIt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	busy := make(chan struct{}) // closed when the machine has time for the first connection
	h := newHarness(t, setup{listener: &busyListener{Listener: l, busy: busy}})
	conn := h.connect()
	_, err = fmt.Fprintf(conn, "GET /api/status HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", h.at, testToken)
	require.NoError(t, err)
	var crowd []net.Conn
	for range 256 {
		crowd = append(crowd, h.connect())
	}
	_, err = crowd[0].Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the oldest of those that were read")
	close(busy)
	h.readAnswer(bufio.NewReader(conn)).requireOK()
	for _, conn := range crowd {
		_ = conn.Close()
	}
}

// A busyListener has no time for its first connection: asking for the address of its client, which the server does
// before it reads, takes until busy is closed.
type busyListener struct {
	net.Listener
	busy     <-chan struct{}
	accepted bool
}

func (l *busyListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil || l.accepted {
		return conn, err
	}
	l.accepted = true
	return busyConn{conn, l.busy}, nil
}

type busyConn struct {
	net.Conn
	busy <-chan struct{}
}

func (c busyConn) RemoteAddr() net.Addr {
	<-c.busy
	return c.Conn.RemoteAddr()
}

// When all connections with a token are busy, the next one is refused and the others go on.
func TestConnectionsWithATokenAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, release := make(chan struct{}), make(chan struct{})
		h := newHarness(t, setup{methods: methods{"get_status": blockingMethod(running, release)}})
		answers := make(chan answer, 64)
		for range 64 {
			go func() { answers <- h.ask("GET", "/api/status", "") }() // ends when it is released
			<-running
		}
		h.ask("GET", "/api/tasks", "").requireError(429, schema.Overloaded)
		h.ask("GET", "/healthz", "").requireOK()
		close(release)
		for range 64 {
			(<-answers).requireOK()
		}
		h.ask("GET", "/healthz", "").requireOK()
	})
}
