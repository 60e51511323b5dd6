package cli

import (
	"context"
	"errors"
	"fmt"
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

// browserTime is how long the program that starts a browser is watched for a failure. Such a program fails at once, but
// a machine that is busy may take seconds to start it.
const browserTime = 5 * time.Second

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
	if err := a.showPage(ctx, door.file.says(), start); err != nil {
		return err
	}
	a.say("waybill: no host serves a page for this workspace, so this command does until it is interrupted (Ctrl-C)")
	<-ctx.Done()
	return nil
}

// showPage lets one browser in: it prints the address, and starts the browser with a file that leads there. Other
// users can see what a program is started with, and until the page is there the code in the address is as good as a
// token.
func (a *app) showPage(ctx context.Context, door *knock, start func(context.Context, []string) error) error {
	var issued struct {
		Code string `json:"code"`
	}
	if err := door.ask(ctx, http.MethodPost, "/api/codes", &issued); err != nil {
		return err
	}
	link := door.URL + "/#c=" + url.QueryEscape(issued.Code)
	if err := a.printLink(link); err != nil || start == nil {
		return err
	}
	command := a.browser(runtime.GOOS)
	if command != nil {
		path, err := writeSignpost(door, link)
		if err != nil {
			a.say(fmt.Sprintf("waybill: no browser is started: %v; open the address yourself", err))
			return nil
		}
		command = append(command, fileURL(path))
	}
	if err := start(ctx, command); err != nil {
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
// itself, and go on: an interrupt at this terminal is not for them.
func startBrowser(ctx context.Context, command []string) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)
	apart(cmd)
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
