//go:build unix

package page_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A hostileSite is a malicious web site on this machine, for the browser of the tests.
type hostileSite struct {
	*httptest.Server

	mu   sync.Mutex // guards what follows
	next string     // where whoever connects is passed on to, "" for nowhere
	kept []net.Conn // that are passed on
}

// newHostileSite opens a site that has one page, with a script.
func newHostileSite(t *testing.T, script string) *hostileSite {
	t.Helper()
	s := &hostileSite{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // so that the next request looks for the site anew
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html><title>A stranger</title><p>Hello.</p><script src=script.js></script>")
		case "/script.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, script)
		default:
			http.NotFound(w, r)
		}
	}))
	s.Listener = &bend{s.Listener, s}
	s.Start()
	t.Cleanup(func() {
		s.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, c := range s.kept {
			_ = c.Close()
		}
	})
	return s
}

// becomes sends new connections to another server, like a rebound DNS name.
func (s *hostileSite) becomes(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = address
}

// A bend is a listener that forwards connections for another server.
type bend struct {
	net.Listener
	of *hostileSite
}

func (b *bend) Accept() (net.Conn, error) {
	for {
		guest, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		b.of.mu.Lock()
		next := b.of.next
		b.of.mu.Unlock()
		if next == "" {
			return guest, nil
		}
		b.of.pass(guest, next)
	}
}

func (s *hostileSite) pass(guest net.Conn, next string) {
	host, err := net.Dial("tcp", next)
	if err != nil {
		_ = guest.Close()
		return
	}
	s.mu.Lock()
	s.kept = append(s.kept, guest, host)
	s.mu.Unlock()
	for _, way := range [][2]net.Conn{{guest, host}, {host, guest}} {
		go func() { // ends when either side closes, or with the test
			_, _ = io.Copy(way[0], way[1])
			_ = way[0].Close()
			_ = way[1].Close()
		}()
	}
}

// stranger opens a tab for a foreign page, in which errors are expected.
func (b *browser) stranger() *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	require.NoError(b.t, chromedp.Do(ctx, tell(cdppage.Enable, cdppage.EnableParams{})))
	return &tab{t: b.t, ctx: ctx}
}

// tried waits for the script of the site and returns the outcome of each of its attempts.
func (p *tab) tried() map[string]string {
	p.t.Helper()
	p.until(`window.tried?.done === "yes"`)
	text, err := json.Marshal(p.look(`window.tried`))
	require.NoError(p.t, err)
	var all map[string]string
	require.NoError(p.t, json.Unmarshal(text, &all))
	delete(all, "done")
	return all
}

// rejected returns the number of requests that the front door refused with a code.
func (d doorplate) rejected(t *testing.T, code string) int {
	t.Helper()
	return d.metric(t, `waybill_http_rejected_total{reason="`+code+`"}`)
}

// metric returns the value of a metric, or 0 if there is none.
func (d doorplate) metric(t *testing.T, series string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+"/metrics", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+d.Token)
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\d+)$`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return n
}

// unmoved asserts that the store has not changed and that the task still waits.
func (h *host) unmoved(id string, seq any) {
	h.t.Helper()
	given, status := h.answers(id)
	require.Empty(h.t, given)
	require.Equal(h.t, "AWAITING_RESPONSE", status)
	require.Equal(h.t, seq, h.cursor(), "something was changed")
}

// cursor returns where the event log ends.
func (h *host) cursor() any {
	h.t.Helper()
	cursor := h.call("initialize", nil)["cursor"]
	require.NotEmpty(h.t, cursor)
	return cursor
}

// frames returns the addresses of what the frames of the page show.
func (p *tab) frames() []string {
	p.t.Helper()
	var shown []string
	p.run(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		tree, err := cdp.Call(ctx, target, cdppage.GetFrameTree, cdp.Empty{})
		if err != nil {
			return err
		}
		for _, child := range tree.FrameTree.ChildFrames {
			shown = append(shown, child.Frame.URL)
		}
		return nil
	}))
	return shown
}
