package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/cli/backend"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/sqlite"
	"waybill/store/transfer"
)

// longView bounds the one reading of a whole store.
const longView = 24 * time.Hour

func (a commands) migrateCommand() *cobra.Command {
	from, to := program.NamedStore{Flag: "--from", NameFlag: "--from-name"}, program.NamedStore{Flag: "--to", NameFlag: "--to-name"}
	cmd := &cobra.Command{
		Example: "  waybill store migrate --from garden.db --to postgres://mary@db/garden",
		Use:     "migrate --from STORE --to STORE", Short: "Copy a store into another, empty one, and compare the two", Args: cobra.NoArgs,
		Long: `Copy a store into an empty or new one and compare the two, record by record. Name each store as for --store. The
source is only read. If a process writes to the source meanwhile, the exit code is 4, because the target lacks these
changes.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from.Store == "" || to.Store == "" {
				return output.UsageError(errors.New("store migrate needs --from STORE and --to STORE"))
			}
			if err := cmp.Or(from.Check(), to.Check()); err != nil {
				return err
			}
			return a.migrate(cmd.Context(), from, to)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&from.Store, "from", "", "the store to read: a *.db file, a folder or postgres://…")
	flags.StringVar(&from.Name, "from-name", "", "the name of the workspace in the database of --from (default: its id)")
	flags.StringVar(&to.Store, "to", "", "the store to fill: a *.db file, a folder or postgres://…")
	flags.StringVar(&to.Name, "to-name", "", "the name of the workspace in the database of --to (default: its id)")
	return cmd
}

func (a commands) migrate(ctx context.Context, from, to program.NamedStore) (err error) {
	source, _, err := openNamed(ctx, a.App, from, true)
	if err != nil {
		return moveFault(err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, shown, err := openNamed(ctx, a.App, to, false)
	if err != nil {
		return moveFault(err)
	}
	summary, err := transfer.Migrate(ctx, source, target)
	if err = errors.Join(err, target.Close()); err != nil {
		return moveFault(err)
	}
	return a.reportMove(summary, "store", shown, "")
}

// openNamed opens the store that flags name, for reading or for filling, and returns its address as text.
func openNamed(ctx context.Context, a *program.App, n program.NamedStore, readOnly bool) (store.Store, string, error) {
	if postgres.Names(n.Store) {
		return wholeDatabase(ctx, a, n, readOnly)
	}
	path, err := backend.StorePath(n.Store, workspace.Workspace{})
	if err != nil {
		return nil, "", err
	}
	if _, err := os.Stat(path); readOnly && errors.Is(err, fs.ErrNotExist) {
		return nil, "", schema.NewError(schema.SubjectGone, "there is no store at "+path)
	}
	o := a.SQLiteOptions(path)
	o.ReadOnly, o.PrivateDir = readOnly, !readOnly && !strings.HasSuffix(n.Store, ".db")
	s, err := wholeFile(ctx, o)
	return s, path, err
}

// wholeFile opens a store in a file, with a time limit for reading all of it.
func wholeFile(ctx context.Context, o sqlite.Options) (store.Store, error) {
	o.ViewLimit = longView
	s, err := sqlite.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// wholeDatabase opens a store in a database like wholeFile. A store opened for reading must exist.
func wholeDatabase(ctx context.Context, a *program.App, n program.NamedStore, readOnly bool) (store.Store, string, error) {
	s, shown, err := openDatabase(ctx, a, n, readOnly)
	if err != nil {
		return nil, "", err
	}
	return s, shown, nil
}

func openDatabase(ctx context.Context, a *program.App, n program.NamedStore, readOnly bool) (*postgres.Store, string, error) {
	ws, err := workspace.Resolve(a.Sources())
	if err != nil && n.Name == "" {
		return nil, "", schema.NewError(schema.NoWorkspace, err.Error())
	}
	name := cmp.Or(n.Name, ws.ID)
	s, err := postgres.Open(ctx, postgres.Options{
		URL: n.Store, Workspace: name, Version: a.Version, Logger: a.Logger(a.Err), ReadOnly: readOnly, Whole: longView,
	})
	if err != nil {
		return nil, "", err
	}
	return s, program.DatabaseShown(n.Store, name), nil
}
