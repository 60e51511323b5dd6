package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A head comes a byte at a time, or not at all.
func TestFaultW9_SlowHeadIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		conn := h.connect()
		began := time.Now()
		dripped := make(chan struct{})
		go func() { // ends when the connection does
			defer close(dripped)
			drip(conn, 'G')
		}()
		h.hear(bufio.NewReader(conn)).refused(400, schema.InvalidRequest)
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

// drip writes a byte each second, as long as somebody reads.
func drip(conn net.Conn, char byte) {
	for {
		if _, err := conn.Write([]byte{char}); err != nil {
			return
		}
		time.Sleep(time.Second) // of the bubble
	}
}

// A body is announced and comes a byte at a time.
func TestFaultW9_SlowBodyIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		conn := h.connect()
		began := time.Now()
		_, err := fmt.Fprintf(conn, "POST /api/codes HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n", place, token)
		require.NoError(t, err)
		dripped := make(chan struct{})
		go func() { // ends when the connection does
			defer close(dripped)
			drip(conn, ' ')
		}()
		h.hear(bufio.NewReader(conn)).refused(503, schema.Cancelled)
		require.Equal(t, 30*time.Second, time.Since(began))
		_ = conn.Close()
		<-dripped
	})
}

// Who has no token does not even get a body read.
func TestFaultW9_BodyOfAStrangerIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		began := time.Now()
		a := h.raw("POST /api/codes HTTP/1.1\r\nHost: " + place + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
		a.refused(401, schema.Unauthorized)
		require.Zero(t, time.Since(began))
	})
}

// A client asks for much and reads nothing.
func TestFaultW9_AnswerThatNobodyTakesIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		conn := h.connect()
		began := time.Now()
		_, err := fmt.Fprintf(conn, "GET /api/openrpc HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", place, token)
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		_, err = conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, 10*time.Second, time.Since(began))
	})
}

// Connections are opened on which nothing is ever said.
func TestFaultW9_SilentConnectionsKeepNobodyOut(t *testing.T) {
	many := 1000
	if raceEnabled {
		many = 200
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := build(t, plot{listener: listener})
	var silent []net.Conn
	for range many {
		conn := h.connect()
		silent = append(silent, conn)
	}
	h.ask("GET", "/healthz", "").ok()
	for i, conn := range silent[:many-64] { // the oldest had to go
		_, err := conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "%d", i)
	}
	for _, conn := range silent {
		_ = conn.Close()
	}
}

// Logging in is for those who have no token yet, so all of them can be slow at it.
func TestFaultW9_SlowLoginsKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		var slow []net.Conn
		for range 64 {
			conn := h.connect()
			slow = append(slow, conn)
			_, err := fmt.Fprintf(conn, "POST /api/login HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n", place)
			require.NoError(t, err)
		}
		synctest.Wait()
		h.ask("GET", "/healthz", "").ok()
		gone := 0
		for _, conn := range slow {
			if _, err := conn.Write([]byte("{")); err != nil {
				gone++
			}
			_ = conn.Close()
		}
		require.Equal(t, 1, gone, "one gave way")
	})
}

// All connections are in use: the next one is told so, and none of the others suffers.
func TestFaultW9_MoreCallsThanRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, release := make(chan struct{}), make(chan struct{})
		h := build(t, plot{methods: map[string]func(starter) starter{"get_status": func(start starter) starter {
			return blocking(start, running, release)
		}}})
		answers := make(chan answer, 64)
		for range 64 {
			go func() { answers <- h.ask("GET", "/api/status", "") }() // ends when it is released
			<-running
		}
		a := h.ask("GET", "/healthz", "")
		a.refused(429, schema.Overloaded)
		close(release)
		for range 64 {
			(<-answers).ok()
		}
		h.ask("GET", "/healthz", "").ok()
	})
}

// A body that is too large is not read; one whose size is not said is read up to the limit.
func TestFaultW11_LargeAndPackedBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		id := h.asked()
		reply := "/api/tasks/" + id + "/reply"
		head := "POST " + reply + " HTTP/1.1\r\nHost: " + place + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\n"
		o := h.raw(head+"Content-Length: 131073\r\n\r\n").refused(413, schema.TooLarge)
		require.Equal(t, "131072", o.str("error.data.details.limit"))
		h.raw(head+"Content-Length: 9223372036854775807\r\n\r\n").refused(413, schema.TooLarge)
		chunk := "4000\r\n" + strings.Repeat(" ", 0x4000) + "\r\n"
		h.raw(head+"Transfer-Encoding: chunked\r\n\r\n"+strings.Repeat(chunk, 9)).refused(413, schema.TooLarge)
		for _, coding := range []string{"gzip", "identity", "br", ""} {
			h.ask("POST", reply, `{"reply":"x"}`, "Content-Encoding: "+coding).refused(415, schema.WrongMedia)
		}
		h.ask("GET", "/api/tasks", "{}").refused(400, schema.InvalidRequest)
		h.raw("GET /api/tasks HTTP/1.1\r\nHost: "+place+"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").refused(400, schema.InvalidRequest)
		h.ask("POST", reply, `{"reply":"`+strings.Repeat("x", 1+schema.MaxReplyBytes)+`"}`).refused(413, schema.TooLarge)
		text := `{"reply":"elm"}`
		h.raw(head + "Transfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(int64(len(text)), 16) + "\r\n" + text + "\r\n0\r\n\r\n").ok()
	})
}
