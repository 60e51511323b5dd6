// Package planfiles opens the plans of the workspace for commands that need no store.
package planfiles

import (
	"path"
	"strings"

	"github.com/spf13/cobra"

	"waybill/cli/backend"
	"waybill/cli/program"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/internal/safetext"
	planfile "waybill/plan/file"
	"waybill/schema"
)

// Plans are the plans of the workspace, read without a store.
type Plans struct {
	*engine.Plans
	Root      *planfile.Root
	Workspace workspace.Workspace
}

func Open(a *program.App) (Plans, error) { return OpenWith(a, NoTurns) }

func OpenWith(a *program.App, lock Turns) (Plans, error) {
	ws, err := workspace.Resolve(a.Sources())
	if err != nil {
		return Plans{}, schema.NewError(schema.NoWorkspace, err.Error())
	}
	path, err := lock(ws.Root)
	if err != nil {
		return Plans{}, err
	}
	root, err := planfile.Open(ws.Root, planfile.Options{Folders: true, LockPath: path, Kept: func(path string) { SayKept(a, path) }})
	if err != nil {
		return Plans{}, err
	}
	store, err := backend.StorePath(a.Store, ws)
	if err != nil {
		store = "" // without a store, there are no stored rules
	} else {
		removeLeftBy(a, store+backend.PlansLock)
	}
	RemoveLeftovers(a, ws.Root)
	return Plans{engine.NewPlans(root, a.Dialects.Options(store)), root, ws}, nil
}

func (p Plans) Close() { _ = p.Root.Close() } // it was only read

// Complete completes the path of a plan of the workspace, or the name of its folder; where none begins like
// that, the shell completes files.
func Complete(a *program.App) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		p, err := Open(a)
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		defer p.Close()
		paths, _ := p.List() // completion cannot show an error
		var names []string
		for _, rel := range paths {
			if safetext.Printable(rel) != rel {
				continue // the shell would insert a name that cannot be typed
			}
			if strings.HasPrefix(rel, begun) {
				names = append(names, rel)
			}
			if folder := path.Base(path.Dir(rel)); folder != "." && begun != "" && strings.HasPrefix(folder, begun) {
				names = append(names, folder+"\t"+rel)
			}
		}
		return names, cobra.ShellCompDirectiveDefault
	}
}
