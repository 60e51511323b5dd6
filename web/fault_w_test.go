package web_test

import (
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
func TestForeignHostIsRefusedFirst(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		for _, host := range []string{
			"evil.test", "evil.test:7777", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:77770", "127.0.0.2:7777", "0.0.0.0:7777", "localhost",
			"localhost.evil.test:7777", "127.0.0.1:7777.evil.test", "2130706433:7777", "127.1:7777", "[::ffff:127.0.0.1]:7777", "LOCALHOST:7777",
		} {
			for _, to := range everywhere {
				h.ask(to[0], to[1], "", "Host: "+host, "Origin: http://"+host, "Sec-Fetch-Site: same-origin").requireError(403, schema.Forbidden)
			}
		}
		for _, host := range []string{"127.0.0.1:7777", "localhost:7777", "[::1]:7777"} {
			h.ask("GET", "/healthz", "", "Host: "+host).requireOK()
		}
	})
}

func TestOtherSpellingsOfTheHost(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		h.sendRaw("GET /healthz HTTP/1.0\r\n\r\n").requireError(403, schema.Forbidden)
		h.sendRaw("GET http://evil.test/healthz HTTP/1.1\r\nHost: "+testAddress+"\r\n\r\n").requireError(403, schema.Forbidden)
		h.sendRaw("GET /healthz HTTP/1.1\r\nHost: " + testAddress + "\r\nX-Forwarded-Host: evil.test\r\nForwarded: host=evil.test\r\n\r\n").requireOK()
		h.sendRaw("GET /healthz HTTP/1.1\r\nHost: evil.test\r\nX-Forwarded-Host: "+testAddress+"\r\n\r\n").requireError(403, schema.Forbidden)
		h.sendRaw("GET /healthz HTTP/1.1\r\nHost: "+testAddress+"\r\nHost: evil.test\r\n\r\n").requireError(400, schema.InvalidRequest)
		h.sendRaw("GET /healthz HTTP/1.1\r\n\r\n").requireError(400, schema.InvalidRequest)
	})
}

// A page of another origin sends what a browser lets it send without asking.
func TestPagesOfOtherOriginsChangeNothing(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		id := h.taskThatAsks()
		reply := "/api/tasks/" + id + "/reply"
		const body = `{"reply":"elm"}`
		for _, media := range []string{
			"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json",
			"application/jsonp", "application/json; charset=utf-16", "application/json, text/plain", "; application/json", "",
		} {
			h.ask("POST", reply, body, "Content-Type: "+media).requireError(415, schema.WrongMedia)
		}
		h.ask("POST", reply, body, "Content-Type").requireError(415, schema.WrongMedia)
		h.ask("POST", reply, body, "Content-Type: application/json", "Content-Type: text/plain").requireError(415, schema.WrongMedia)
		h.ask("POST", "/api/tasks/"+id+"/cancel", "", "Content-Type").requireError(415, schema.WrongMedia)
		for _, origin := range []string{
			"http://127.0.0.1:8888", "http://localhost:7777", "https://127.0.0.1:7777", "http://127.0.0.1", "null", "http://evil.test", "",
		} {
			h.ask("POST", reply, body, "Origin: "+origin).requireError(403, schema.Forbidden)
			h.ask("POST", "/api/login", `{"code":"x"}`, "Origin: "+origin).requireError(403, schema.Forbidden)
			h.ask("GET", "/api/tasks", "", "Origin: "+origin).requireError(403, schema.Forbidden)
		}
		for _, site := range []string{"cross-site", "same-site", "", "Same-Origin"} {
			h.ask("POST", reply, body, "Sec-Fetch-Site: "+site).requireError(403, schema.Forbidden)
			h.ask("GET", "/api/events", "", "Sec-Fetch-Site: "+site).requireError(403, schema.Forbidden)
		}
		h.ask("POST", reply, body, "Authorization", "Cookie: token="+testToken).requireError(401, schema.Unauthorized)
		require.Equal(t, "AWAITING_RESPONSE", h.call("get_task", `{"task_id":%q}`, id).str("task.status"))
		h.ask("POST", reply, body, "Origin: http://"+testAddress, "Sec-Fetch-Site: same-origin", `Content-Type: application/json; charset="UTF-8"`).requireOK()
	})
}

// A page asks for leave to read, includes an answer as a script, or opens a stream.
func TestNoOtherOriginIsAllowed(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		for _, to := range everywhere {
			a := h.ask("OPTIONS", to[1], "", "Origin: http://evil.test", "Access-Control-Request-Method: "+to[0],
				"Access-Control-Request-Headers: authorization", "Access-Control-Request-Private-Network: true")
			require.GreaterOrEqual(t, a.status, 400, to[1])
			a.requireSecurityHeaders()
		}
		h.ask("OPTIONS", "/api/tasks", "").requireError(405, schema.WrongVerb)
		h.ask("OPTIONS", "*", "").requireError(404, schema.MethodNotFound)
		h.ask("GET", "/api/events", "", "Authorization").requireError(401, schema.Unauthorized)
		h.ask("GET", "/api/tasks", "", "Sec-Fetch-Dest: script", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Site: cross-site").requireError(403, schema.Forbidden)
		h.ask("GET", "/api/tasks", "").requireOK()
	})
}

func TestOnlyTheTokenInTheHeaderCounts(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		headers []string
	}{
		"none":              {"/api/tasks", []string{"Authorization"}},
		"in the query":      {"/api/tasks?token=" + testToken, []string{"Authorization"}},
		"in the query also": {"/api/tasks?access_token=" + testToken, []string{"Authorization: Bearer x"}},
		"empty":             {"/api/tasks", []string{"Authorization: Bearer "}},
		"no scheme":         {"/api/tasks", []string{"Authorization: " + testToken}},
		"another scheme":    {"/api/tasks", []string{"Authorization: Basic " + testToken}},
		"a beginning":       {"/api/tasks", []string{"Authorization: Bearer " + testToken[:63]}},
		"more":              {"/api/tasks", []string{"Authorization: Bearer " + testToken + "0"}},
		"capitals":          {"/api/tasks", []string{"Authorization: Bearer " + strings.ToUpper(testToken)}},
		"twice":             {"/api/tasks", []string{"Authorization: Bearer " + testToken, "Authorization: Bearer " + testToken}},
		"an old one":        {"/api/tasks", []string{"Authorization: Bearer " + web.NewToken()}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newHarness(t, setup{}).ask("GET", c.path, "", c.headers...)
				a.requireError(401, schema.Unauthorized)
				require.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		newHarness(t, setup{}).ask("GET", "/api/tasks", "", "Authorization: bearer "+testToken).requireOK()
	})
}

// Somebody tries tokens, as many as there is time for.
func TestGuessedTokensAreLimited(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		guess := func() answer { return h.ask("GET", "/api/tasks", "", "Authorization: Bearer guess") }
		for range 10 {
			guess().requireError(401, schema.Unauthorized)
		}
		a := guess()
		a.requireError(429, schema.Overloaded)
		require.Equal(t, "1", a.header.Get("Retry-After"))
		h.ask("POST", "/api/login", `{"code":"guess"}`).requireError(429, schema.Overloaded)
		h.ask("GET", "/api/tasks", "").requireOK() // a right token is not delayed
		time.Sleep(time.Second)
		guess().requireError(401, schema.Unauthorized)
	})
}

// A browser keeps the addresses that it was at, with the codes that were in them.
func TestLoginCodeCanBeUsedOnce(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		issue := func() string {
			o := h.ask("POST", "/api/codes", "").requireOK()
			require.Equal(t, "60000", o.str("expires_in_ms"))
			require.NotContains(t, o.str("code"), testToken)
			return o.str("code")
		}
		login := func(code string) answer {
			return h.ask("POST", "/api/login", `{"code":"`+code+`"}`, "Authorization")
		}
		code := issue()
		require.NotEqual(t, code, issue())
		login("no such code").requireError(401, schema.Unauthorized)
		require.NotEqual(t, testToken, login(code).requireOK().str("token"))
		login(code).requireError(401, schema.Unauthorized)

		late := issue()
		time.Sleep(time.Minute)
		login(late).requireError(401, schema.Unauthorized)

		codes := []string{}
		for range 17 {
			codes = append(codes, issue())
		}
		login(codes[0]).requireError(401, schema.Unauthorized) // it gave way
		login(codes[1]).requireOK()
		login(codes[16]).requireOK()

		h.ask("POST", "/api/codes", "", "Authorization").requireError(401, schema.Unauthorized)
		h.ask("POST", "/api/login", `{}`).requireError(400, schema.InvalidParams)
		h.ask("POST", "/api/login", `{"code":7}`).requireError(400, schema.InvalidParams)
		h.ask("POST", "/api/login", `{"code":"x","token":"y"}`).requireError(400, schema.UnknownField)
		h.ask("POST", "/api/codes", `{"n":1}`).requireError(400, schema.UnknownField)
		require.NotContains(t, h.log.String(), testToken)
	})
}

// Whoever gets hold of what a browser has got has not got what http.json has: it is one of a bounded number, gives way
// to others, and means nothing to the next process.
func TestBrowserGetsItsOwnToken(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		login := func(h *harness) string {
			code := h.ask("POST", "/api/codes", "").requireOK().str("code")
			return h.ask("POST", "/api/login", `{"code":"`+code+`"}`, "Authorization").requireOK().str("token")
		}
		asks := func(h *harness, token string) answer {
			return h.ask("GET", "/api/tasks", "", "Authorization: Bearer "+token)
		}
		first, second := login(h), login(h)
		require.Regexp(t, `^[0-9a-f]{64}$`, first)
		require.NotEqual(t, first, second)
		require.NotContains(t, []string{first, second}, testToken)
		asks(h, first).requireOK()
		for range 63 {
			login(h)
			asks(h, first).requireOK() // so that it is not the one that is dropped
		}
		asks(h, second).requireError(401, schema.Unauthorized)
		asks(h, first).requireOK()
		h.ask("GET", "/api/tasks", "", "Authorization: Basic "+first).requireError(401, schema.Unauthorized)
		asks(h, testToken).requireOK()
		asks(newHarness(t, setup{}), first).requireError(401, schema.Unauthorized)
		require.NotContains(t, h.log.String(), first)
	})
}

// A link or a file of another origin leads a person to the page, which they then have alone. It is let in nowhere
// else, and no page can have ours within itself.
func TestLinkMayOpenOnlyThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{page: somePage()})
		sent := func(path, site, mode, dest string, more ...string) answer {
			return h.ask("GET", path, "", append(more, "Sec-Fetch-Site: "+site, "Sec-Fetch-Mode: "+mode, "Sec-Fetch-Dest: "+dest)...)
		}
		for _, site := range []string{"cross-site", "same-site"} {
			a := sent("/", site, "navigate", "document", "Authorization")
			require.Equal(t, 200, a.status)
			require.Equal(t, "same-origin", a.header.Get("Cross-Origin-Opener-Policy"))
			require.Equal(t, "DENY", a.header.Get("X-Frame-Options"))
			for _, path := range []string{"/page.js", "/healthz", "/api/tasks", "/api/events", "/metrics"} {
				sent(path, site, "navigate", "document").requireError(403, schema.Forbidden)
			}
			for _, dest := range []string{"iframe", "frame", "embed", "object", "script", "image", "empty", ""} {
				sent("/", site, "navigate", dest).requireError(403, schema.Forbidden)
				sent("/", site, "no-cors", dest).requireError(403, schema.Forbidden)
			}
			for _, mode := range []string{"no-cors", "cors", "same-origin", "websocket", ""} {
				sent("/", site, mode, "document").requireError(403, schema.Forbidden)
			}
			sent("/", site, "navigate", "document", "Sec-Fetch-Dest: iframe").requireError(403, schema.Forbidden)
			sent("/", site, "navigate", "document", "Origin: null").requireError(403, schema.Forbidden)
			sent("/", site, "navigate", "document", "Host: evil.test").requireError(403, schema.Forbidden)
		}
	})
}
