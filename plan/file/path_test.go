package file_test

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
	"waybill/test/slow"
)

// A path parameter tries to leave the workspace, or means different things on
// different systems. The verdicts are the same everywhere.
func TestFaultF16_PathsThatAreRefusedEverywhere(t *testing.T) {
	r := open(t, t.TempDir(), planfile.Options{})
	for want, paths := range map[planfile.Reason][]string{
		planfile.BadPath: {
			"", ".", "./", `docs\tasks.md`, `..\tasks.md`, "tasks.md:stream", "CON", "con.md", "docs/nul", "docs/Aux.txt/tasks.md", "com1", "LPT9.md", "COM¹",
			"CONIN$", "PRN .md", "tasks.md.", "tasks.md ", "docs /tasks.md", "docs./tasks.md", ".../tasks.md", "tasks\x00.md", "tasks\n.md", "tasks\x7f.md",
			"tasks\xff.md", strings.Repeat("a", 4097), strings.Repeat("a", 300) + ".md", strings.Repeat("a/", 64) + "b.md",
		},
		planfile.OutsideWorkspace: {
			"..", "../tasks.md", "a/../../tasks.md", "a/../tasks.md", "/etc/passwd", "//server/share/tasks.md", `\\server\share\tasks.md`, `\\?\C:\tasks.md`,
			`\\.\pipe\x`, `\tasks.md`, `C:\tasks.md`, `c:/tasks.md`, `C:tasks.md`, `C:`,
		},
		planfile.Missing: {
			strings.Repeat("a/", 63) + "b.md",
		},
	} {
		for _, rel := range paths {
			_, err := r.Read(rel, nil)
			require.ErrorIs(t, err, want, "%q", rel)
			e, _ := errors.AsType[*planfile.Error](err)
			require.Equal(t, rel, e.Path)
		}
	}
}

// Unusual but honest names pass.
func TestFaultF16_PathsThatAreAccepted(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, planfile.Options{})
	for _, rel := range []string{
		"tasks.md", "./tasks.md", "a//tasks.md", ".kiro/specs/one/tasks.md", "console.md",
		"com.md", "com10.md", "nullable/tasks.md", "what now/tasks.md", "..tasks.md", "a..b/tasks.md",
		"задачи.md", "任务/tasks.md", "-rf.md", "~/tasks.md", "$HOME.md",
	} {
		write(t, filepath.Join(dir, filepath.FromSlash(rel)), rel)
		f, err := r.Read(rel, nil)
		require.NoError(t, err, "%q", rel)
		require.Equal(t, rel, f.Text)
		require.Equal(t, path.Clean(rel), f.Path)
	}
}

// Whatever the text, Read answers with an *Error or with a local path that is its own
// cleaned form, and never with anything from outside.
func FuzzReadPath(f *testing.F) {
	for _, seed := range []string{"tasks.md", "../secret", "/etc/passwd", `C:\x`, "a/./b", "CON", "x ", "out/secret", "in/tasks.md", "a\x00b"} {
		f.Add(seed)
	}
	base := f.TempDir()
	dir := filepath.Join(base, "ws")
	write(f, filepath.Join(base, "secret"), "secret")
	write(f, filepath.Join(dir, "tasks.md"), planText)
	symlink(f, "..", filepath.Join(dir, "out"))
	symlink(f, ".", filepath.Join(dir, "in"))
	r := open(f, dir, planfile.Options{})
	f.Fuzz(func(t *testing.T, rel string) {
		slow.InTime(t)
		file, err := r.Read(rel, nil)
		if err != nil {
			_, ok := errors.AsType[*planfile.Error](err)
			require.True(t, ok, "%T", err)
			return
		}
		require.Equal(t, planText, file.Text)
		require.True(t, filepath.IsLocal(filepath.FromSlash(file.Path)))
		require.Equal(t, path.Clean(file.Path), file.Path)
		require.True(t, utf8.ValidString(file.Path))
		_, err = os.Lstat(filepath.Join(dir, filepath.FromSlash(file.Path)))
		require.NoError(t, err)
	})
}
