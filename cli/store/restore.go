package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"waybill/internal/safetext"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/sqlite"
	"waybill/store/transfer"
)

func (a commands) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Example: "  waybill store restore garden.db",
		Use:     "restore FILE", Short: "Put a copy of a store, or an export, in the place of the store", Args: cobra.ExactArgs(1),
		Long: `Put a copy that ` + "`waybill store backup`" + ` wrote, or what ` + "`waybill store export`" + ` wrote, in the place of the store. The store that
was there is set aside beside it, whole, under a name that is printed: in another file, or in a database as another
workspace. Processes that use the store go on with the new contents; what their agents are at, those may not
know. A file that is damaged, cut or altered is refused, and then nothing has changed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, done, err := a.source(args[0])
			if err != nil {
				return err
			}
			defer done()
			if postgres.Names(a.Store) {
				return a.restoreDatabase(cmd.Context(), f)
			}
			path, err := a.makeStore()
			if err != nil {
				return moveFault(err)
			}
			o := a.SQLiteOptions(path)
			o.PrivateDir = !strings.HasSuffix(a.Store, ".db")
			database, err := isDatabase(f)
			if err != nil {
				return err
			}
			if database {
				return a.restoreCopy(cmd.Context(), o, f.Name()) // of standard input, too, there is a file
			}
			return a.restoreExport(cmd.Context(), o, f)
		},
	}
}

// databaseMark is the beginning of every SQLite database.
const databaseMark = "SQLite format 3\x00"

// isDatabase reports whether the file begins like a SQLite database.
func isDatabase(f *os.File) (bool, error) {
	begin := make([]byte, len(databaseMark))
	if _, err := f.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.Equal(begin, []byte(databaseMark)), nil
}

func (a commands) restoreCopy(ctx context.Context, o sqlite.Options, file string) error {
	done, err := sqlite.RestoreCopy(ctx, o, file)
	if err != nil {
		return moveFault(err)
	}
	if a.JSON {
		return a.Print(map[string]any{"store": done.Path, "set_aside": done.SetAside})
	}
	text := fmt.Sprintf("store         %s\n", safetext.Printable(done.Path))
	if done.SetAside != "" {
		text += fmt.Sprintf("set aside     %s\n", safetext.Printable(done.SetAside))
	}
	_, err = fmt.Fprint(a.Out, text)
	return err
}

func (a commands) restoreExport(ctx context.Context, o sqlite.Options, f *os.File) error {
	var summary transfer.Summary
	done, err := sqlite.Restore(ctx, o, func(tx store.Tx) (err error) {
		summary, err = transfer.Read(tx, f)
		return err
	})
	if err != nil {
		return moveFault(err)
	}
	return a.reportMove(summary, "store", done.Path, done.SetAside)
}
