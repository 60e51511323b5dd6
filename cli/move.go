package cli

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

	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store"
	"waybill/store/move"
	"waybill/store/postgres"
)

// standard names the standard input, or the standard output, where a file is asked for.
const standard = "-"

func (a *app) exportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "export [FILE|-]", Short: "Write all that the store holds as lines of JSON", Args: cobra.MaximumNArgs(1),
		Long: `Write all that the store holds, as it is at one moment, as lines of JSON: to a new file, or to standard
output. Processes that use the store go on. The same contents give the same bytes. The last line has the
SHA-256 over all others, so that a file that was cut or altered is known by it. A damaged store is refused.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == standard {
				_, err := a.export(cmd.Context(), a.Out)
				return moveFault(err)
			}
			return a.exportTo(cmd.Context(), args[0])
		},
	}
}

// exportTo exports to a new file that only its owner can read, and that is there as a whole or not at all.
func (a *app) exportTo(ctx context.Context, path string) error {
	if _, err := a.existingStore([]string{path}); err != nil {
		return err // and no file was made
	}
	var summary move.Summary
	err := newFile(path, func(f *os.File) (err error) {
		summary, err = a.export(ctx, f)
		return err
	})
	if err != nil {
		return moveFault(err)
	}
	path, _ = filepath.Abs(path) // as far as the current folder is known
	return a.reportMove(summary, "path", path, "")
}

func (a *app) export(ctx context.Context, w io.Writer) (summary move.Summary, err error) {
	path, err := a.existingStore(nil)
	if err != nil {
		return summary, err
	}
	s, err := a.wholeStore(ctx, path)
	if err != nil {
		return summary, err
	}
	ws, _ := workspace.Resolve(a.sources()) // with --store, there need be none
	summary, err = move.Export(ctx, s, w, ws.ID)
	return summary, errors.Join(err, s.Close())
}

// wholeStore opens the store, whose file is at path if it has one, to be read.
func (a *app) wholeStore(ctx context.Context, path string) (store.Store, error) {
	if postgres.Names(a.store) {
		s, _, err := a.wholeDatabase(ctx, a.givenStore(), true)
		return s, err
	}
	return wholeFile(ctx, a.storeOptions(path))
}

func (a *app) importCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE|-", Short: "Fill an empty store with what export wrote", Args: cobra.ExactArgs(1),
		Long: `Fill the store of the workspace, which must be empty or not there, with what ` + "`waybill export`" + ` wrote, from a
file or from standard input: all of it or nothing. A file that was cut or altered is refused, and the line is
named. ` + "`waybill restore`" + ` puts an export in the place of a store that is not empty.`,
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
			summary, err := move.Import(cmd.Context(), s, f)
			if err = errors.Join(err, s.Close()); err != nil {
				return moveFault(err)
			}
			return a.reportMove(summary, "store", shown, "")
		},
	}
}

// storeToFill opens the store, or makes it, and says where it is.
func (a *app) storeToFill(ctx context.Context) (store.Store, string, error) {
	if postgres.Names(a.store) {
		return a.wholeDatabase(ctx, a.givenStore(), false)
	}
	path, err := a.makeStore()
	if err != nil {
		return nil, "", err
	}
	o := a.storeOptions(path)
	o.PrivateDir = !strings.HasSuffix(a.store, ".db")
	s, err := wholeFile(ctx, o)
	return s, path, err
}

// makeStore gives the place of the store, with its folder made as the server makes it.
func (a *app) makeStore() (string, error) {
	ws, err := workspace.Resolve(a.sources())
	if err != nil && a.store == "" {
		return "", schema.NewError(schema.NoWorkspace, err.Error())
	}
	if a.store == "" && ws.StateDir != "" {
		if err := ws.EnsureStateDir(); err != nil {
			return "", stateFault(err)
		}
	}
	return storePath(a.store, ws)
}

// source opens a file to be read, or keeps standard input in a file that is read from its beginning more than once.
func (a *app) source(name string) (f *os.File, done func(), err error) {
	if name == standard {
		return a.spooled()
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, schema.NewError(schema.SubjectGone, "there is no file "+name)
	case err == nil && !info.Mode().IsRegular():
		return nil, nil, schema.NewError(schema.InvalidParams, name+" is no regular file: name one that `waybill export` or `waybill backup` wrote")
	case err == nil:
		f, err = os.Open(name)
	}
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}

func (a *app) spooled() (f *os.File, done func(), err error) {
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

// reportMove says what was moved: its place under a name, the counts, the sum, and what was set aside.
func (a *app) reportMove(s move.Summary, name, path, aside string) error {
	if a.json {
		said := map[string]any{name: path, "counts": s.Counts, "sha256": s.Sum}
		if s.Workspace != "" {
			said["workspace"] = s.Workspace
		}
		if aside != "" {
			said["set_aside"] = aside
		}
		return a.print(said)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-13s %s\n", name, plain(path))
	if aside != "" {
		fmt.Fprintf(&b, "set aside     %s\n", plain(aside))
	}
	s.Counts.Each(func(name string, n int) {
		if n > 0 {
			fmt.Fprintf(&b, "%-13s %d\n", name, n)
		}
	})
	_, err := fmt.Fprintf(a.Out, "%ssha256        %s\n", b.String(), s.Sum)
	return err
}

// moveFault gives the error object for an error of moving a store.
func moveFault(err error) error {
	if bad, ok := errors.AsType[*move.FormatError](err); ok {
		if bad.Newer {
			return schema.NewError(schema.StoreNewer, bad.Error())
		}
		return schema.NewError(schema.StoreCorrupt, bad.Error())
	}
	if full, ok := errors.AsType[*move.NotEmptyError](err); ok {
		return schema.NewError(schema.InvalidState, full.Error())
	}
	if changed, ok := errors.AsType[*move.ChangedError](err); ok {
		return schema.NewError(schema.Conflict, changed.Error())
	}
	return storeFault(err)
}
