package cli

import (
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
	var from, to string
	cmd := &cobra.Command{
		Use: "migrate --from STORE --to STORE", Short: "Copy a store into another, empty one, and compare the two", Args: cobra.NoArgs,
		Long: `Copy a store into another one, which must be empty or not there, and then compare the two, record by record. Each
is what --store may name. The source is only read. If a process writes to it meanwhile, that is said, with
exit code 4, because the target lacks what was written.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" || to == "" {
				return usageError{errors.New("store migrate needs --from STORE and --to STORE")}
			}
			for _, flag := range []string{from, to} {
				if err := checkStore(flag); err != nil {
					return err
				}
			}
			return a.migrate(cmd.Context(), from, to)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the store to read: a *.db file or a folder")
	cmd.Flags().StringVar(&to, "to", "", "the store to fill: a *.db file or a folder")
	return cmd
}

func (a *app) migrate(ctx context.Context, from, to string) (err error) {
	source, _, err := a.named(ctx, from, true)
	if err != nil {
		return moveFault(err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, path, err := a.named(ctx, to, false)
	if err != nil {
		return moveFault(err)
	}
	summary, err := move.Migrate(ctx, source, target)
	if err = errors.Join(err, target.Close()); err != nil {
		return moveFault(err)
	}
	return a.reportMove(summary, "store", path, "")
}

// named opens the store that a flag names, to be read only or to be filled.
func (a *app) named(ctx context.Context, flag string, readOnly bool) (store.Store, string, error) {
	path, err := storePath(flag, workspace.Workspace{})
	if err != nil {
		return nil, "", err
	}
	if _, err := os.Stat(path); readOnly && errors.Is(err, fs.ErrNotExist) {
		return nil, "", schema.NewError(schema.SubjectGone, "there is no store at "+path)
	}
	o := a.storeOptions(path)
	o.ReadOnly, o.ViewLimit, o.PrivateDir = readOnly, longView, !readOnly && !strings.HasSuffix(flag, ".db")
	s, err := sqlite.Open(ctx, o)
	if err != nil {
		return nil, "", err
	}
	return s, path, nil
}
