package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"waybill/doctor"
)

// doctorFlags are the flags of the doctor.
type doctorFlags struct {
	fix    bool
	bundle string
}

func (a *app) doctorCommand() *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the program, the workspace and its store, and say what to do", Args: cobra.NoArgs,
		Long: `Check this program and what surrounds it, the workspace, the settings, everything in the store, and the plans: the
file and its modes, the disk it is on, the tables, every row against its checksum, the chain of the event log,
who else uses it, and much more; docs/doctor.md has the table. Without --fix nothing is changed, and processes
that use the store go on.

--fix mends what can be mended without asking, and says what it did: modes that let other users in, files that
say where a server is which is gone, temporary files that a killed waybill has left, and the reserve of space. What
is damaged is left to ` + "`waybill salvage`" + `.

--bundle writes what was found to a new file, for somebody who is to help: a .tar.gz without any path, name,
text, prompt, output, reply or token in it.

Exit codes: 0 if no check fails, 5 if one of the store does, 1 if another one does.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd, flags) },
	}
	cmd.Flags().BoolVar(&flags.fix, "fix", false, "mend what can be mended safely")
	cmd.Flags().StringVar(&flags.bundle, "bundle", "", "write what was found, without anything private, to this new .tar.gz")
	return cmd
}

func (a *app) doctor(cmd *cobra.Command, flags doctorFlags) error {
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
	a.code = verdictOf(found)
	for _, m := range mended {
		if m.Err != "" && a.code == exitOK {
			a.code = exitFailed
		}
	}
	if flags.bundle != "" {
		if flags.bundle, err = writeBundle(flags.bundle, facts, found); err != nil {
			return err
		}
	}
	if a.json {
		return a.print(diagnosisView{a.code == exitOK, found, mended, flags.bundle})
	}
	_, err = fmt.Fprint(a.Out, a.diagnosis(found, mended, flags.bundle))
	return err
}

// diagnosisView is what `waybill doctor --json` prints.
type diagnosisView struct {
	OK     bool             `json:"ok"`
	Checks []doctor.Finding `json:"checks"`
	Fixed  []mending        `json:"fixed,omitzero"`
	Bundle string           `json:"bundle,omitzero"`
}

// verdictOf gives the exit code: a store that cannot be trusted comes before everything else.
func verdictOf(found []doctor.Finding) int {
	if doctor.Failed(found, doctor.TheStore) {
		return exitStore
	}
	for _, part := range doctor.Parts() {
		if doctor.Failed(found, part) {
			return exitFailed
		}
	}
	return exitOK
}

// diagnosis writes the checks one below the other, what was mended before them.
func (a *app) diagnosis(found []doctor.Finding, mended []mending, bundle string) string {
	styles := map[doctor.Level]func(string) string{
		doctor.OK: a.style("32"), doctor.Warn: a.style("33"), doctor.Fail: a.style("31"), doctor.Skipped: a.style("2"),
	}
	var b strings.Builder
	for _, m := range mended {
		fmt.Fprintf(&b, "%-4s  %-12s %s\n", m.word(), m.Check, plain(m.Text))
	}
	for _, f := range found {
		fmt.Fprintf(&b, "%s  %-12s %s\n", styles[f.Level](fmt.Sprintf("%-4.4s", f.Level)), f.Check, plain(f.Text))
		if f.Fix != "" {
			fmt.Fprintf(&b, "      %-12s %s\n", "", plain(f.Fix))
		}
	}
	if bundle != "" {
		fmt.Fprintf(&b, "      %-12s %s\n", "bundle", plain(bundle))
	}
	return b.String()
}
