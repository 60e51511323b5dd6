package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/web"
)

// everywhere are requests that would all be served.
var everywhere = [][2]string{
	{"GET", "/healthz"},
	{"GET", "/readyz"},
	{"POST", "/api/login"},
	{"POST", "/api/codes"},
	{"GET", "/api/events"},
	{"GET", "/api/status"},
	{"POST", "/api/tasks/tsk_1/reply"},
	{"GET", "/nothing"},
}

// The name of a web site is made to point to this machine: its pages are then of our own origin, as the browser has it.
func TestFaultW1_ForeignHostIsRefusedBeforeAnythingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		for _, host := range []string{
			"evil.test", "evil.test:7777", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:77770", "127.0.0.2:7777", "0.0.0.0:7777", "localhost",
			"localhost.evil.test:7777", "127.0.0.1:7777.evil.test", "2130706433:7777", "127.1:7777", "[::ffff:127.0.0.1]:7777", "LOCALHOST:7777",
		} {
			for _, to := range everywhere {
				h.ask(to[0], to[1], "", "Host: "+host, "Origin: http://"+host, "Sec-Fetch-Site: same-origin").refused(403, schema.Forbidden)
			}
		}
		for _, host := range []string{"127.0.0.1:7777", "localhost:7777", "[::1]:7777"} {
			h.ask("GET", "/healthz", "", "Host: "+host).ok()
		}
	})
}

func TestFaultW1_HostThatIsSaidOtherwise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		h.raw("GET /healthz HTTP/1.0\r\n\r\n").refused(403, schema.Forbidden)
		h.raw("GET http://evil.test/healthz HTTP/1.1\r\nHost: "+place+"\r\n\r\n").refused(403, schema.Forbidden)
		h.raw("GET /healthz HTTP/1.1\r\nHost: " + place + "\r\nX-Forwarded-Host: evil.test\r\nForwarded: host=evil.test\r\n\r\n").ok()
		h.raw("GET /healthz HTTP/1.1\r\nHost: evil.test\r\nX-Forwarded-Host: "+place+"\r\n\r\n").refused(403, schema.Forbidden)
		h.raw("GET /healthz HTTP/1.1\r\nHost: "+place+"\r\nHost: evil.test\r\n\r\n").refused(400, schema.InvalidRequest)
		h.raw("GET /healthz HTTP/1.1\r\n\r\n").refused(400, schema.InvalidRequest)
	})
}

// A page of another origin sends what a browser lets it send without asking.
func TestFaultW2_PagesOfOthersChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		id := h.asked()
		reply := "/api/tasks/" + id + "/reply"
		const body = `{"reply":"elm"}`
		for _, media := range []string{
			"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json",
			"application/jsonp", "application/json; charset=utf-16", "application/json, text/plain", "; application/json", "",
		} {
			h.ask("POST", reply, body, "Content-Type: "+media).refused(415, schema.WrongMedia)
		}
		h.ask("POST", reply, body, "Content-Type").refused(415, schema.WrongMedia)
		h.ask("POST", reply, body, "Content-Type: application/json", "Content-Type: text/plain").refused(415, schema.WrongMedia)
		h.ask("POST", "/api/tasks/"+id+"/cancel", "", "Content-Type").refused(415, schema.WrongMedia)
		for _, origin := range []string{
			"http://127.0.0.1:8888", "http://localhost:7777", "https://127.0.0.1:7777", "http://127.0.0.1", "null", "http://evil.test", "",
		} {
			h.ask("POST", reply, body, "Origin: "+origin).refused(403, schema.Forbidden)
			h.ask("POST", "/api/login", `{"code":"x"}`, "Origin: "+origin).refused(403, schema.Forbidden)
			h.ask("GET", "/api/tasks", "", "Origin: "+origin).refused(403, schema.Forbidden)
		}
		for _, site := range []string{"cross-site", "same-site", "", "Same-Origin"} {
			h.ask("POST", reply, body, "Sec-Fetch-Site: "+site).refused(403, schema.Forbidden)
			h.ask("GET", "/api/events", "", "Sec-Fetch-Site: "+site).refused(403, schema.Forbidden)
		}
		h.ask("POST", reply, body, "Authorization", "Cookie: token="+token).refused(401, schema.Unauthorized)
		require.Equal(t, "AWAITING_RESPONSE", h.call("get_task", `{"task_id":%q}`, id).str("task.status"))
		h.ask("POST", reply, body, "Origin: http://"+place, "Sec-Fetch-Site: same-origin", `Content-Type: application/json; charset="UTF-8"`).ok()
	})
}

// A page asks for leave to read, includes an answer as a script, or opens a stream.
func TestFaultW3_NoOriginIsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		for _, to := range everywhere {
			a := h.ask("OPTIONS", to[1], "", "Origin: http://evil.test", "Access-Control-Request-Method: "+to[0],
				"Access-Control-Request-Headers: authorization", "Access-Control-Request-Private-Network: true")
			require.GreaterOrEqual(t, a.status, 400, to[1])
			a.guarded()
		}
		h.ask("OPTIONS", "/api/tasks", "").refused(405, schema.WrongVerb)
		h.ask("OPTIONS", "*", "").refused(404, schema.MethodNotFound)
		h.ask("GET", "/api/events", "", "Authorization").refused(401, schema.Unauthorized)
		h.ask("GET", "/api/tasks", "", "Sec-Fetch-Dest: script", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Site: cross-site").refused(403, schema.Forbidden)
		h.ask("GET", "/api/tasks", "").ok()
	})
}

func TestFaultW4_OnlyTheTokenInTheHeaderCounts(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		headers []string
	}{
		"none":              {"/api/tasks", []string{"Authorization"}},
		"in the query":      {"/api/tasks?token=" + token, []string{"Authorization"}},
		"in the query also": {"/api/tasks?access_token=" + token, []string{"Authorization: Bearer x"}},
		"empty":             {"/api/tasks", []string{"Authorization: Bearer "}},
		"no scheme":         {"/api/tasks", []string{"Authorization: " + token}},
		"another scheme":    {"/api/tasks", []string{"Authorization: Basic " + token}},
		"a beginning":       {"/api/tasks", []string{"Authorization: Bearer " + token[:63]}},
		"more":              {"/api/tasks", []string{"Authorization: Bearer " + token + "0"}},
		"capitals":          {"/api/tasks", []string{"Authorization: Bearer " + strings.ToUpper(token)}},
		"twice":             {"/api/tasks", []string{"Authorization: Bearer " + token, "Authorization: Bearer " + token}},
		"an old one":        {"/api/tasks", []string{"Authorization: Bearer " + web.NewToken()}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := build(t, plot{}).ask("GET", c.path, "", c.headers...)
				a.refused(401, schema.Unauthorized)
				require.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		build(t, plot{}).ask("GET", "/api/tasks", "", "Authorization: bearer "+token).ok()
	})
}

// Somebody tries tokens, as many as there is time for.
func TestFaultW4_GuessingIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		guess := func() answer { return h.ask("GET", "/api/tasks", "", "Authorization: Bearer guess") }
		for range 10 {
			guess().refused(401, schema.Unauthorized)
		}
		a := guess()
		a.refused(429, schema.Overloaded)
		require.Equal(t, "1", a.header.Get("Retry-After"))
		h.ask("POST", "/api/login", `{"code":"guess"}`).refused(429, schema.Overloaded)
		h.ask("GET", "/api/tasks", "").ok() // who has the token does not wait for who has not
		time.Sleep(time.Second)
		guess().refused(401, schema.Unauthorized)
	})
}

// What a browser is started with can be seen by others.
func TestFaultW5_CodeIsSpentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		issue := func() string {
			o := h.ask("POST", "/api/codes", "").ok()
			require.Equal(t, "60000", o.str("expires_in_ms"))
			require.NotContains(t, o.str("code"), token)
			return o.str("code")
		}
		login := func(code string) answer {
			return h.ask("POST", "/api/login", `{"code":"`+code+`"}`, "Authorization")
		}
		code := issue()
		require.NotEqual(t, code, issue())
		login("no such code").refused(401, schema.Unauthorized)
		require.Equal(t, token, login(code).ok().str("token"))
		login(code).refused(401, schema.Unauthorized)

		late := issue()
		time.Sleep(time.Minute)
		login(late).refused(401, schema.Unauthorized)

		codes := []string{}
		for range 17 {
			codes = append(codes, issue())
		}
		login(codes[0]).refused(401, schema.Unauthorized) // it gave way
		login(codes[1]).ok()
		login(codes[16]).ok()

		h.ask("POST", "/api/codes", "", "Authorization").refused(401, schema.Unauthorized)
		h.ask("POST", "/api/login", `{}`).refused(400, schema.InvalidParams)
		h.ask("POST", "/api/login", `{"code":7}`).refused(400, schema.InvalidParams)
		h.ask("POST", "/api/login", `{"code":"x","token":"y"}`).refused(400, schema.UnknownField)
		h.ask("POST", "/api/codes", `{"n":1}`).refused(400, schema.UnknownField)
		require.NotContains(t, h.log.String(), token)
	})
}

// An agent wrote markup; a person's browser gets it.
func TestFaultW7_MarkupIsTextInJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		h.call("create_task", `{"prompt":"</script><img src=x onerror=alert(1)>"}`)
		a := h.ask("GET", "/api/tasks", "")
		a.ok() // as JSON, with a policy that runs nothing inline, and never to be taken for anything else
		h.ask("GET", "/api/tasks/<img%20src=x%20onerror=alert(1)>", "").refused(404, schema.TaskGone)
	})
}

// Heads that are none, or hide another.
func TestFaultW8_BrokenHeadsAreRefused(t *testing.T) {
	const host = "Host: " + place + "\r\n"
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
		"host with a path":       {"GET /healthz HTTP/1.1\r\nHost: " + place + "/x\r\n\r\n", 400, schema.InvalidRequest},
		"host with a user":       {"GET /healthz HTTP/1.1\r\nHost: me@" + place + "\r\n\r\n", 400, schema.InvalidRequest},
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
			synctest.Test(t, func(t *testing.T) {
				h := build(t, plot{})
				h.raw(c.text).refused(c.status, c.code)
				h.ask("GET", "/healthz", "").ok()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // what fits is read
		h := build(t, plot{})
		h.raw("GET /healthz HTTP/1.1\r\n" + host + "X-Y: " + strings.Repeat("z", 15<<10) + "\r\n\r\n").ok()
	})
}

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
		_, err := slow[0].Write([]byte("{"))
		require.Error(t, err, "it did not give way")
		for _, conn := range slow {
			_ = conn.Close()
		}
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

// Paths that lead elsewhere in servers that clean them, and verbs that are none.
func TestFaultW12_PathsAndVerbsAreTakenAsTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		for _, path := range []string{
			"/", "//", "//evil.test/%2e%2e", "/api", "/api/", "/api/tasks/", "/api//tasks", "/api/./tasks", "/api/x/../tasks", "/api/%2e%2e/healthz",
			"/%2e%2e/etc/passwd", "/api/tasks/..%2f..%2fetc", "/API/tasks", "/api/tasks;x=1", "/healthz/", "/api/%74asks", "/debug/pprof/", "/index.html",
		} {
			a := h.ask("GET", path, "")
			require.Equal(t, 404, a.status, path)
			a.guarded()
		}
		for _, verb := range []string{"TRACE", "PUT", "DELETE", "PATCH", "HEAD", "CONNECT", "PROPFIND", "get"} {
			a := h.ask(verb, "/api/tasks", "")
			require.Equal(t, 405, a.status, verb)
			require.Equal(t, "GET", a.header.Get("Allow"), verb)
			a.guarded()
		}
		h.ask("POST", "/api/tasks", "{}", "X-HTTP-Method-Override: GET").refused(405, schema.WrongVerb)
		o := h.ask("PUT", "/api/plans/a/items/1/run", "").refused(405, schema.WrongVerb)
		require.Equal(t, "[GET POST]", o.str("error.data.details.allow"))
	})
}

// Another page frames ours, or keeps a handle on it: guarded asserts the headers, on whatever is answered.
func TestFaultW13_NoPageFramesAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		for _, to := range everywhere[:4] {
			h.ask(to[0], to[1], "").guarded()
		}
		conn := h.connect()
		_, err := fmt.Fprintf(conn, "GET /api/events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", place, token)
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		answer{t: t, header: res.Header}.guarded()
		_ = conn.Close()
	})
}

// An address that other machines can reach.
func TestFaultW16_OnlyLoopbackIsListenedOn(t *testing.T) {
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
	o := optionsOf(t)
	o.Listener = public
	require.ErrorContains(t, web.Serve(t.Context(), o), "no loopback address")
}

// Another protocol is offered, and a second request is hidden in the first.
func TestFaultW17_OneProtocolAndNoSecondReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		const host = "Host: " + place + "\r\n"
		h.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").refused(403, schema.Forbidden)
		a := h.raw("GET /healthz HTTP/1.1\r\n" + host + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
		a.ok()
		require.Empty(t, a.header.Get("Upgrade"))
		h.raw("GET /healthz HTTP/1.1\r\n" + host + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n").ok()
		hidden := "GET /api/status HTTP/1.1\r\n" + host + "Authorization: Bearer " + token + "\r\n\r\n"
		conn := h.connect()
		written := make(chan struct{})
		go func() { // ends with the connection
			defer close(written)
			_, _ = fmt.Fprintf(conn, "POST /api/login HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s",
				host, 5+len(hidden), hidden)
		}()
		in := bufio.NewReader(conn)
		h.hear(in).refused(400, schema.InvalidParams) // of the empty body; the rest is not taken for a request
		_, err := in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		_ = conn.Close()
		<-written
	})
}

// A number that a float cannot hold.
func TestFaultW18_NumbersKeepTheirDigits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		o := h.ask("GET", "/api/tasks?limit=9007199254740993", "").refused(400, schema.InvalidParams)
		require.Contains(t, o.str("error.data.details.errors"), "9007199254740993")
		for _, limit := range []string{"1e2", "+5", "05", "5.0", "five", "", "99999999999999999999"} {
			h.ask("GET", "/api/tasks?limit="+limit, "").refused(400, schema.InvalidParams)
		}
		h.ask("GET", "/api/tasks?limit=5", "").ok()
	})
}
