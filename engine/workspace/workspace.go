// Package workspace determines the workspace folder of a process and the folder of its state. It never guesses: "/"
// and the home folder are no workspace, and a named folder that cannot be used ends the search.
package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Values of Workspace.ResolvedBy and Attempt.Source, in the order of the search.
const (
	byFlag       = "--workspace"
	byEnv        = "WAYBILL_WORKSPACE"
	byInitialize = "initialize"
	byClaude     = "CLAUDE_PROJECT_DIR"
	byCwd        = "cwd"
)

// Sources are the inputs of Resolve. Empty fields are not set. Paths may be relative to Cwd; the first four may be
// file:// URIs.
type Sources struct {
	Flag             string // --workspace
	EnvWorkspace     string // WAYBILL_WORKSPACE
	InitFolder       string // the first folder or the root of initialize
	ClaudeProjectDir string // CLAUDE_PROJECT_DIR
	Cwd              string
	Home             string
	StateBase        string // see StateBase; the state folder is made below it

	// Known, if it has a root, is what an earlier Resolve of this process returned, and is returned again.
	Known Workspace
}

// Workspace is an existing folder and its identity.
type Workspace struct {
	ID         string // the same for every spelling of the folder's path
	Root       string // absolute, free of links
	StateDir   string // below Sources.StateBase; "" when that was empty
	ResolvedBy string // --workspace, WAYBILL_WORKSPACE, initialize, CLAUDE_PROJECT_DIR or cwd
	Dev, Ino   uint64
}

// Attempt is one source that Resolve tried, and why it did not apply.
type Attempt struct{ Source, Value, Why string }

// UnresolvedError says that no workspace was found, which sources were tried, and what to do.
type UnresolvedError struct{ Tried []Attempt }

func (e *UnresolvedError) Error() string {
	var b strings.Builder
	b.WriteString("no workspace:")
	for _, a := range e.Tried {
		fmt.Fprintf(&b, " %s", a.Source)
		if a.Value != "" {
			fmt.Fprintf(&b, " %q", a.Value)
		}
		fmt.Fprintf(&b, " %s;", a.Why)
	}
	b.WriteString(" use --workspace DIR, set WAYBILL_WORKSPACE, or start in a folder that holds tasks.md or .git")
	return b.String()
}

// errTooWide refuses the root and the home folder.
var errTooWide = errors.New("is the root or the home folder, which is never a workspace")

// Resolve finds the workspace. It takes the first named folder of --workspace, WAYBILL_WORKSPACE, initialize and
// CLAUDE_PROJECT_DIR. Otherwise it takes the nearest folder above Cwd that looks like a project. A former workspace
// counts too, so that deleting tasks.md does not change the workspace.
//
// A host without a project names "/" or the home folder: from initialize and CLAUDE_PROJECT_DIR these count as not
// set. Every failure is an *UnresolvedError.
func Resolve(s Sources) (Workspace, error) {
	if s.Known.Root != "" {
		return s.Known, nil
	}
	unresolved := &UnresolvedError{}
	for _, c := range []struct {
		source, value string
		hint          bool // set by the host, perhaps without a project
	}{
		{byFlag, s.Flag, false},
		{byEnv, s.EnvWorkspace, false},
		{byInitialize, s.InitFolder, true},
		{byClaude, s.ClaudeProjectDir, true},
	} {
		if c.value == "" {
			unresolved.add(c.source, "", "is not given")
			continue
		}
		w, err := s.named(c.source, c.value)
		if err == nil {
			return w, nil
		}
		unresolved.add(c.source, c.value, err.Error())
		if !c.hint || !errors.Is(err, errTooWide) {
			return Workspace{}, unresolved
		}
	}
	if s.Cwd == "" {
		unresolved.add(byCwd, "", "is not known")
		return Workspace{}, unresolved
	}
	w, err := s.above()
	if err != nil {
		unresolved.add(byCwd, s.Cwd, err.Error())
		return Workspace{}, unresolved
	}
	return w, nil
}

func (e *UnresolvedError) add(source, value, why string) {
	e.Tried = append(e.Tried, Attempt{Source: source, Value: value, Why: why})
}

// named returns the workspace at a folder that a source names.
func (s Sources) named(source, value string) (Workspace, error) {
	path, err := folderPath(value, runtime.GOOS)
	if err != nil {
		return Workspace{}, err
	}
	if !filepath.IsAbs(path) {
		if s.Cwd == "" {
			return Workspace{}, errors.New("is relative, and the current folder is not known")
		}
		path = filepath.Join(s.Cwd, path)
	}
	root, err := canonical(path)
	if err != nil {
		return Workspace{}, err
	}
	if s.tooWide(root) {
		return Workspace{}, errTooWide
	}
	return s.at(source, root)
}

// markers are the names whose presence makes a folder a project.
var markers = []string{"tasks.md", "TASKS.md", ".git", ".kiro", ".spec-context", ".spec-workflow"}

// marked reports whether the folder dir contains a marker.
func marked(dir string) bool {
	for _, marker := range markers {
		if _, err := os.Lstat(filepath.Join(dir, marker)); err == nil {
			return true
		}
	}
	return false
}

// above returns the nearest project at or above Cwd.
func (s Sources) above() (Workspace, error) {
	dir, err := canonical(s.Cwd)
	if err != nil {
		return Workspace{}, err
	}
	for !s.tooWide(dir) {
		if marked(dir) || s.remembered(dir) {
			return s.at(byCwd, dir)
		}
		dir = filepath.Dir(dir)
	}
	return Workspace{}, errors.New("has no project above it (tasks.md, .git, .kiro, .spec-context, .spec-workflow)")
}

// tooWide reports whether the canonical path dir is a root ("/", `C:\`) or the home folder.
func (s Sources) tooWide(dir string) bool {
	if filepath.Dir(dir) == dir {
		return true
	}
	if s.Home == "" {
		return false
	}
	home, err := canonical(s.Home)
	return err == nil && home == dir
}

func (s Sources) at(source, root string) (Workspace, error) {
	dev, ino, err := inodeOf(root)
	if err != nil {
		return Workspace{}, err
	}
	w := Workspace{
		ID:         idOf(identityPath(root)),
		Root:       root,
		ResolvedBy: source,
		Dev:        dev,
		Ino:        ino,
	}
	if s.StateBase != "" {
		w.StateDir = filepath.Join(s.StateBase, w.ID)
	}
	return w, nil
}

// idOf returns an id that is short enough for a socket path and long enough to avoid collisions.
func idOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:12])
}

// canonical returns the only spelling of an existing folder: absolute, without links, with an upper-case drive letter
// and the case on disk.
func canonical(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("does not exist: %w", err)
		}
		return "", fmt.Errorf("cannot be entered: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("cannot be entered: %w", err)
	}
	if !info.IsDir() {
		return "", errors.New("is not a folder")
	}
	return spelledOnDisk(upperDrive(real), info), nil
}

func upperDrive(path string) string {
	if len(path) > 1 && path[1] == ':' {
		return strings.ToUpper(path[:1]) + path[1:]
	}
	return path
}

// spelledOnDisk returns the system's spelling of path if it names the same folder.
func spelledOnDisk(path string, info fs.FileInfo) string {
	spelled, ok := systemSpelling(path)
	if !ok {
		return path
	}
	if same, err := os.Stat(spelled); err != nil || !os.SameFile(same, info) {
		return path
	}
	return spelled
}
