package cli

import (
	"bytes"
	"context"
	"debug/buildinfo"
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

	"waybill/doctor"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/store/postgres"
	"waybill/store/sqlite"
)

// facts gathers what the doctor judges. It changes nothing.
func (a *app) facts(cmd *cobra.Command) (*doctor.Facts, error) {
	ws, err := workspace.Resolve(a.sources())
	f := &doctor.Facts{Now: time.Now(), Program: a.programFacts(), Settings: a.settingFacts(cmd)}
	f.Workspace = doctor.Workspace{Root: ws.Root, ResolvedBy: ws.ResolvedBy, Err: err}
	if err == nil && (a.store == "" || postgres.Names(a.store)) {
		f.State = stateFacts(ws.StateDir)
		if former := ws.Former(); former != nil {
			f.Workspace.Former = former.Root
		}
	}
	if err == nil {
		f.Plans = a.planFacts()
		f.Watching = a.watchingFacts(cmd.Context(), ws.Root)
	}
	if err != nil && (a.store == "" || postgres.Names(a.store)) {
		return f, nil
	}
	if err := a.surveyStore(cmd.Context(), f, ws); err != nil {
		return nil, err
	}
	folder, err := portFolder(a.store, ws)
	if err != nil {
		return nil, err
	}
	f.Doors = doorFacts(cmd.Context(), folder, f.Store.Peers)
	f.Litter = append(f.Litter, litter(folder, f.Now)...)
	return f, nil
}

// surveyStore gathers what the store tells of itself.
func (a *app) surveyStore(ctx context.Context, f *doctor.Facts, ws workspace.Workspace) error {
	path, err := storePath(a.store, ws)
	switch {
	case err != nil:
		return err
	case postgres.Names(a.store):
		f.Store = a.databaseFacts(ctx, ws)
	default:
		f.Store, f.Litter = sqlite.Survey(ctx, a.storeOptions(path), f.Now)
	}
	return nil
}

func (a *app) programFacts() doctor.Program {
	return doctor.Program{
		Version: a.version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		OnPath: programsOn(a.env("PATH")), Variables: variables(os.Environ()),
	}
}

// programsOn gives the programs of our name in the folders of a search path.
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

// sameProgram reports whether two files are the same program, wherever they lie. It starts neither.
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
	built, errA := buildinfo.ReadFile(one)
	rebuilt, errB := buildinfo.ReadFile(other)
	return errA == nil && errB == nil && built.String() == rebuilt.String() && sameBytes(one, other)
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
			return true // both have ended, or neither can be read any further
		}
	}
}

// ownPrefix begins the names of the variables that are ours.
const ownPrefix = "WAYBILL_"

// knownVariables gives those that mean something.
func knownVariables() []string {
	names := []string{configVariable, dialectVariable, storeVariable, "WAYBILL_LOG", "WAYBILL_WORKSPACE"}
	for _, row := range schema.SettingRows() {
		names = append(names, settingVariable(row.Name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// variables gives those of an environment that are set and begin like ours.
func variables(environment []string) (found []doctor.Variable) {
	known := knownVariables()
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, ownPrefix) || value == "" {
			continue
		}
		v := doctor.Variable{Name: name, Known: slices.Contains(known, name)}
		if near := schema.Nearest(name, known); !v.Known && len(near) > 0 {
			v.Near = near[0]
		}
		if name == "WAYBILL_LOG" && new(slog.LevelVar).UnmarshalText([]byte(value)) != nil {
			v.Wrong = "is no level such as debug, info, warn or error, and counts as debug"
		}
		found = append(found, v)
	}
	slices.SortFunc(found, func(a, b doctor.Variable) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// settingFacts finds out whether a server would start with these settings.
func (a *app) settingFacts(cmd *cobra.Command) doctor.Settings {
	if err := a.configure(cmd); err != nil {
		return doctor.Settings{Err: err}
	}
	s := doctor.Settings{File: a.settings.file, KeepFor: a.settings.keep().For}
	for _, row := range schema.SettingRows() {
		if g, ok := a.settings.given[row.Name]; ok {
			s.Given = append(s.Given, doctor.Setting{Name: row.Name, From: g.kind(), Value: g.value})
		}
	}
	return s
}

// kind says in one word who gave a value.
func (g given) kind() string {
	switch {
	case g.line > 0:
		return "file"
	case strings.HasPrefix(g.origin, "--"):
		return "flag"
	}
	return "variable"
}

// stateFacts looks at the state folder.
func stateFacts(dir string) doctor.Folder {
	f := doctor.Folder{Path: dir, Modes: runtime.GOOS != "windows"}
	if dir == "" {
		return f
	}
	info, err := os.Lstat(dir)
	switch {
	case absent(err):
		return f
	case err != nil:
		f.Err = err
		return f
	}
	f.There, f.Folder, f.Mine, f.Mode = true, info.IsDir() && info.Mode()&fs.ModeIrregular == 0, mine(info), info.Mode()
	return f
}
