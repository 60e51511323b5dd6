package check_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/check"
)

func TestProtectedFiles(t *testing.T) {
	f := repository(t)
	for name, text := range map[string]string{
		"Makefile": "m", "a_test.go": "1", "sub/b_test.go": "2", "sub/c.go": "3", "out/d_test.go": "4", "local.mk": "5", ".gitignore": "/out/\n*.mk\n",
	} {
		f.write(name, text)
	}
	found := func(patterns ...string) []string {
		files, err := check.Protected(t.Context(), f.dir, patterns)
		require.NoError(t, err)
		return slices.Sorted(maps.Keys(files))
	}
	require.Equal(t, []string{"Makefile", "a_test.go", "sub/b_test.go"}, found("Makefile", "**/*_test.go"))
	require.Equal(t, []string{"sub/b_test.go", "sub/c.go", "sub/part.go"}, found("sub/**"))
	require.Equal(t, []string{"local.mk"}, found("local.mk"), "a path counts though git ignores it")
	require.Empty(t, found("*.mk"))
	require.Empty(t, found(".git/**"))
	_, err := check.Protected(t.Context(), f.dir, []string{"["})
	require.Error(t, err)
	_, err = check.Protected(t.Context(), filepath.Join(f.dir, "none"), []string{"a"})
	require.Error(t, err)

	before, err := check.Protected(t.Context(), f.dir, []string{"a_test.go"})
	require.NoError(t, err)
	for _, change := range []func() error{
		func() error { return os.WriteFile(filepath.Join(f.dir, "a_test.go"), []byte("2"), 0o600) },
		func() error { return os.Chmod(filepath.Join(f.dir, "a_test.go"), 0o700) },
		func() error { return os.Remove(filepath.Join(f.dir, "a_test.go")) },
		func() error { return os.Symlink("sub/b_test.go", filepath.Join(f.dir, "a_test.go")) },
	} {
		require.NoError(t, change())
		now, err := check.Protected(t.Context(), f.dir, []string{"a_test.go"})
		require.NoError(t, err)
		require.NotEqual(t, before, now)
		before = now
	}
}

func TestFileBehindAProtectedLink(t *testing.T) {
	f := repository(t)
	require.NoError(t, os.Symlink("sub/part.go", filepath.Join(f.dir, "Makefile")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(f.dir, "Brokenfile")))
	protected := func() map[string]string {
		files, err := check.Protected(t.Context(), f.dir, []string{"*file"})
		require.NoError(t, err)
		require.Len(t, files, 2)
		return files
	}
	before := protected()
	f.write("sub/part.go", "weaker")
	require.NotEqual(t, before["Makefile"], protected()["Makefile"])
	f.write("nowhere", "it is there now")
	require.NotEqual(t, before["Brokenfile"], protected()["Brokenfile"])
}

func TestProtectedFilesWithoutGit(t *testing.T) {
	f := repository(t)
	f.write("a.mk", "")
	f.write(".gitignore", "*.mk\n")
	defer check.WithGit("")()
	files, err := check.Protected(t.Context(), f.dir, []string{"*.mk"})
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// A link led to a file that is too large, which was read before its size was counted.
func TestLargeFileBehindAProtectedLinkIsNotRead(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(outside, nil, 0o600))
	require.NoError(t, os.Truncate(outside, 1<<30)) // without blocks
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "Makefile")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	_, err := check.Protected(t.Context(), dir, []string{"Makefile"})
	require.ErrorContains(t, err, "MB")
}
