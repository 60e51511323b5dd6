package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"waybill/engine/workspace"
	"waybill/store/postgres"
	"waybill/store/sqlite"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check the workspace and its store, and say what to do", Args: cobra.NoArgs,
		Long: `Check the workspace, the settings and everything in the store: the file and its modes, the disk it is on, the
tables, every row against its checksum, and the chain of the event log. Nothing is changed, and
processes that use the store go on.

Exit codes: 0 if there are only warnings, 1 if there is no workspace or a setting is wrong, 5 if a check of the store fails.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd) },
	}
}

// A check is one line of the doctor.
type check struct {
	Check string       `json:"check"`
	Level sqlite.Level `json:"level"`
	Text  string       `json:"text"`
	Fix   string       `json:"fix,omitzero"`
}

func (a *app) doctor(cmd *cobra.Command) error {
	ws, err := workspace.Resolve(a.sources())
	checks := []check{{"workspace", sqlite.LevelOK, fmt.Sprintf("%s (by %s)", ws.Root, ws.ResolvedBy), ""}}
	if err != nil {
		checks[0] = check{"workspace", sqlite.LevelFail, err.Error(), "go to the folder of a project, or name one with --workspace"}
		a.code = exitFailed
	}
	checks = append(checks, a.configCheck(cmd))
	switch {
	case postgres.Names(a.store) && err == nil:
		checks = append(checks, a.databaseChecks(cmd.Context(), ws)...)
	case !postgres.Names(a.store) && (err == nil || a.store != ""):
		path, err := storePath(a.store, ws)
		if err != nil {
			return err
		}
		for _, f := range sqlite.Examine(cmd.Context(), sqlite.Options{Path: path, AllowRemote: a.shared}) {
			checks = append(checks, check(f))
			if f.Level == sqlite.LevelFail {
				a.code = exitStore
			}
		}
	}
	if a.json {
		return a.print(map[string]any{"ok": a.code == exitOK, "checks": checks})
	}
	_, err = fmt.Fprint(a.Out, a.diagnosis(checks))
	return err
}

// configCheck finds out whether a server would start with these settings.
func (a *app) configCheck(cmd *cobra.Command) check {
	err := a.configure(cmd)
	switch {
	case err != nil:
		a.code = exitFailed
		return check{"config", sqlite.LevelFail, err.Error(), "correct it, or go without a file with --config ''"}
	case a.settings.file == "":
		return check{"config", sqlite.LevelOK, "there is no file of settings", ""}
	}
	return check{"config", sqlite.LevelOK, a.settings.file, ""}
}

// diagnosis writes the checks one below the other.
func (a *app) diagnosis(checks []check) string {
	styles := map[sqlite.Level]func(string) string{
		sqlite.LevelOK: a.style("32"), sqlite.LevelWarn: a.style("33"), sqlite.LevelFail: a.style("31"),
	}
	var b strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&b, "%s  %-12s %s\n", styles[c.Level](fmt.Sprintf("%-4s", c.Level)), c.Check, plain(c.Text))
		if c.Fix != "" {
			fmt.Fprintf(&b, "      %-12s %s\n", "", plain(c.Fix))
		}
	}
	return b.String()
}
