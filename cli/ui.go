package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"waybill/engine/workspace"
	"waybill/web"
	"waybill/web/page"
)

const (
	// knockTime bounds each question to a front door that may not be there.
	knockTime = 3 * time.Second
	// browserTime is how long the program that starts a browser is watched for a failure.
	browserTime = 2 * time.Second
	// maxAnswer bounds what is read of an answer: what is asked for is short.
	maxAnswer = 1 << 16
)

// filesOfThePage gives the page that this program has in it.
func filesOfThePage() []web.File {
	var files []web.File
	for _, f := range page.Files() {
		files = append(files, web.File(f))
	}
	return files
}

func (a *app) uiCommand() *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use: "ui", Short: "Open the page in a browser", Args: cobra.NoArgs,
		Long: `Open the page in a browser: that of a running "waybill serve --http" of the workspace, or else one that this
command serves from the store until it is interrupted. The address that is printed lets one browser in, once, within
a minute; call again for another. Without a display, it is only printed.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			start := startBrowser
			switch {
			case noBrowser:
				start = nil
			case a.browser(runtime.GOOS) == nil:
				start = a.startNone
			}
			return a.ui(ctx, start)
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the address")
	return cmd
}

// ui shows the page of a running host, or serves one until ctx ends. start, if not nil, starts a browser.
func (a *app) ui(ctx context.Context, start func(context.Context, []string) error) error {
	ws, err := workspace.Resolve(a.sources())
	if err != nil && a.store == "" {
		return err
	}
	if door, ok := a.runningDoor(ctx, ws); ok {
		return a.showPage(ctx, door, start)
	}
	if a.store != "" {
		if _, err := a.existingStore(nil); err != nil {
			return err
		}
	}
	return a.serveAlone(ctx, start)
}

// serveAlone serves the page from the store, with nobody on standard input, until ctx ends.
func (a *app) serveAlone(ctx context.Context, start func(context.Context, []string) error) error {
	l, err := a.opened(true)
	if err != nil {
		return err
	}
	defer l.close()
	at, err := web.ParseAddress(anyPort)
	if err != nil {
		return err
	}
	door := a.openHTTP(&at, l.Service, l.table, l.backend)
	if door.serves == nil {
		return errors.New(strings.Join(l.backend.troubles(), "; "))
	}
	defer door.close()
	if err := a.showPage(ctx, &knock{URL: door.file.URL, Token: door.file.Token}, start); err != nil {
		return err
	}
	a.say("waybill: no host serves a page for this workspace, so this command does until it is interrupted (Ctrl-C)")
	<-ctx.Done()
	return nil
}

// showPage lets one browser in: it prints the address, and starts the browser with it. Other users can see what
// a program is started with, which is why there is a code in it that is spent at once, and not the token.
func (a *app) showPage(ctx context.Context, door *knock, start func(context.Context, []string) error) error {
	var issued struct {
		Code string `json:"code"`
	}
	if err := door.ask(ctx, http.MethodPost, "/api/codes", &issued); err != nil {
		return err
	}
	link := door.URL + "/#c=" + url.QueryEscape(issued.Code)
	if err := a.printLink(link); err != nil {
		return err
	}
	if start == nil {
		return nil
	}
	if err := start(ctx, append(a.browser(runtime.GOOS), link)); err != nil {
		a.say(fmt.Sprintf("waybill: no browser could be started: %v; open the address yourself", err))
	}
	return nil
}

func (a *app) printLink(link string) error {
	if a.json {
		return a.print(map[string]string{"url": link})
	}
	_, err := fmt.Fprintln(a.Out, link)
	return err
}

// browser gives the command that opens an address in the person's browser, or nil where there is no display.
func (a *app) browser(system string) []string {
	switch {
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	case system == "darwin":
		return []string{"open"}
	case a.env("DISPLAY") != "" || a.env("WAYLAND_DISPLAY") != "":
		return []string{"xdg-open"}
	}
	return nil
}

// startNone says what to do where no browser can be started.
func (a *app) startNone(context.Context, []string) error {
	a.say("waybill: there is no display; open the address in a browser on this machine, within a minute")
	return nil
}

// startBrowser starts a program that opens an address and says if it fails soon. Some such programs are the browser
// itself, and go on.
func startBrowser(ctx context.Context, command []string) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the program, or with this process
	late := time.NewTimer(browserTime)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
	case <-ctx.Done():
	}
	return nil
}

// runningDoor finds the front door of a running host that has the page. What a killed one left behind is none.
func (a *app) runningDoor(ctx context.Context, ws workspace.Workspace) (*knock, bool) {
	path, err := portPath(a.store, ws)
	if err != nil {
		return nil, false
	}
	text, err := os.ReadFile(path)
	door := new(knock)
	if err != nil || json.Unmarshal(text, door) != nil || !door.local() || !alive(door.PID) {
		return nil, false
	}
	var health struct {
		OK bool `json:"ok"`
	}
	if door.ask(ctx, http.MethodGet, "/healthz", &health) != nil || !health.OK {
		return nil, false
	}
	return door, door.ask(ctx, http.MethodGet, "/", nil) == nil && door.ask(ctx, http.MethodGet, "/api/status", nil) == nil
}

// alive reports whether there is a process with that id; where that cannot be known, the other questions decide.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = process.Release() }()
	err = process.Signal(syscall.Signal(0))
	return err == nil || runtime.GOOS == "windows" || errors.Is(err, os.ErrPermission)
}

// A knock is what a port file says, for who wants to come in.
type knock struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
}

// local reports whether the address is one that a front door can have; the token goes to no other.
func (k *knock) local() bool {
	at, err := url.Parse(k.URL)
	if err != nil || k.URL != "http://"+at.Host {
		return false
	}
	_, err = web.ParseAddress(at.Host)
	return err == nil
}

// ask sends a request without params and reads the answer into result, if that is not nil. It goes there and
// nowhere else: by no proxy, and to no other address.
func (k *knock) ask(ctx context.Context, verb, path string, result any) error {
	ctx, cancel := context.WithTimeout(ctx, knockTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, verb, k.URL+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+k.Token)
	if verb == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	switch {
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%s %s: %s", verb, path, res.Status)
	case result == nil:
		return nil
	}
	return json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(result)
}
