package cli

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/cli/demo"
	"waybill/examples"
	"waybill/examples/fake-agent/play"
	"waybill/store/postgres"
)

func (a *app) demoCommand() *cobra.Command {
	var page, noBrowser bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Play a host against a real waybill process, in under 10 seconds", Args: cobra.NoArgs,
		Long: "Spawn this binary on a copy of the example workspace, hand it work as a host would, edit its plan,\nkill it in the middle, and check every answer. Exits with 1 if anything is not as promised.\nWith --store postgres://… the store is a workspace of that database, which stays there.\nWith --ui the page stays open on what was played, until it is interrupted.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.json && page {
				return usageError{errors.New("--ui goes on until it is interrupted, so there is no transcript to give with --json")}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			binary, err := os.Executable()
			if err != nil {
				return err
			}
			workspace, err := examples.Workspace()
			if err != nil {
				return err
			}
			clock, err := examples.Clock()
			if err != nil {
				return err
			}
			env := unset(os.Environ())
			if !a.envStore && postgres.Names(a.store) {
				env = append(env, storeVariable+"="+a.store)
			}
			script := &script{app: a}
			err = demo.Run(ctx, demo.Options{
				Binary: binary, Env: env, Workspace: workspace, Clock: clock, Print: script.print, Page: page, NoBrowser: noBrowser,
				Bold: a.style("1"), Good: a.style("32"), Faint: a.style("2"),
			})
			if a.json {
				return script.finish(err)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&page, "ui", false, "leave the page open on what was played")
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "with --ui, only print the address")
	return cmd
}

// fakeAgentCommand plays the agents of the demo, which has nothing but this binary at hand.
func (a *app) fakeAgentCommand() *cobra.Command {
	return &cobra.Command{
		Use: "fake-agent", Short: "Play a coding agent by a script, for the demo", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			a.code = play.Main(args, a.In, a.Out, a.Err)
			return nil
		},
	}
}

// A script prints the transcript as it comes, or collects its lines for --json.
type script struct {
	app   *app
	lines []string
}

func (s *script) print(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !s.app.json {
		_, _ = fmt.Fprint(s.app.Out, text) // who closed the output does not want to see more
		return
	}
	for _, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		s.lines = append(s.lines, strings.TrimSpace(line))
	}
}

func (s *script) finish(err error) error {
	printed := s.app.print(map[string]any{"ok": err == nil, "transcript": s.lines})
	if err != nil {
		return err
	}
	return printed
}

// style gives a function that dresses a text in an ANSI style, on a terminal that wants colours.
func (a *app) style(code string) func(string) string {
	if !a.colours() {
		return func(text string) string { return text }
	}
	return func(text string) string { return "\x1b[" + code + "m" + text + "\x1b[0m" }
}

func (a *app) colours() bool {
	switch {
	case a.noColor || a.json || a.env("NO_COLOR") != "":
		return false
	case a.env("CLICOLOR_FORCE") != "" && a.env("CLICOLOR_FORCE") != "0":
		return true
	}
	return term.IsTerminal(int(a.Out.Fd()))
}
