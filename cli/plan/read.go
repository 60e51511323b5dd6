package plan

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
	"waybill/cli/output"
	"waybill/cli/planfiles"
	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/plan"
	"waybill/plan/dialect"
	planfile "waybill/plan/file"
	"waybill/plan/graph"
	"waybill/plan/read"
	"waybill/schema"
)

// mostPlanBytes is the largest file that is read as a plan, as it is for plans of a workspace.
const mostPlanBytes = 8 << 20

// A planText is a plan before anybody has understood it.
type planText struct {
	name string // as it is shown
	text string
	rel  string // its path in the workspace; "" if it may be outside
	// placing has its path, if that is known, and the dialect that is set for it.
	placing plan.Hints
	at      string // its path with all folders above it, "" for standard input
}

// planText finds the plan that a person means. It is the file of that name, or else the plan of the workspace at that
// path or in the folder of that name; "-" is standard input.
func (a commands) planText(arg string) (planText, error) {
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
	p, err := planfiles.Open(a.App)
	switch {
	case err != nil && folder:
		return a.folderText(arg)
	case err != nil:
		return planText{}, schema.NewError(schema.LedgerMissing, fmt.Sprintf("there is no file %q, and no workspace to look for a plan of that name", arg))
	}
	defer p.Close()
	text, err := namedText(p, arg)
	if err == nil || !folder {
		return text, err
	}
	if in := a.inWorkspace(arg); in != "" {
		return textAt(p, in) // as it is called from here
	}
	return a.folderText(arg)
}

// folderText reads a folder that is in no workspace, or not in this one.
func (a commands) folderText(dir string) (planText, error) {
	root, name, err := a.besideWorkspaces(dir, planfiles.NoTurns)
	if err != nil {
		return planText{}, err
	}
	defer func() { _ = root.Close() }() // it was only read
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

// besideWorkspaces opens the real folder of a plan outside of any workspace, and returns the plan's name there.
func (a commands) besideWorkspaces(plan string, lock planfiles.Turns) (root *planfile.Root, name string, err error) {
	real, err := filepath.EvalSymlinks(plan)
	if err != nil {
		return nil, "", err // the error has the path
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, "", err
	}
	planfiles.RemoveLeftovers(a.App, filepath.Dir(real))
	path, err := lock(filepath.Dir(real))
	if err != nil {
		return nil, "", err
	}
	root, err = planfile.Open(filepath.Dir(real), planfile.Options{Folders: true, LockPath: path, Kept: func(path string) { planfiles.SayKept(a.App, path) }})
	return root, filepath.Base(real), err
}

// planFile reads a file by its path. It opens only regular files, because opening a named pipe would block until
// another process writes to it.
func (a commands) planFile(name string) (planText, error) {
	f, err := planfile.OpenRegular(name)
	if errors.Is(err, planfile.NotRegular) {
		return planText{}, api.Fault(err).Hint("`waybill plan show - <FILE` reads what is no file")
	}
	if err != nil {
		return planText{}, nameFirst(name, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := readPlan(f)
	if err != nil {
		return planText{}, nameFirst(name, err)
	}
	p := planText{name: name, text: text, rel: a.inWorkspace(name), at: really(name)}
	if p.rel == "" {
		planfiles.RemoveLeftovers(a.App, filepath.Dir(filepath.FromSlash(p.at)))
	} else if plans, err := planfiles.Open(a.App); err == nil {
		defer plans.Close()
		p.placing = plans.Placing(p.rel)
	}
	return p, nil
}

// nameFirst returns an error that begins with the name of the file.
func nameFirst(name string, err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// really returns the absolute path of a file with the links of its folder resolved, as far as possible.
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

// inWorkspace returns the path of a file in the workspace, or "" if it is not in there. The name of the file
// stays as it is even if it is a link: its runs are known by that.
func (a commands) inWorkspace(name string) string {
	ws, err := workspace.Resolve(a.Sources())
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

// blankError returns the error for an empty file.
func blankError(name string) error {
	return &plan.ParseError{Path: name, Reason: plan.ReasonNoItems, Message: "no item was found: the file is blank"}
}

// read parses the plan. With an error, the reading is still not nil: it has no items, but the diagnostics of the file.
func (p planText) read() (*plan.Reading, error) {
	placing := p.placing
	if p.at != "" {
		placing.Path = dialect.HintPath(p.at)
	}
	r, err := read.Read(p.text, placing)
	if err == nil && r.Len() == 0 {
		err = blankError(p.name)
	}
	if err == nil {
		return r, nil
	}
	none := &plan.Reading{}
	if parse, ok := errors.AsType[*plan.ParseError](err); ok {
		parse.Path = p.name
		none.Diagnostics = parse.Diagnostics
		if parse.Reason != plan.ReasonNoItems {
			none.Diagnostics = []plan.Diagnostic{{
				Line: max(1, parse.Line), Column: 1, Severity: plan.SeverityError, Code: parse.Reason, Message: parse.Message,
			}}
		}
	}
	return none, err
}

// outlook joins the items of a plan with the items that they wait for, and returns the plan's progress. The progress
// includes the plan's runs if it has any. The note says why the runs are unknown.
func (a commands) outlook(ctx context.Context, p planText, r *plan.Reading) (joined []outlookItem, far plan.PlanProgress, note string, err error) {
	items := r.Items()
	if p.rel != "" && (a.Store != "" || a.StoreExists()) {
		waiting, runs, err := a.waiting(ctx, p.rel)
		joined, same := outlook(items, waiting)
		switch {
		case err != nil && a.Store != "":
			return nil, plan.PlanProgress{}, "", err
		case err != nil:
			note = "its runs are not known: " + err.Error()
		case same:
			return joined, output.ProgressOf(r.Totals.Completed, r.Totals.Total, runs), "", nil
		default:
			note = "its runs are left out: the file has changed just now"
		}
	}
	ready := graph.ReadyIn(r, items, func(string) plan.ItemRun { return plan.NoRun })
	joined, _ = outlook(items, ready.Waiting)
	return joined, ready.Progress, note, nil
}

// waiting returns from the store what the items of a plan wait for, and the run counts.
func (a commands) waiting(ctx context.Context, rel string) (waiting []plan.Waiting, runs *schema.PlanRuns, err error) {
	err = a.With(func(l *program.Local) error {
		var r schema.ReadyItems
		limit := 1 // those that are not ready are all there, and the others are ready
		err := l.Call(ctx, "ready_items", schema.ReadyItemsParams{Plan: "./" + rel, Limit: &limit}, &r)
		for _, w := range r.Waiting {
			because := make([]plan.Hold, len(w.Because))
			for i, hold := range w.Because {
				because[i] = plan.Hold{Kind: plan.HoldKind(hold.Kind), ItemID: hold.ItemID}
			}
			waiting = append(waiting, plan.Waiting{ItemID: w.ItemID, Because: because})
		}
		runs = r.Runs
		return err
	})
	return waiting, runs, err
}

// namedText reads the plan that a name in the workspace means.
func namedText(p planfiles.Plans, name string) (planText, error) {
	rel, err := p.Resolve(name)
	if err != nil {
		return planText{}, api.Fault(err)
	}
	return textAt(p, rel)
}

// textAt reads a plan at a path in the workspace.
func textAt(p planfiles.Plans, rel string) (planText, error) {
	file, err := p.Root.Read(rel, nil)
	if err != nil {
		return planText{}, api.Fault(err)
	}
	return planText{name: rel, text: file.Text, rel: rel, placing: p.Placing(rel)}, nil
}
