package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/cli/backend"
	"waybill/cli/endpoint"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/engine/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// These tests are inside because they start no browser, and look at what one would be started with.

// A terminal is where somebody has called for the page.
type terminal struct {
	commands
	t    *testing.T
	out  *bufio.Reader
	errs *os.File
}

// newTerminal returns a terminal in a workspace.
func newTerminal(t *testing.T, root, state string) *terminal {
	t.Helper()
	out, write, err := os.Pipe()
	require.NoError(t, err)
	errs, err := os.CreateTemp(t.TempDir(), "stderr")
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = write.Close() // it may be closed
		require.NoError(t, errors.Join(out.Close(), errs.Close()))
	})
	return &terminal{t: t, out: bufio.NewReader(out), errs: errs, commands: commands{&program.App{
		Printer: output.Printer{Streams: output.Streams{Out: write, Err: errs}, Env: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": state, "LOCALAPPDATA": state, "HOME": state, "DISPLAY": ":0"}[name]
		}},
		Version: "test", Workspace: root,
	}}}
}

// link reads the next address that was printed.
func (c *terminal) link() *url.URL {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	require.NoError(c.t, err)
	link, err := url.Parse(strings.TrimSpace(line))
	require.NoError(c.t, err)
	return link
}

// begin calls for the page. end interrupts it, and returns its error.
func (c *terminal) begin(start func(context.Context, []string) error) (end func() error) {
	ctx, interrupt := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { // ends when it is interrupted
		err := c.ui(ctx, false, nil, start)
		_ = c.Out.Close() // who waits for an address learns that none comes
		ended <- err
	}()
	return func() error {
		interrupt()
		return <-ended
	}
}

// enter does what the page does with the code of an address: it exchanges it. It returns the status.
func enter(t *testing.T, link *url.URL) int {
	t.Helper()
	code := strings.TrimPrefix(link.Fragment, "c=")
	body := fmt.Sprintf(`{"code":%q}`, code)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+link.Host+"/api/login", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// folder returns the state folder.
func (c *terminal) folder() string {
	ws, err := workspace.Resolve(c.Sources())
	require.NoError(c.t, err)
	folder, err := endpoint.Folder("", ws)
	require.NoError(c.t, err)
	return folder
}

func (c *terminal) portFile() string { return filepath.Join(c.folder(), endpoint.FileName) }

// Without a host, the page is served from the store until it is interrupted; whoever calls meanwhile is let in
// there, each with a code that is spent once.
func TestPageAloneAndOfARunningHost(t *testing.T) {
	root, state := t.TempDir(), t.TempDir()
	alone := newTerminal(t, root, state)
	end := alone.begin(nil)
	first := alone.link()
	require.Equal(t, "/", first.Path)
	require.Empty(t, first.RawQuery, "what is in a query is sent, and kept by the browser")
	text, err := os.ReadFile(alone.portFile())
	require.NoError(t, err)
	door := new(endpoint.Endpoint)
	require.NoError(t, json.Unmarshal(text, door))
	require.NotContains(t, first.String(), door.Token)
	require.Equal(t, http.StatusOK, enter(t, first))
	require.Equal(t, http.StatusUnauthorized, enter(t, first))
	require.NoError(t, door.Ask(t.Context(), http.MethodGet, "/", nil))
	require.NoError(t, door.Ask(t.Context(), http.MethodGet, "/api/tasks", nil))

	var opened []string
	again := newTerminal(t, root, state)
	require.NoError(t, again.ui(t.Context(), false, nil, func(_ context.Context, command []string) error {
		opened = command
		return errors.New("no such program")
	}))
	second := again.link()
	require.Equal(t, first.Host, second.Host)
	require.NotEqual(t, first.Fragment, second.Fragment)
	require.Equal(t, second, led(t, opened))
	require.Equal(t, http.StatusOK, enter(t, second))
	said, err := os.ReadFile(again.errs.Name())
	require.NoError(t, err)
	require.Contains(t, string(said), "no such program")

	require.NoError(t, end())
	for _, ours := range []string{"http*", "waybill-*"} {
		left, err := filepath.Glob(filepath.Join(alone.folder(), ours))
		require.NoError(t, err)
		require.Empty(t, left)
	}
	_, err = new(net.Dialer).DialContext(t.Context(), "tcp", first.Host)
	require.Error(t, err)
}

// TestFaultW15_StalePortFiles: a port file that says nothing of a running host does not keep the page away, and its
// token is shown to nobody before it is known who answers.
func TestFaultW15_StalePortFiles(t *testing.T) {
	var asked, shown []string
	healthy := "false"
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		shown = append(shown, r.Header.Values("Authorization")...)
		if r.URL.Path != "/healthz" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, `{"ok":`+healthy+`}`)
	}))
	defer stranger.Close()
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	says := func(url string, pid int) string {
		return fmt.Sprintf(`{"url":%q,"token":"t","pid":%d,"store":"STORE"}`, url, pid)
	}
	us, nobody := os.Getpid(), 1<<30
	for name, c := range map[string]struct {
		pid     int // in the name of the file
		text    string
		healthy string
		asked   []string
	}{
		"not JSON":           {us, "{", "true", nil},
		"nothing":            {us, "{}", "true", nil},
		"a dead process":     {nobody, says(stranger.URL, nobody), "true", nil},
		"another process":    {us, says(stranger.URL, nobody), "true", nil},
		"no process":         {-1, says(stranger.URL, -1), "true", nil},
		"a closed port":      {us, says("http://"+closed.Addr().String(), us), "true", nil},
		"another service":    {us, says(stranger.URL, us), "false", []string{"/healthz"}},
		"one without a page": {us, says(stranger.URL, us), "true", []string{"/healthz", "/"}},
		"another store":      {us, strings.Replace(says(stranger.URL, us), "STORE", "STORE.db", 1), "true", nil},
		"another machine":    {us, says("http://192.0.2.1:80", us), "true", nil},
		"another path":       {us, says(stranger.URL+"/x", us), "true", nil},
	} {
		t.Run(name, func(t *testing.T) {
			asked, shown, healthy = nil, nil, c.healthy
			c1 := newTerminal(t, t.TempDir(), t.TempDir())
			require.NoError(t, os.MkdirAll(c1.folder(), 0o700))
			path := filepath.Join(c1.folder(), fmt.Sprintf("http-%d.json", c.pid))
			for _, file := range []string{path, c1.portFile()} {
				text := strings.Replace(c.text, "STORE", filepath.Join(c1.folder(), backend.StoreName), 1)
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			}
			end := c1.begin(nil)
			require.Equal(t, http.StatusOK, enter(t, c1.link()))
			require.Equal(t, c.asked, asked)
			require.Empty(t, shown, "the token was shown")
			if c.pid == nobody {
				require.NoFileExists(t, path)
			}
			require.NoError(t, end())
			require.NoFileExists(t, c1.portFile())
		})
	}
}

// Where there is no display, no browser is started.
func TestBrowserOfTheSystem(t *testing.T) {
	with := func(names ...string) commands {
		return commands{&program.App{Printer: output.Printer{Env: func(name string) string {
			for _, n := range names {
				if n == name {
					return ":0"
				}
			}
			return ""
		}}}}
	}
	require.Nil(t, with().browser("linux"))
	require.Equal(t, []string{"xdg-open"}, with("DISPLAY").browser("linux"))
	require.Equal(t, []string{"xdg-open"}, with("WAYLAND_DISPLAY").browser("freebsd"))
	require.Equal(t, []string{"open"}, with().browser("darwin"))
	require.Equal(t, []string{"rundll32", "url.dll,FileProtocolHandler"}, with().browser("windows"))
}
