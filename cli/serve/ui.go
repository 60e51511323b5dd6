package serve

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

	"waybill/cli/backend"
	"waybill/cli/endpoint"
	"waybill/cli/notify"
	"waybill/engine/workspace"
	"waybill/web"
	"waybill/web/page"
)

// browserTime is how long the command that starts a browser is watched for a failure. It fails at once, but a busy
// machine may take seconds to start it.
const browserTime = 5 * time.Second

// filesOfThePage returns the page that this program has in it.
func filesOfThePage() []web.File {
	var files []web.File
	for _, f := range page.Files() {
		files = append(files, web.File(f))
	}
	return files
}

func (a commands) uiCommand() *cobra.Command {
	var noBrowser, here bool
	var told notify.Flags
	cmd := &cobra.Command{
		Example: "  waybill ui",
		Use:     "ui", Short: "Open the page in a browser", Args: cobra.NoArgs,
		Long: `Open the page in a browser: the page of a running "waybill serve --http" of the workspace, or a page that this command
serves from the store until it is interrupted. A page of a host shows one workspace, unless the host was started with
--all-workspaces; that of this command shows all, unless it has --here or a named store. The printed address admits one browser, once, within a minute; run the
command again for another. Without a display the address is only printed.`,
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
			beside, err := told.Beside(a.Logger(a.Err))
			if err != nil {
				return err
			}
			return a.ui(ctx, here, beside, start)
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the address")
	cmd.Flags().BoolVar(&here, "here", false, "the page that this command serves, and its token, reach only this workspace")
	notify.AddFlags(cmd, &told)
	return cmd
}

// ui shows the page of a running host, or serves one until ctx ends. start, if not nil, starts a browser.
func (a commands) ui(ctx context.Context, here bool, beside backend.Beside, start func(context.Context, []string) error) error {
	ws, err := workspace.Resolve(a.Sources())
	if err != nil && a.Store == "" {
		return err
	}
	if door, ok := endpoint.Running(ctx, a.Store, ws); ok {
		if beside != nil {
			a.Say("waybill: --notify is left out: the host that serves the page notifies, if it was started with --notify")
		}
		return a.showPage(ctx, door, start)
	}
	if a.Store != "" {
		if _, err := a.ExistingStore(nil); err != nil {
			return err
		}
	}
	return a.serveAlone(ctx, here, beside, start)
}

// serveAlone serves the page from the store, without a host on standard input, until ctx ends.
func (a commands) serveAlone(ctx context.Context, here bool, beside backend.Beside, start func(context.Context, []string) error) error {
	l, err := a.Open(beside)
	if err != nil {
		return err
	}
	defer l.Close()
	at, err := web.ParseAddress(anyPort)
	if err != nil {
		return err
	}
	door := a.openHTTP(&at, here, l.Service, l.Table, l.Backend)
	if door.serves == nil {
		return errors.New(strings.Join(l.Backend.Troubles(), "; "))
	}
	defer door.close()
	if err := a.showPage(ctx, door.file.Says(), start); err != nil {
		return err
	}
	a.Say("waybill: no host serves a page for this workspace, so this command does until it is interrupted (Ctrl-C)")
	<-ctx.Done()
	return nil
}

// showPage prints the address, and starts the browser with a file that leads there. Other users can see the arguments
// of a program, and until the page is loaded, the code in the address grants access.
func (a commands) showPage(ctx context.Context, door *endpoint.Endpoint, start func(context.Context, []string) error) error {
	var issued struct {
		Code string `json:"code"`
	}
	if err := door.Ask(ctx, http.MethodPost, "/api/codes", &issued); err != nil {
		return err
	}
	link := door.URL + "/#c=" + url.QueryEscape(issued.Code)
	if err := a.printLink(link); err != nil || start == nil {
		return err
	}
	command := a.browser(runtime.GOOS)
	if command != nil {
		path, err := endpoint.WriteRedirect(door, link)
		if err != nil {
			a.Say(fmt.Sprintf("waybill: no browser was started: %v; open the address yourself", err))
			return nil
		}
		command = append(command, endpoint.FileURL(path))
	}
	if err := start(ctx, command); err != nil {
		a.Say(fmt.Sprintf("waybill: no browser could be started: %v; open the address yourself", err))
	}
	return nil
}

func (a commands) printLink(link string) error {
	if a.JSON {
		return a.Print(map[string]string{"url": link})
	}
	_, err := fmt.Fprintln(a.Out, link)
	return err
}

// browser returns the command that opens an address in the person's browser, or nil where there is no display.
func (a commands) browser(system string) []string {
	switch {
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	case system == "darwin":
		return []string{"open"}
	case a.Env("DISPLAY") != "" || a.Env("WAYLAND_DISPLAY") != "":
		return []string{"xdg-open"}
	}
	return nil
}

// startNone prints what to do where no browser can be started.
func (a commands) startNone(context.Context, []string) error {
	a.Say("waybill: there is no display; open the address in a browser on this machine, within a minute")
	return nil
}

// startBrowser starts a command that opens an address, and returns an error if the command fails soon. The command may
// be the browser itself, which must survive an interrupt at this terminal.
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
