package check_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/check"
)

// A folder is the folder of a test, with commands.
type folder struct {
	t   *testing.T
	dir string
}

func (f folder) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o644))
}

func (f folder) git(args ...string) {
	f.t.Helper()
	if out, err := f.tryGit(args...); err != nil {
		f.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (f folder) tryGit(args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = f.dir
	return cmd.CombinedOutput()
}

func (f folder) tree() string {
	f.t.Helper()
	tree, err := check.Tree(f.t.Context(), f.dir)
	require.NoError(f.t, err)
	return tree
}

// repository returns a repository with two files and one commit.
func repository(t *testing.T) folder {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	f := folder{t, t.TempDir()}
	f.git("init", "-q")
	f.write("main.go", "package main\n")
	f.write("sub/part.go", "package sub\n")
	f.write(".gitignore", "*.log\n")
	f.git("add", ".")
	f.git("commit", "-qm", "one")
	return f
}

func TestTreeChangesWithTheFiles(t *testing.T) {
	for kind, start := range map[string]func(*testing.T) folder{
		"git": repository,
		"no git": func(t *testing.T) folder {
			f := folder{t, t.TempDir()}
			f.write("main.go", "package main\n")
			f.write("sub/part.go", "package sub\n")
			return f
		},
	} {
		for name, change := range map[string]func(f folder){
			"a file changes":    func(f folder) { f.write("main.go", "package maim\n") },
			"a file is added":   func(f folder) { f.write("new.go", "") },
			"a file is removed": func(f folder) { require.NoError(f.t, os.Remove(filepath.Join(f.dir, "main.go"))) },
			"a file is renamed": func(f folder) {
				require.NoError(f.t, os.Rename(filepath.Join(f.dir, "main.go"), filepath.Join(f.dir, "m.go")))
			},
			"a file is moved": func(f folder) {
				require.NoError(f.t, os.Rename(filepath.Join(f.dir, "sub/part.go"), filepath.Join(f.dir, "part.go")))
			},
			"a file can be run":  func(f folder) { require.NoError(f.t, os.Chmod(filepath.Join(f.dir, "main.go"), 0o755)) },
			"a link is added":    func(f folder) { require.NoError(f.t, os.Symlink("main.go", filepath.Join(f.dir, "link"))) },
			"a link leads away":  func(f folder) { require.NoError(f.t, os.Symlink("/nowhere", filepath.Join(f.dir, "link"))) },
			"a name is not text": func(f folder) { f.write("a\xff\nb", "") },
		} {
			t.Run(kind+": "+name, func(t *testing.T) {
				if runtime.GOOS == "windows" || runtime.GOOS == "darwin" && strings.Contains(name, "not text") {
					t.Skip("the file system has no such files")
				}
				t.Parallel()
				f := start(t)
				before := f.tree()
				require.Equal(t, before, f.tree())
				change(f)
				require.NotEqual(t, before, f.tree())
			})
		}
	}
}

func TestTreeIsThatOfTheFilesAlone(t *testing.T) {
	f := repository(t)
	f.write("new.go", "package main // new\n")
	before := f.tree()
	for _, step := range []func(){
		func() { f.write("debug.log", "ignored") },
		func() { f.git("add", "new.go") },
		func() { f.git("commit", "-qm", "two") },
		func() { f.git("checkout", "-qb", "other") },
		func() {
			require.NoError(t, os.Chtimes(filepath.Join(f.dir, "main.go"), time.Time{}, time.Now().Add(-time.Hour)))
		},
		func() { f.git("rm", "-q", "--cached", "main.go") },
		func() { f.git("reset", "-q") },
		func() { f.git("update-index", "--split-index") },
		func() { f.git("config", "core.fsmonitor", "true") },
	} {
		step()
		require.Equal(t, before, f.tree())
	}
}

func TestTreeSeesWhatTheIndexTellsGitToOverlook(t *testing.T) {
	for _, mark := range []string{"--assume-unchanged", "--skip-worktree"} {
		f := repository(t)
		before := f.tree()
		f.git("update-index", mark, "main.go")
		require.Equal(t, before, f.tree())
		f.write("main.go", "package lies\n")
		require.NotEqual(t, before, f.tree())
	}
}

// A file that is written in the instant of the index, with the same size, looks unchanged to a hasty reader.
func TestTreeSeesAChangeInTheInstantOfTheIndex(t *testing.T) {
	f := repository(t)
	f.git("config", "core.trustctime", "false")
	instant := time.Now().Add(-time.Hour).Truncate(time.Second)
	stamp := func(name string) { require.NoError(t, os.Chtimes(filepath.Join(f.dir, name), instant, instant)) }
	stamp("main.go")
	f.git("update-index", "--refresh")
	stamp(".git/index")
	before := f.tree()
	f.write("main.go", "package niam\n")
	stamp("main.go")
	require.NotEqual(t, before, f.tree())
}

func TestTreeLeavesTheRepositoryAsItIs(t *testing.T) {
	for name, prepare := range map[string]func(f folder){
		"clean":   func(folder) {},
		"changed": func(f folder) { f.write("main.go", "changed"); f.write("new.go", "new") },
		"staged":  func(f folder) { f.write("main.go", "changed"); f.git("add", "main.go"); f.write("main.go", "again") },
		"locked":  func(f folder) { f.write(".git/index.lock", ""); f.write("main.go", "changed") },
		"with hook": func(f folder) {
			f.write(".git/hooks/post-index-change", "#!/bin/sh\ntouch ../hooked\n")
			f.write("main.go", "x")
		},
		"with lfs": func(f folder) {
			f.write(".gitattributes", "*.go filter=lfs\n")
			f.git("config", "filter.lfs.clean", "touch .git/cleaned; cat")
			f.git("config", "filter.lfs.required", "true")
			f.write("main.go", "changed")
		},
		"in a merge": folder.inMerge,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := repository(t)
			prepare(f)
			before := contents(t, f.dir)
			f.tree()
			require.Equal(t, before, contents(t, f.dir))
		})
	}
}

// contents returns the mode, time and hash of every file in a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text := []byte(nil)
		if info.Mode().IsRegular() {
			text, err = os.ReadFile(path)
		}
		all[path] = fmt.Sprint(info.Mode(), info.ModTime(), sha256.Sum256(text))
		return err
	}))
	return all
}

func TestTreeOfUnusualRepositories(t *testing.T) {
	origin := repository(t)
	want := origin.tree()
	parent := folder{t, t.TempDir()}
	parent.git("clone", "-q", "--depth", "1", "file://"+origin.dir, "shallow")
	require.Equal(t, want, folder{t, filepath.Join(parent.dir, "shallow")}.tree())
	origin.git("worktree", "add", "-q", filepath.Join(parent.dir, "linked"))
	require.Equal(t, want, folder{t, filepath.Join(parent.dir, "linked")}.tree())

	sub := folder{t, filepath.Join(origin.dir, "sub")}
	before := sub.tree()
	sub.write("part.go", "package other\n")
	require.NotEqual(t, before, sub.tree())

	empty := folder{t, t.TempDir()}
	empty.git("init", "-q")
	empty.tree()
}

// Without git, all files of a repository count, and the tree is another one.
func TestMachineWithoutGit(t *testing.T) {
	f := repository(t)
	bound := f.tree()
	defer check.WithGit("")()
	before := f.tree()
	require.NotEqual(t, bound, before)
	f.write("debug.log", "ignored by git alone")
	require.NotEqual(t, before, f.tree())
}

func TestFoldersWithoutATree(t *testing.T) {
	f := repository(t)
	f.git("clone", "-q", "--bare", f.dir, "bare.git")
	_, err := check.Tree(t.Context(), filepath.Join(f.dir, "bare.git"))
	require.ErrorContains(t, err, "not in the working tree")

	other := repository(t)
	f.git("submodule", "add", "-q", "file://"+other.dir, "module")
	_, err = check.Tree(t.Context(), f.dir)
	require.ErrorContains(t, err, "module is a repository of its own")

	_, err = check.Tree(t.Context(), filepath.Join(f.dir, "none"))
	require.Error(t, err)

	many := folder{t, t.TempDir()}
	for n := range 20_001 {
		require.NoError(t, os.WriteFile(filepath.Join(many.dir, fmt.Sprint(n)), nil, 0o600))
	}
	_, err = check.Tree(t.Context(), many.dir)
	require.ErrorContains(t, err, "more than 20000 files")
}
