package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"waybill/cli/backend"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/transfer"
)

// standard is the file argument for the standard input or output.
const standard = "-"

func (a commands) exportCommand() *cobra.Command {
	return &cobra.Command{
		Example: "  waybill store export garden.jsonl",
		Use:     "export [FILE|-]", Short: "Export the store as lines of JSON", Args: cobra.MaximumNArgs(1),
		Long: `Write a consistent copy of the store as lines of JSON to a new file or to standard output. Processes that use the
store continue. Equal contents produce equal bytes. The last line has the SHA-256 of the others, so that a cut or
altered file is detected. A damaged store is refused.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == standard {
				_, err := a.export(cmd.Context(), a.exportOutput())
				return moveFault(err)
			}
			return a.exportTo(cmd.Context(), args[0])
		},
	}
}

// exportOutput returns standard output, with unprintable characters escaped if it is a terminal.
func (a commands) exportOutput() io.Writer {
	if term.IsTerminal(int(a.Out.Fd())) {
		return &output.JSONEscaper{To: a.Out}
	}
	return a.Out
}

// exportTo exports to a new file that only its owner can read. A failed export leaves no file.
func (a commands) exportTo(ctx context.Context, path string) error {
	if _, err := a.ExistingStore([]string{path}); err != nil {
		return err // and no file was made
	}
	var summary transfer.Summary
	err := program.NewFile(path, func(f *os.File) (err error) {
		summary, err = a.export(ctx, f)
		return err
	})
	if err != nil {
		return moveFault(err)
	}
	path, _ = filepath.Abs(path) // as far as the current folder is known
	return a.reportMove(summary, "path", path, "")
}

func (a commands) export(ctx context.Context, w io.Writer) (summary transfer.Summary, err error) {
	path, err := a.ExistingStore(nil)
	if err != nil {
		return summary, err
	}
	s, err := a.wholeStore(ctx, path)
	if err != nil {
		return summary, err
	}
	ws, _ := workspace.Resolve(a.Sources()) // with --store, there need be none
	summary, err = transfer.Export(ctx, s, w, ws.ID)
	return summary, errors.Join(err, s.Close())
}

// wholeStore opens the store for reading. path is its file, if it has one.
func (a commands) wholeStore(ctx context.Context, path string) (store.Store, error) {
	if postgres.Names(a.Store) {
		s, _, err := wholeDatabase(ctx, a.App, a.NamedStore(), true)
		return s, err
	}
	return wholeFile(ctx, a.SQLiteOptions(path))
}

func (a commands) importCommand() *cobra.Command {
	return &cobra.Command{
		Example: "  waybill store import garden.jsonl",
		Use:     "import FILE|-", Short: "Fill an empty store from an export", Args: cobra.ExactArgs(1),
		Long: `Fill the store of the workspace, which must be empty or new, with the output of ` + "`waybill store export`" + ` wrote, from a
file or from standard input: all of it or nothing. A file that was cut or altered is refused, and the line is
named. ` + "`waybill store restore`" + ` puts an export in the place of a store that is not empty.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, done, err := a.source(args[0])
			if err != nil {
				return err
			}
			defer done()
			s, shown, err := a.storeToFill(cmd.Context())
			if err != nil {
				return moveFault(err)
			}
			summary, err := transfer.Import(cmd.Context(), s, f)
			if err = errors.Join(err, s.Close()); err != nil {
				return moveFault(err)
			}
			return a.reportMove(summary, "store", shown, "")
		},
	}
}

// storeToFill opens or creates the store, and returns its path or address.
func (a commands) storeToFill(ctx context.Context) (store.Store, string, error) {
	if postgres.Names(a.Store) {
		return wholeDatabase(ctx, a.App, a.NamedStore(), false)
	}
	path, err := a.makeStore()
	if err != nil {
		return nil, "", err
	}
	o := a.SQLiteOptions(path)
	o.PrivateDir = !strings.HasSuffix(a.Store, ".db")
	s, err := wholeFile(ctx, o)
	return s, path, err
}

// makeStore returns the path of the store and creates its folder as the server does.
func (a commands) makeStore() (string, error) {
	ws, err := workspace.Resolve(a.Sources())
	if err != nil && a.Store == "" {
		return "", schema.NewError(schema.NoWorkspace, err.Error())
	}
	if a.Store == "" && ws.StateDir != "" {
		if err := ws.EnsureStateDir(); err != nil {
			return "", backend.StateFault(err)
		}
	}
	return backend.StorePath(a.Store, ws)
}

// source opens a file to be read, or keeps standard input in a file that is read from its beginning more than once.
func (a commands) source(name string) (f *os.File, done func(), err error) {
	if name == standard {
		return a.spooled()
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, schema.NewError(schema.SubjectGone, "there is no file "+name)
	case err == nil && !info.Mode().IsRegular():
		return nil, nil, schema.NewError(schema.InvalidParams, name+" is no regular file: name one that `waybill store export` or `waybill store backup` wrote")
	case err == nil:
		f, err = os.Open(name)
	}
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}

func (a commands) spooled() (f *os.File, done func(), err error) {
	f, err = os.CreateTemp("", "waybill-import-*")
	if err != nil {
		return nil, nil, err
	}
	done = func() { _ = errors.Join(f.Close(), os.Remove(f.Name())) }
	if _, err := io.Copy(f, a.In); err != nil {
		done()
		return nil, nil, fmt.Errorf("read standard input: %w", err)
	}
	return f, done, nil
}

// reportMove prints the moved store: its path under the name, the counts, the checksum and the former store.
func (a commands) reportMove(s transfer.Summary, name, path, aside string) error {
	if a.JSON {
		said := map[string]any{name: path, "counts": s.Counts, "sha256": s.Sum}
		if s.Workspace != "" {
			said["workspace"] = s.Workspace
		}
		if aside != "" {
			said["set_aside"] = aside
		}
		return a.Print(said)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-13s %s\n", name, safetext.Printable(path))
	if aside != "" {
		fmt.Fprintf(&b, "set aside     %s\n", safetext.Printable(aside))
	}
	s.Counts.Each(func(name string, n int) {
		if n > 0 {
			fmt.Fprintf(&b, "%-13s %d\n", name, n)
		}
	})
	_, err := fmt.Fprintf(a.Out, "%ssha256        %s\n", b.String(), s.Sum)
	return err
}

// moveFault returns the error object for an error of moving a store.
func moveFault(err error) error {
	if bad, ok := errors.AsType[*transfer.FormatError](err); ok {
		if bad.Newer {
			return schema.NewError(schema.StoreNewer, bad.Error())
		}
		return schema.NewError(schema.StoreCorrupt, bad.Error())
	}
	if full, ok := errors.AsType[*transfer.NotEmptyError](err); ok {
		return schema.NewError(schema.InvalidState, full.Error())
	}
	if changed, ok := errors.AsType[*transfer.ChangedError](err); ok {
		return schema.NewError(schema.Conflict, changed.Error())
	}
	return storeFault(err)
}
