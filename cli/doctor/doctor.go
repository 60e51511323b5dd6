// Package doctor has the command that collects facts for package waybill/doctor and performs its repairs.
package doctor

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/doctor"
	"waybill/internal/safetext"
)

// doctorFlags are the flags of the doctor.
type doctorFlags struct {
	fix    bool
	bundle string
}

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// Command returns the command.
func Command(a *program.App) *cobra.Command { return commands{a}.doctorCommand() }

func (a commands) doctorCommand() *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Example: "  waybill doctor --fix",
		Use:     "doctor", Short: "Check the program, the workspace and its store; suggest repairs", Args: cobra.NoArgs,
		Long: `Check this program, its environment, the workspace, the settings, the store and the plans: the file and its mode,
the disk, the tables, the checksum of every row, the chain of the event log, other processes, and more;
docs/doctor.md lists the checks. Without --fix the command changes nothing. Processes that use the store continue.

--fix makes safe repairs and lists them: file modes that admit other users, endpoint files of servers that are gone,
temporary files of killed processes, and the reserve of disk space. Damaged records are left to ` + "`waybill store salvage`" + `.

--bundle writes the findings to a new file for a helper: a .tar.gz without any path, name,
text, prompt, output, reply or token in it.

Exit codes: 0 if no check fails, 5 if one of the store does, 1 if another one does.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd, flags) },
	}
	cmd.Flags().BoolVar(&flags.fix, "fix", false, "make safe repairs")
	cmd.Flags().StringVar(&flags.bundle, "bundle", "", "write the findings, without private data, to this new .tar.gz")
	return cmd
}

func (a commands) doctor(cmd *cobra.Command, flags doctorFlags) error {
	facts, err := a.facts(cmd)
	if err != nil {
		return err
	}
	var mended []mending
	if flags.fix {
		mended = a.mend(cmd.Context(), facts)
		if len(mended) > 0 {
			facts, err = a.facts(cmd)
		}
		if err != nil {
			return err
		}
	}
	found := doctor.Examine(facts)
	a.Code = verdictOf(found)
	for _, m := range mended {
		if m.Err != "" && a.Code == output.ExitOK {
			a.Code = output.ExitFailed
		}
	}
	if flags.bundle != "" {
		if flags.bundle, err = writeBundle(flags.bundle, facts, found); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.Print(diagnosisView{a.Code == output.ExitOK, found, mended, flags.bundle})
	}
	_, err = fmt.Fprint(a.Out, a.diagnosis(found, mended, flags.bundle))
	return err
}

// diagnosisView is the output of `waybill doctor --json`.
type diagnosisView struct {
	OK     bool             `json:"ok"`
	Checks []doctor.Finding `json:"checks"`
	Fixed  []mending        `json:"fixed,omitzero"`
	Bundle string           `json:"bundle,omitzero"`
}

// verdictOf returns the exit code: a store that cannot be trusted comes before everything else.
func verdictOf(found []doctor.Finding) int {
	if doctor.Failed(found, doctor.TheStore) {
		return output.ExitStore
	}
	for _, part := range doctor.Parts() {
		if doctor.Failed(found, part) {
			return output.ExitFailed
		}
	}
	return output.ExitOK
}

// diagnosis returns the repairs and then the checks as text, one a line.
func (a commands) diagnosis(found []doctor.Finding, mended []mending, bundle string) string {
	styles := map[doctor.Level]func(string) string{
		doctor.OK: a.Style("32"), doctor.Warn: a.Style("33"), doctor.Fail: a.Style("31"), doctor.Skipped: a.Style("2"),
	}
	var b strings.Builder
	for _, m := range mended {
		fmt.Fprintf(&b, "%-4s  %-12s %s\n", m.word(), m.Check, safetext.Printable(m.Text))
	}
	for _, f := range found {
		fmt.Fprintf(&b, "%s  %-12s %s\n", styles[f.Level](fmt.Sprintf("%-4.4s", f.Level)), f.Check, safetext.Printable(f.Text))
		if f.Fix != "" {
			fmt.Fprintf(&b, "      %-12s %s\n", "", safetext.Printable(f.Fix))
		}
	}
	if bundle != "" {
		fmt.Fprintf(&b, "      %-12s %s\n", "bundle", safetext.Printable(bundle))
	}
	return b.String()
}
