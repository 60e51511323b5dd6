package doctor

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/check/trust"
	"waybill/cli/backend"
	"waybill/cli/endpoint"
	"waybill/cli/program"
	"waybill/cli/settings"
	"waybill/doctor"
	"waybill/engine/workspace"
	"waybill/internal/nearest"
	"waybill/schema/codec"
	"waybill/store/postgres"
	"waybill/store/sqlite"
)

// facts collects the facts for the doctor. It changes nothing.
func (a commands) facts(cmd *cobra.Command) (*doctor.Facts, error) {
	ws, err := workspace.Resolve(a.Sources())
	f := &doctor.Facts{Now: time.Now(), Program: a.programFacts(), Settings: a.settingFacts(cmd)}
	f.Workspace = doctor.Workspace{Root: ws.Root, ResolvedBy: ws.ResolvedBy, Err: err}
	if err == nil && (a.Store == "" || postgres.Names(a.Store)) {
		f.State = stateFacts(ws.StateDir)
		if former := ws.Former(); former != nil {
			f.Workspace.Former = former.Root
		}
	}
	if err == nil {
		f.Checks = checkFacts(trust.Place{Root: ws.Root, StateDir: ws.StateDir})
		f.Watching = a.watchingFacts(cmd.Context(), ws.Root)
	}
	if err != nil && (a.Store == "" || postgres.Names(a.Store)) {
		return f, nil
	}
	f.Place = doctor.Place{Looked: true, Err: a.ForeseePlace(ws)}
	if err := a.surveyStore(cmd.Context(), f, ws); err != nil {
		return nil, err
	}
	if f.Workspace.Err == nil {
		f.Plans = a.planFacts(f.Store.Tables.Work.Plans)
	}
	folder, err := endpoint.Folder(a.Store, ws)
	if err != nil {
		return nil, err
	}
	f.Doors = doorFacts(cmd.Context(), folder, f.Store.Peers)
	f.Litter = append(f.Litter, litter(folder, f.Now)...)
	return f, nil
}

// surveyStore collects the facts that the store reports about itself.
func (a commands) surveyStore(ctx context.Context, f *doctor.Facts, ws workspace.Workspace) error {
	path, err := backend.StorePath(a.Store, ws)
	switch {
	case err != nil:
		return err
	case postgres.Names(a.Store):
		f.Store = a.databaseFacts(ctx, ws)
	default:
		f.Store, f.Litter = sqlite.Survey(ctx, a.SQLiteOptions(path), f.Now)
	}
	return nil
}

func (a commands) programFacts() doctor.Program {
	return doctor.Program{
		Version: a.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		OnPath: programsOn(a.Env("PATH")), Variables: variables(os.Environ()),
	}
}

// programsOn returns the programs named waybill in the folders of a search path.
func programsOn(path string) (found []doctor.Installed) {
	name := "waybill"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	self, _ := os.Executable() // without it, all are others
	for _, dir := range filepath.SplitList(path) {
		at := filepath.Join(dir, name)
		info, err := os.Stat(at)
		known := slices.ContainsFunc(found, func(i doctor.Installed) bool { return i.Path == at })
		if err != nil || known || !filepath.IsAbs(at) || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0 {
			continue
		}
		found = append(found, doctor.Installed{Path: at, Same: sameProgram(self, at)})
	}
	return found
}

// sameProgram reports whether two files at any paths are the same program. It starts neither.
func sameProgram(one, other string) bool {
	a, errA := os.Stat(one)
	b, errB := os.Stat(other)
	switch {
	case errA != nil || errB != nil:
		return false
	case os.SameFile(a, b):
		return true
	case a.Size() != b.Size():
		return false
	}
	return sameBytes(one, other)
}

// sameBytes compares two files of one size.
func sameBytes(one, other string) bool {
	a, err := os.Open(one)
	if err != nil {
		return false
	}
	defer func() { _ = a.Close() }() // it was only read
	b, err := os.Open(other)
	if err != nil {
		return false
	}
	defer func() { _ = b.Close() }() // it was only read
	left, right := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(a, left)
		m, _ := io.ReadFull(b, right)
		if !bytes.Equal(left[:n], right[:m]) {
			return false
		}
		if err != nil {
			return true // both files have ended, or neither can be read further
		}
	}
}

// ownPrefix begins the names of the variables that are ours.
const ownPrefix = "WAYBILL_"

// knownVariables returns those that mean something.
func knownVariables() []string {
	names := []string{settings.ConfigVariable, settings.DialectVariable, program.StoreVariable, "WAYBILL_LOG", "WAYBILL_WORKSPACE"}
	for _, row := range codec.SettingRows() {
		names = append(names, settings.SettingVariable(row.Name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// variables returns the set variables of an environment whose names begin with waybill's prefix.
func variables(environment []string) (found []doctor.Variable) {
	known := knownVariables()
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, ownPrefix) || value == "" {
			continue
		}
		v := doctor.Variable{Name: name, Known: slices.Contains(known, name)}
		if near := nearest.Names(name, known); !v.Known && len(near) > 0 {
			v.Near = near[0]
		}
		if name == "WAYBILL_LOG" && new(slog.LevelVar).UnmarshalText([]byte(value)) != nil {
			v.Wrong = "is not a level such as debug, info, warn or error; debug is used"
		}
		found = append(found, v)
	}
	slices.SortFunc(found, func(a, b doctor.Variable) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// settingFacts finds out whether a server would start with these settings.
func (a commands) settingFacts(cmd *cobra.Command) doctor.Settings {
	if err := a.Configure(cmd); err != nil {
		return doctor.Settings{Err: err}
	}
	s := doctor.Settings{File: a.Settings.File, KeepFor: a.Settings.Keep().For}
	for _, row := range codec.SettingRows() {
		if g, ok := a.Settings.Given[row.Name]; ok {
			s.Given = append(s.Given, doctor.Setting{Name: row.Name, From: kindOf(g), Value: g.Value})
		}
	}
	return s
}

// kindOf returns the kind of source of a value: "file", "flag" or "variable".
func kindOf(g settings.Given) string {
	switch {
	case g.Line > 0:
		return "file"
	case strings.HasPrefix(g.Origin, "--"):
		return "flag"
	}
	return "variable"
}

// stateFacts collects the facts about the state folder.
func stateFacts(dir string) doctor.Folder {
	f := doctor.Folder{Path: dir, Modes: runtime.GOOS != "windows"}
	if dir == "" {
		return f
	}
	info, err := os.Lstat(dir)
	switch {
	case settings.Absent(err):
		return f
	case err != nil:
		f.Err = err
		return f
	}
	f.There, f.Folder, f.Mine, f.Mode = true, info.IsDir() && info.Mode()&fs.ModeIrregular == 0, endpoint.Mine(info), info.Mode()
	return f
}

// checkFacts collects the facts about the file with the checks. It runs none of them.
func checkFacts(place trust.Place) doctor.Checks {
	standing := place.Look()
	f := doctor.Checks{Looked: true, Number: len(standing.Checks), Why: standing.Why, Mend: standing.Mend}
	if standing.State != trust.None {
		f.Path = place.Path()
	}
	if standing.Kept != nil {
		f.TrustedAt = standing.Kept.At
	}
	return f
}

// databaseFacts queries the server of the store, and reads and checks every record. It creates nothing.
func (a commands) databaseFacts(ctx context.Context, ws workspace.Workspace) doctor.Store {
	return postgres.Survey(ctx, postgres.Options{URL: a.Store, Workspace: a.WorkspaceName(ws), Version: a.Version})
}
