// Package store has the commands that copy, repair and move the store.
package store

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/sqlite"
)

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// Command returns the command with those about the store.
func Command(a *program.App) *cobra.Command {
	c := commands{a}
	cmd := &cobra.Command{Use: "store", Short: "Copy, restore, move or repair the store", Args: cobra.NoArgs}
	cmd.AddCommand(c.backupCommand(), c.restoreCommand(), c.exportCommand(), c.importCommand(), c.migrateCommand(), c.salvageCommand())
	return cmd
}

func (a commands) backupCommand() *cobra.Command {
	return &cobra.Command{
		Example: "  waybill store backup garden.db",
		Use:     "backup FILE", Short: "Write a copy of the store to a new file", Args: cobra.ExactArgs(1),
		Long: `Write a consistent copy of the store to a new file, and read it back to check it.
Processes that use the store continue. ` + "`waybill store restore`" + ` goes back to a copy.

Exit code 5 with a copy means that a record in it is damaged, as it is in the store. A damaged store in a database is
not copied: pg_dump copies that.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if postgres.Names(a.Store) {
				if err := a.backupDatabase(cmd.Context(), args[0]); err != nil {
					return err
				}
				return a.reportBackup(args[0], nil)
			}
			path, err := a.ExistingStore(args)
			if err != nil {
				return err
			}
			s, err := sqlite.Open(cmd.Context(), a.SQLiteOptions(path))
			if err != nil {
				return storeFault(err)
			}
			damage, err := s.Backup(cmd.Context(), args[0])
			if err = errors.Join(err, s.Close()); err != nil {
				return storeFault(err)
			}
			return a.reportBackup(args[0], damage)
		},
	}
}

func (a commands) reportBackup(path string, damage []store.Damage) error {
	if len(damage) > 0 {
		a.Code = output.ExitStore
	}
	path, _ = filepath.Abs(path) // as far as the current folder is known
	if a.JSON {
		found := make([]map[string]string, 0, len(damage))
		for _, d := range damage {
			found = append(found, map[string]string{"what": d.What, "detail": d.Detail})
		}
		return a.Print(map[string]any{"path": path, "damage": found})
	}
	for _, d := range damage {
		a.Say("waybill: " + safetext.Printable(d.What+": "+d.Detail))
	}
	_, err := fmt.Fprintf(a.Out, "%s\n", safetext.Printable(path))
	return err
}

func (a commands) salvageCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Example: "  waybill store salvage sound.db",
		Use:     "salvage [FILE]", Short: "Recover the readable records of a damaged store", Args: cobra.MaximumNArgs(1),
		Long: `Copy every readable record with a right checksum from a damaged store into a new one, and count the lost records.
With FILE, the new store is written there and the damaged one stays. Without FILE, the new store replaces the damaged
one, which is kept beside it; end all processes that use the store first. The damaged file is never changed or deleted.
The command names tasks that depend on a lost task: they wait until they are cancelled.

A store without damage stays as it is and the exit code is 4: use waybill store backup to copy it. --force salvages it
anyway.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if postgres.Names(a.Store) {
				return output.UsageError(errors.New("the store is in a database, whose server keeps its files: `waybill store restore` goes back to a copy or an export, " +
					"and `waybill doctor` reads and checks everything in it"))
			}
			path, err := a.ExistingStore(args)
			if err != nil {
				return err
			}
			if !force {
				if err := needsSalvage(path, sqlite.Examine(cmd.Context(), a.SQLiteOptions(path))); err != nil {
					return err
				}
			}
			var result sqlite.Salvaged
			if len(args) == 0 {
				result, err = sqlite.Salvage(cmd.Context(), a.SQLiteOptions(path))
			} else {
				result, err = sqlite.SalvageTo(cmd.Context(), a.SQLiteOptions(path), args[0])
			}
			if err != nil {
				return storeFault(err)
			}
			return a.reportSalvage(result)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "salvage the store even if nothing is damaged")
	return cmd
}

// needsSalvage returns the reason why an examination found nothing to salvage: there is no damage, or none is known
// because the examination could not end.
func needsSalvage(path string, found []sqlite.Finding) error {
	if slices.ContainsFunc(found, sqlite.IsDamage) {
		return nil
	}
	if i := slices.IndexFunc(found, func(f sqlite.Finding) bool { return f.Level == sqlite.LevelFail }); i >= 0 {
		return schema.NewError(schema.StoreIO, "whether the store at "+path+" is damaged is not known: "+found[i].Text).
			Hint(found[i].Fix + "; --force salvages it all the same")
	}
	return schema.NewError(schema.InvalidState, "nothing is damaged in the store at "+path+", so there is nothing to salvage").
		Hint("waybill store backup FILE copies it; --force salvages it all the same")
}

func (a commands) reportSalvage(r sqlite.Salvaged) error {
	if a.JSON {
		return a.Print(map[string]any{
			"path": r.Path, "set_aside": r.SetAside, "kept": r.Kept, "lost": r.Lost, "unreadable": append([]string{}, r.Unreadable...),
			"stranded": stranded(r),
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "store         %s\n", safetext.Printable(r.Path))
	if r.SetAside != "" {
		fmt.Fprintf(&b, "set aside     %s\n", safetext.Printable(r.SetAside))
	}
	tables := slices.AppendSeq(slices.Collect(maps.Keys(r.Kept)), maps.Keys(r.Lost))
	slices.Sort(tables)
	for _, name := range slices.Compact(tables) {
		fmt.Fprintf(&b, "%-13s %d kept, %d lost\n", name, r.Kept[name], r.Lost[name])
	}
	for _, what := range r.Unreadable {
		fmt.Fprintf(&b, "unreadable    a part of %s: how much was in it is not known\n", what)
	}
	for _, s := range r.Stranded {
		fmt.Fprintf(&b, "stranded      %s waits for %s, lost: cancel it, and create it anew without that\n", safetext.Printable(s.TaskID), safetext.Printable(strings.Join(s.Lost, ", ")))
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

// stranded returns the tasks that wait for lost records, in their JSON form.
func stranded(r sqlite.Salvaged) []map[string]any {
	all := make([]map[string]any, 0, len(r.Stranded))
	for _, s := range r.Stranded {
		all = append(all, map[string]any{"task_id": s.TaskID, "lost": s.Lost})
	}
	return all
}

// storeFault returns the error object for an error of the store.
func storeFault(err error) error {
	if _, ok := errors.AsType[*store.Error](err); ok {
		return api.Fault(err)
	}
	return err
}
