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

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/web"
)

// Heads that are none, or hide another.
func TestBrokenHeadsAreRefused(t *testing.T) {
	const host = "Host: " + testAddress + "\r\n"
	for name, c := range map[string]struct {
		text   string
		status int
		code   schema.Code
	}{
		"no request at all":      {"hello\r\n\r\n", 400, schema.InvalidRequest},
		"binary":                 {"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, schema.InvalidRequest},
		"line end in a name":     {"GET /healthz HTTP/1.1\r\n" + host + "X\n-Y: z\r\n\r\n", 400, schema.InvalidRequest},
		"carriage return":        {"GET /healthz HTTP/1.1\r\n" + host + "X-Y: a\rb\r\n\r\n", 400, schema.InvalidRequest},
		"zero byte":              {"GET /healthz HTTP/1.1\r\n" + host + "X-Y: a\x00b\r\n\r\n", 400, schema.InvalidRequest},
		"space before colon":     {"GET /healthz HTTP/1.1\r\n" + host + "X-Y : z\r\n\r\n", 400, schema.InvalidRequest},
		"malformed host":         {"GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n", 400, schema.InvalidRequest},
		"host with a path":       {"GET /healthz HTTP/1.1\r\nHost: " + testAddress + "/x\r\n\r\n", 400, schema.InvalidRequest},
		"host with a user":       {"GET /healthz HTTP/1.1\r\nHost: me@" + testAddress + "\r\n\r\n", 400, schema.InvalidRequest},
		"host without an end":    {"GET /healthz HTTP/1.1\r\nHost: [::1\r\n\r\n", 403, schema.Forbidden},
		"malformed origin":       {"GET /healthz HTTP/1.1\r\n" + host + "Origin: http://[::1\r\n\r\n", 403, schema.Forbidden},
		"half an escape":         {"GET /api/%zz HTTP/1.1\r\n" + host + "\r\n", 400, schema.InvalidRequest},
		"no such version":        {"GET /healthz HTTP/3.0\r\n" + host + "\r\n", 505, schema.InvalidRequest},
		"no such expectation":    {"GET /healthz HTTP/1.1\r\n" + host + "Expect: the-worst\r\n\r\n", 417, schema.InvalidRequest},
		"endless head":           {"GET /healthz HTTP/1.1\r\n" + host + "X-Y: " + strings.Repeat("z", 17<<10) + "\r\n\r\n", 431, schema.MessageTooLarge},
		"endless request line":   {"GET /healthz?" + strings.Repeat("z", 17<<10) + " HTTP/1.1\r\n" + host + "\r\n", 431, schema.MessageTooLarge},
		"unknown coding":         {"POST /api/login HTTP/1.1\r\n" + host + "Transfer-Encoding: br\r\n\r\n", 501, schema.InvalidRequest},
		"negative length":        {"POST /api/login HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400, schema.InvalidRequest},
		"two lengths":            {"POST /api/login HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, schema.InvalidRequest},
		"length and two codings": {"POST /api/login HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked, identity\r\n\r\n", 501, schema.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			serve(t, func(t *testing.T, h *harness) {
				h.sendRaw(c.text).requireError(c.status, c.code)
				h.ask("GET", "/healthz", "").requireOK()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // what fits is read
		h := newHarness(t, setup{})
		h.sendRaw("GET /healthz HTTP/1.1\r\n" + host + "X-Y: " + strings.Repeat("z", 15<<10) + "\r\n\r\n").requireOK()
	})
}

// Paths that lead elsewhere in servers that clean them, and verbs that are none.
func TestPathsAreNotCleanedOrRedirected(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		for _, path := range []string{
			"/", "//", "//evil.test/%2e%2e", "/api", "/api/", "/api/tasks/", "/api//tasks", "/api/./tasks", "/api/x/../tasks", "/api/%2e%2e/healthz",
			"/%2e%2e/etc/passwd", "/api/tasks/..%2f..%2fetc", "/API/tasks", "/api/tasks;x=1", "/healthz/", "/api/%74asks", "/debug/pprof/", "/index.html",
		} {
			a := h.ask("GET", path, "")
			require.Equal(t, 404, a.status, path)
			a.requireSecurityHeaders()
		}
		for _, verb := range []string{"TRACE", "PUT", "DELETE", "PATCH", "HEAD", "CONNECT", "PROPFIND", "get"} {
			a := h.ask(verb, "/api/tasks", "")
			require.Equal(t, 405, a.status, verb)
			require.Equal(t, "GET", a.header.Get("Allow"), verb)
			a.requireSecurityHeaders()
		}
		h.ask("POST", "/api/tasks", "{}", "X-HTTP-Method-Override: GET").requireError(405, schema.WrongVerb)
		o := h.ask("PUT", "/api/plans/a/items/1/run", "").requireError(405, schema.WrongVerb)
		require.Equal(t, "[GET POST]", o.str("error.data.details.allow"))
	})
}

// An address that other machines can reach.
func TestOnlyLoopbackAddressesAreAccepted(t *testing.T) {
	for _, text := range []string{
		"0.0.0.0:0", "[::]:0", ":8080", "192.168.1.2:80", "example.com:80", "10.0.0.1:1", "[fe80::1%lo]:1", "[::ffff:10.0.0.1]:1", "localhost.evil.test:1",
		"127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80", "",
	} {
		_, err := web.ParseAddress(text)
		require.Error(t, err, text)
		require.Contains(t, err.Error(), strconv.Quote(text))
	}
	for _, text := range []string{"127.0.0.1:0", "localhost:0", "127.8.9.10:0", "[::ffff:127.0.0.1]:0"} {
		address, err := web.ParseAddress(text)
		require.NoError(t, err, text)
		listener, err := address.Listen(t.Context())
		require.NoError(t, err, text)
		require.True(t, listener.Addr().(*net.TCPAddr).IP.IsLoopback(), text)
		require.Regexp(t, `^http://127\.\d+\.\d+\.\d+:\d+$`, web.URL(listener))
		_ = listener.Close()
	}
	public, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	defer func() { _ = public.Close() }()
	o := optionsOf()
	o.Listener = public
	require.ErrorContains(t, web.Serve(t.Context(), o), "no loopback address")
}

// Another protocol is offered, and a second request is hidden in the first.
func TestOnlyHTTP1IsSpokenAndAmbiguousHeadsCloseTheConnection(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		const host = "Host: " + testAddress + "\r\n"
		h.sendRaw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").requireError(403, schema.Forbidden)
		a := h.sendRaw("GET /healthz HTTP/1.1\r\n" + host + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
		a.requireOK()
		require.Empty(t, a.header.Get("Upgrade"))
		h.sendRaw("GET /healthz HTTP/1.1\r\n" + host + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n").requireOK()
		hidden := "GET /api/status HTTP/1.1\r\n" + host + "Authorization: Bearer " + testToken + "\r\n\r\n"
		conn := h.connect()
		written := make(chan struct{})
		go func() { // ends with the connection
			defer close(written)
			_, _ = fmt.Fprintf(conn, "POST /api/login HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s",
				host, 5+len(hidden), hidden)
		}()
		in := bufio.NewReader(conn)
		h.readAnswer(in).requireError(400, schema.InvalidParams) // of the empty body; the rest is not taken for a request
		_, err := in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		_ = conn.Close()
		<-written
	})
}

// A number that a float cannot hold.
func TestNumbersKeepTheirDigits(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		o := h.ask("GET", "/api/tasks?limit=9007199254740993", "").requireError(400, schema.InvalidParams)
		require.Contains(t, o.str("error.data.details.errors"), "9007199254740993")
		for _, limit := range []string{"1e2", "+5", "05", "5.0", "five", "", "99999999999999999999"} {
			h.ask("GET", "/api/tasks?limit="+limit, "").requireError(400, schema.InvalidParams)
		}
		h.ask("GET", "/api/tasks?limit=5", "").requireOK()
	})
}
