package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/web"
)

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

// A second request is hidden in the first.
func TestAmbiguousHeadsCloseTheConnection(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		const host = "Host: " + testAddress + "\r\n"
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
