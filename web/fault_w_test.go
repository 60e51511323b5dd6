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

// A browser keeps the addresses that it was at, with the codes that were in them.
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
		require.NotEqual(t, token, login(code).ok().str("token"))
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

// Whoever gets hold of what a browser has got has not got what http.json has: it is one of a bounded number, gives way
// to others, and means nothing to the next process.
func TestFaultW5_BrowserHasATokenOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		login := func(h *house) string {
			code := h.ask("POST", "/api/codes", "").ok().str("code")
			return h.ask("POST", "/api/login", `{"code":"`+code+`"}`, "Authorization").ok().str("token")
		}
		asks := func(h *house, token string) answer {
			return h.ask("GET", "/api/tasks", "", "Authorization: Bearer "+token)
		}
		first, second := login(h), login(h)
		require.Regexp(t, `^[0-9a-f]{64}$`, first)
		require.NotEqual(t, first, second)
		require.NotContains(t, []string{first, second}, token)
		asks(h, first).ok()
		for range 63 {
			login(h)
			asks(h, first).ok() // so that it is not the one that gives way
		}
		asks(h, second).refused(401, schema.Unauthorized)
		asks(h, first).ok()
		h.ask("GET", "/api/tasks", "", "Authorization: Basic "+first).refused(401, schema.Unauthorized)
		asks(h, token).ok()
		asks(build(t, plot{}), first).refused(401, schema.Unauthorized)
		require.NotContains(t, h.log.String(), first)
	})
}

// A link or a file of another origin leads a person to the page, which they then have alone. It is let in nowhere
// else, and no page can have ours within itself.
func TestFaultW13_PersonIsLedToThePageAndNowhereElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{page: somePage()})
		sent := func(path, site, mode, dest string, more ...string) answer {
			return h.ask("GET", path, "", append(more, "Sec-Fetch-Site: "+site, "Sec-Fetch-Mode: "+mode, "Sec-Fetch-Dest: "+dest)...)
		}
		for _, site := range []string{"cross-site", "same-site"} {
			a := sent("/", site, "navigate", "document", "Authorization")
			require.Equal(t, 200, a.status)
			require.Equal(t, "same-origin", a.header.Get("Cross-Origin-Opener-Policy"))
			require.Equal(t, "DENY", a.header.Get("X-Frame-Options"))
			for _, path := range []string{"/page.js", "/healthz", "/api/tasks", "/api/events", "/metrics"} {
				sent(path, site, "navigate", "document").refused(403, schema.Forbidden)
			}
			for _, dest := range []string{"iframe", "frame", "embed", "object", "script", "image", "empty", ""} {
				sent("/", site, "navigate", dest).refused(403, schema.Forbidden)
				sent("/", site, "no-cors", dest).refused(403, schema.Forbidden)
			}
			for _, mode := range []string{"no-cors", "cors", "same-origin", "websocket", ""} {
				sent("/", site, mode, "document").refused(403, schema.Forbidden)
			}
			sent("/", site, "navigate", "document", "Sec-Fetch-Dest: iframe").refused(403, schema.Forbidden)
			sent("/", site, "navigate", "document", "Origin: null").refused(403, schema.Forbidden)
			sent("/", site, "navigate", "document", "Host: evil.test").refused(403, schema.Forbidden)
		}
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
