package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store"
	"waybill/store/move"
	"waybill/store/postgres"
	"waybill/store/sqlite"
)

// longView bounds the one reading of a whole store.
const longView = 24 * time.Hour

func (a *app) storeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "store", Short: "Move stores between databases", Args: cobra.NoArgs}
	cmd.AddCommand(a.migrateCommand())
	return cmd
}

func (a *app) migrateCommand() *cobra.Command {
	from, to := namedStore{flag: "--from", nameFlag: "--from-name"}, namedStore{flag: "--to", nameFlag: "--to-name"}
	cmd := &cobra.Command{
		Use: "migrate --from STORE --to STORE", Short: "Copy a store into another, empty one, and compare the two", Args: cobra.NoArgs,
		Long: `Copy a store into another one, which must be empty or not there, and then compare the two, record by record. Each
is what --store may name. The source is only read. If a process writes to it meanwhile, that is said, with
exit code 4, because the target lacks what was written.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from.store == "" || to.store == "" {
				return usageError{errors.New("store migrate needs --from STORE and --to STORE")}
			}
			if err := cmp.Or(from.check(), to.check()); err != nil {
				return err
			}
			return a.migrate(cmd.Context(), from, to)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&from.store, "from", "", "the store to read: a *.db file, a folder or postgres://…")
	flags.StringVar(&from.name, "from-name", "", "the name of the workspace in the database of --from (default: its id)")
	flags.StringVar(&to.store, "to", "", "the store to fill: a *.db file, a folder or postgres://…")
	flags.StringVar(&to.name, "to-name", "", "the name of the workspace in the database of --to (default: its id)")
	return cmd
}

func (a *app) migrate(ctx context.Context, from, to namedStore) (err error) {
	source, _, err := a.named(ctx, from, true)
	if err != nil {
		return moveFault(err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, shown, err := a.named(ctx, to, false)
	if err != nil {
		return moveFault(err)
	}
	summary, err := move.Migrate(ctx, source, target)
	if err = errors.Join(err, target.Close()); err != nil {
		return moveFault(err)
	}
	return a.reportMove(summary, "store", shown, "")
}

// named opens the store that flags name, to be read only or to be filled, and says where it is.
func (a *app) named(ctx context.Context, n namedStore, readOnly bool) (store.Store, string, error) {
	if postgres.Names(n.store) {
		return a.wholeDatabase(ctx, n, readOnly)
	}
	path, err := storePath(n.store, workspace.Workspace{})
	if err != nil {
		return nil, "", err
	}
	if _, err := os.Stat(path); readOnly && errors.Is(err, fs.ErrNotExist) {
		return nil, "", schema.NewError(schema.SubjectGone, "there is no store at "+path)
	}
	o := a.storeOptions(path)
	o.ReadOnly, o.PrivateDir = readOnly, !readOnly && !strings.HasSuffix(n.store, ".db")
	s, err := wholeFile(ctx, o)
	return s, path, err
}

// wholeFile opens a store in a file for as long as it takes to go through all of it.
func wholeFile(ctx context.Context, o sqlite.Options) (store.Store, error) {
	o.ViewLimit = longView
	s, err := sqlite.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// wholeDatabase does the same with one in a database. One that is to be read must be there.
func (a *app) wholeDatabase(ctx context.Context, n namedStore, readOnly bool) (store.Store, string, error) {
	s, shown, err := a.openDatabase(ctx, n, readOnly)
	if err != nil {
		return nil, "", err
	}
	return s, shown, nil
}

func (a *app) openDatabase(ctx context.Context, n namedStore, readOnly bool) (*postgres.Store, string, error) {
	ws, err := workspace.Resolve(a.sources())
	if err != nil && n.name == "" {
		return nil, "", schema.NewError(schema.NoWorkspace, err.Error())
	}
	name := cmp.Or(n.name, ws.ID)
	s, err := postgres.Open(ctx, postgres.Options{
		URL: n.store, Workspace: name, Version: a.version, Logger: a.logger(a.Err), ReadOnly: readOnly, Whole: longView,
	})
	if err != nil {
		return nil, "", err
	}
	return s, databaseShown(n.store, name), nil
}
