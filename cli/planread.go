package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/planfile"
	"waybill/engine/workspace"
	"waybill/ledger"
	"waybill/schema"
)

// mostPlanBytes is the largest file that is read as a plan, as it is for plans of a workspace.
const mostPlanBytes = 8 << 20

// A planText is a plan before anybody has understood it.
type planText struct {
	name string // as it is shown
	text string
	rel  string // its path in the workspace, or "" for one that is not known to be there
	// placing has its path, if that is known, and the dialect that is set for it.
	placing ledger.Placing
	at      string // its path with all folders above it, "" for standard input
}

// planText finds the plan that a person means: the file of that name, or else the plan of the workspace that
// is there or in the folder of that name; "-" is standard input.
func (a *app) planText(arg string) (planText, error) {
	if arg == "-" {
		text, err := readPlan(a.In)
		if err != nil {
			return planText{}, fmt.Errorf("read the plan from standard input: %w", err)
		}
		return planText{name: "standard input", text: text}, nil
	}
	info, err := os.Stat(arg)
	folder := err == nil && info.IsDir()
	if !folder && !errors.Is(err, fs.ErrNotExist) {
		return a.planFile(arg)
	}
	p, err := a.openPlans()
	switch {
	case err != nil && folder:
		return folderText(arg)
	case err != nil:
		return planText{}, schema.NewError(schema.LedgerMissing, fmt.Sprintf("there is no file %q, and no workspace to look for a plan of that name", arg))
	}
	defer p.close()
	text, err := p.named(arg)
	if err == nil || !folder {
		return text, err
	}
	if in := a.inWorkspace(arg); in != "" {
		return p.text(in) // as it is called from here
	}
	return folderText(arg)
}

// folderText reads a folder that is in no workspace, or not in this one.
func folderText(dir string) (planText, error) {
	root, name, err := besideWorkspaces(dir, noTurns)
	if err != nil {
		return planText{}, err
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	whole := root.Canonical(name)
	file, err := root.Read(whole, nil)
	if err != nil {
		return planText{}, api.Fault(err)
	}
	if whole != name {
		dir = filepath.Join(dir, path.Base(whole))
	}
	return planText{name: dir, text: file.Text}, nil
}

// besideWorkspaces gives the folder that a plan really lies in which is in no workspace, and its name there.
func besideWorkspaces(plan string, lock turns) (root *planfile.Root, name string, err error) {
	real, err := filepath.EvalSymlinks(plan)
	if err != nil {
		return nil, "", err // has the path
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, "", err
	}
	path, err := lock(filepath.Dir(real))
	if err != nil {
		return nil, "", err
	}
	root, err = planfile.Open(filepath.Dir(real), planfile.Options{Folders: true, LockPath: path})
	return root, filepath.Base(real), err
}

// planFile reads a file that was named by its path. Nothing but a regular file is opened: whoever opens a named
// pipe waits until somebody writes to it, which may be never.
func (a *app) planFile(name string) (planText, error) {
	f, err := planfile.OpenRegular(name)
	if errors.Is(err, planfile.NotRegular) {
		return planText{}, api.Fault(err).Hint("`waybill plan - <FILE` reads what is no file")
	}
	if err != nil {
		return planText{}, err // has the path
	}
	defer func() { _ = f.Close() }() // nothing was written
	text, err := readPlan(f)
	if err != nil {
		return planText{}, fmt.Errorf("read %s: %w", name, err)
	}
	p := planText{name: name, text: text, rel: a.inWorkspace(name), at: really(name)}
	if p.rel != "" {
		if plans, err := a.openPlans(); err == nil {
			defer plans.close()
			p.placing = plans.Placing(p.rel)
		}
	}
	return p, nil
}

// really gives the whole path of a file, whose folder is free of links. It is as good as it can be known.
func really(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return filepath.ToSlash(path)
}

func readPlan(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostPlanBytes+1))
	if err == nil && len(text) > mostPlanBytes {
		err = fmt.Errorf("it is larger than a plan may be, %d bytes", mostPlanBytes)
	}
	return string(text), err
}

// inWorkspace gives the path of a file in the workspace, or "" if it is not in there. The name of the file
// stays as it is even if it is a link: its runs are known by that.
func (a *app) inWorkspace(name string) string {
	ws, err := workspace.Resolve(a.sources())
	if err != nil {
		return ""
	}
	root, err := filepath.EvalSymlinks(ws.Root)
	if err != nil {
		return ""
	}
	name, err = filepath.Abs(name)
	if err != nil {
		return ""
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(name)))
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// openPlans are the plans of the workspace, read without a store.
type openPlans struct {
	*engine.Plans
	root *planfile.Root
	ws   workspace.Workspace
}

func (a *app) openPlans() (openPlans, error) { return a.plansBy(noTurns) }

func (a *app) plansBy(lock turns) (openPlans, error) {
	ws, err := workspace.Resolve(a.sources())
	if err != nil {
		return openPlans{}, schema.NewError(schema.NoWorkspace, err.Error())
	}
	path, err := lock(ws.Root)
	if err != nil {
		return openPlans{}, err
	}
	root, err := planfile.Open(ws.Root, planfile.Options{Folders: true, LockPath: path})
	if err != nil {
		return openPlans{}, err
	}
	store, err := storePath(a.store, ws)
	if err != nil {
		store = "" // without a store, nobody has kept rules
	}
	return openPlans{engine.NewPlans(root, a.dialects.options(store)), root, ws}, nil
}

func (p openPlans) close() { _ = p.root.Close() } // nothing was written through it

// named reads the plan that a name in the workspace means.
func (p openPlans) named(name string) (planText, error) {
	rel, err := p.Resolve(name)
	if err != nil {
		return planText{}, api.Fault(err)
	}
	return p.text(rel)
}

// text reads a plan at a path in the workspace.
func (p openPlans) text(rel string) (planText, error) {
	file, err := p.root.Read(rel, nil)
	if err != nil {
		return planText{}, api.Fault(err)
	}
	return planText{name: rel, text: file.Text, rel: rel, placing: p.Placing(rel)}, nil
}

// errNoItems says that a file is no plan because nothing is in it.
var errNoItems = errors.New("no item was found: the file is blank")

// read understands a plan. With an error there is a reading all the same: without items, and with what can
// be said about the file.
func (p planText) read() (*ledger.Reading, error) {
	placing := p.placing
	if p.at != "" {
		placing.Path = ledger.Placed(p.at)
	}
	r, err := ledger.ReadPlaced(p.text, placing)
	if err == nil && r.Len() == 0 {
		err = errNoItems
	}
	if err == nil {
		return r, nil
	}
	none := &ledger.Reading{}
	if parse, ok := errors.AsType[*ledger.ParseError](err); ok {
		none.Diagnostics = parse.Diagnostics
		if parse.Reason != ledger.ReasonNoItems {
			none.Diagnostics = []ledger.Diagnostic{{
				Line: max(1, parse.Line), Column: 1, Severity: ledger.SeverityError, Code: parse.Reason, Message: parse.Message,
			}}
		}
	}
	return none, fmt.Errorf("%s: %w", p.name, err)
}

// outlook joins the items of a plan with what they wait for: by its runs too, if it has any, and else by its
// file alone. The note says why the runs could not be asked.
func (a *app) outlook(ctx context.Context, p planText, items []ledger.Item) (joined []outlookItem, note string, err error) {
	if p.rel != "" && (a.store != "" || a.storeExists()) {
		waiting, err := a.waiting(ctx, p.rel)
		joined, same := outlook(items, waiting)
		switch {
		case err != nil && a.store != "":
			return nil, "", err
		case err != nil:
			note = "its runs are not known: " + err.Error()
		case same:
			return joined, "", nil
		default:
			note = "its runs are left out: the file has changed just now"
		}
	}
	joined, _ = outlook(items, ledger.Ready(items, func(string) ledger.ItemRun { return ledger.NoRun }).Waiting)
	return joined, note, nil
}

// waiting asks the store what the items of a plan wait for.
func (a *app) waiting(ctx context.Context, rel string) (waiting []ledger.Waiting, err error) {
	err = a.with(func(l *local) error {
		var r schema.ReadyItems
		limit := 1 // those that are not ready are all there, and the others are ready
		err := l.call(ctx, "ready_items", schema.ReadyItemsParams{Plan: "./" + rel, Limit: &limit}, &r)
		for _, w := range r.Waiting {
			because := make([]ledger.Hold, len(w.Because))
			for i, hold := range w.Because {
				because[i] = ledger.Hold{Kind: ledger.HoldKind(hold.Kind), ItemID: hold.ItemID}
			}
			waiting = append(waiting, ledger.Waiting{ItemID: w.ItemID, Because: because})
		}
		return err
	})
	return waiting, err
}
