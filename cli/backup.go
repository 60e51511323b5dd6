package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/sqlite"
)

func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "Write a copy of the store to a new file", Args: cobra.ExactArgs(1),
		Long: `Write a copy of the store, as it is at one moment, to a new file, and read it again to check it.
Processes that use the store go on. ` + "`waybill restore`" + ` goes back to a copy.

Exit code 5 with a copy means that a record in it is damaged, as it is in the store. A damaged store in a database is
not copied: pg_dump copies that.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if postgres.Names(a.store) {
				if err := a.backupDatabase(cmd.Context(), args[0]); err != nil {
					return err
				}
				return a.reportBackup(args[0], nil)
			}
			path, err := a.existingStore(args)
			if err != nil {
				return err
			}
			s, err := sqlite.Open(cmd.Context(), a.storeOptions(path))
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

func (a *app) reportBackup(path string, damage []store.Damage) error {
	if len(damage) > 0 {
		a.code = exitStore
	}
	path, _ = filepath.Abs(path) // as far as the current folder is known
	if a.json {
		found := make([]map[string]string, 0, len(damage))
		for _, d := range damage {
			found = append(found, map[string]string{"what": d.What, "detail": d.Detail})
		}
		return a.print(map[string]any{"path": path, "damage": found})
	}
	for _, d := range damage {
		a.say("waybill: " + plain(d.What+": "+d.Detail))
	}
	_, err := fmt.Fprintf(a.Out, "%s\n", plain(path))
	return err
}

func (a *app) salvageCommand() *cobra.Command {
	return &cobra.Command{
		Use: "salvage [FILE]", Short: "Save what is readable of a damaged store", Args: cobra.MaximumNArgs(1),
		Long: `Copy every readable record of a damaged store whose checksum is right into a new store, and count
what was lost. With FILE, the new store is written there, and the damaged one stays in its place.
Without, it takes the place of the damaged one, which is set aside beside it; for that, end all processes
that use the store. The damaged file is never changed and never deleted. A task that waits for one that
was lost is named: it waits until it is cancelled.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if postgres.Names(a.store) {
				return usageError{errors.New("the store is in a database, whose server keeps its files: `waybill restore` goes back to a copy or an export, " +
					"and `waybill doctor` reads and checks everything in it")}
			}
			path, err := a.existingStore(args)
			if err != nil {
				return err
			}
			var result sqlite.Salvaged
			if len(args) == 0 {
				result, err = sqlite.Salvage(cmd.Context(), a.storeOptions(path))
			} else {
				result, err = sqlite.SalvageTo(cmd.Context(), a.storeOptions(path), args[0])
			}
			if err != nil {
				return storeFault(err)
			}
			return a.reportSalvage(result)
		},
	}
}

func (a *app) reportSalvage(r sqlite.Salvaged) error {
	if a.json {
		return a.print(map[string]any{
			"path": r.Path, "set_aside": r.SetAside, "kept": r.Kept, "lost": r.Lost, "unreadable": append([]string{}, r.Unreadable...),
			"stranded": stranded(r),
		})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "store         %s\n", plain(r.Path))
	if r.SetAside != "" {
		fmt.Fprintf(&b, "set aside     %s\n", plain(r.SetAside))
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
		fmt.Fprintf(&b, "stranded      %s waits for %s, lost: cancel it, and create it anew without that\n", plain(s.TaskID), plain(strings.Join(s.Lost, ", ")))
	}
	_, err := fmt.Fprint(a.Out, b.String())
	return err
}

// stranded gives the tasks that wait for what was lost, as JSON has them.
func stranded(r sqlite.Salvaged) []map[string]any {
	all := make([]map[string]any, 0, len(r.Stranded))
	for _, s := range r.Stranded {
		all = append(all, map[string]any{"task_id": s.TaskID, "lost": s.Lost})
	}
	return all
}

// existingStore gives the file of the store, which must be there, and makes sure that the files to be
// made are not. Whether a database is there is found out when it is asked.
func (a *app) existingStore(wanted []string) (string, error) {
	ws, err := workspace.Resolve(a.sources())
	if err != nil && a.store == "" {
		return "", schema.NewError(schema.NoWorkspace, err.Error())
	}
	path, err := storePath(a.store, ws)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !postgres.Names(a.store) {
		return "", schema.NewError(schema.SubjectGone, "there is no store at "+path)
	}
	for _, file := range wanted {
		if _, err := os.Lstat(file); err == nil {
			return "", schema.NewError(schema.InvalidState, file+" is there already and is not replaced: name a new file")
		}
	}
	return path, nil
}

func (a *app) storeOptions(path string) sqlite.Options {
	return sqlite.Options{Path: path, Version: a.version, Logger: a.logger(a.Err), AllowRemote: a.shared}
}

// storeFault gives the error object for an error of the store.
func storeFault(err error) error {
	if _, ok := errors.AsType[*store.Error](err); ok {
		return api.Fault(err)
	}
	return err
}
