package web_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzHead sends heads with any host and origin: only a request to this very address, from nowhere else, is served;
// everything else is refused with a JSON error, and the server goes on.
func FuzzHead(f *testing.F) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f, err)
	h := newHarness(f, setup{listener: listener})
	_, port, err := net.SplitHostPort(h.at)
	require.NoError(f, err)
	for _, host := range []string{"HERE", "localhost:PORT", "[::1]:PORT", "evil.test", "evil.test:PORT", "HERE, evil.test", "", "[", "a\r\nHost: b"} {
		for _, origin := range []string{"", "http://HERE", "http://localhost:PORT", "null", "http://evil.test", "http://[", "\x00"} {
			f.Add(host, origin)
		}
	}
	here := strings.NewReplacer("HERE", h.at, "PORT", port)
	f.Fuzz(func(t *testing.T, host, origin string) {
		host, origin = here.Replace(host), here.Replace(origin)
		if len(host)+len(origin) > 4<<10 || strings.ContainsAny(host+origin, "\n") {
			return // it may hold a whole request of its own
		}
		conn, err := net.Dial("tcp", h.at)
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		_, err = fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nConnection: close\r\n\r\n", host, origin)
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		answer{t: t, header: res.Header}.requireSecurityHeaders()
		var body struct {
			OK    bool
			Error struct{ Data struct{ Code string } }
		}
		require.NoError(t, json.NewDecoder(res.Body).Decode(&body))
		host, origin = strings.Trim(host, " \t\r"), strings.Trim(origin, " \t\r") // as every reader of a head does
		served := slices.Contains([]string{h.at, "localhost:" + port, "[::1]:" + port}, host) && origin == "http://"+host
		require.Equal(t, served, body.OK, "host %q, origin %q: %d", host, origin, res.StatusCode)
		require.Equal(t, served, res.StatusCode == http.StatusOK)
		require.Equal(t, served, body.Error.Data.Code == "")
	})
}
