package file_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

func symlink(t testing.TB, target, name string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
}

// Links inside the workspace are followed, however they are written.
func TestFaultF15_LinksInsideAreFollowed(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "ws")
	write(t, filepath.Join(dir, "real", "tasks.md"), planText)
	symlink(t, "ws", filepath.Join(base, "alias"))
	symlink(t, "real/tasks.md", filepath.Join(dir, "relative.md"))
	symlink(t, filepath.Join(dir, "real", "tasks.md"), filepath.Join(dir, "absolute.md"))
	symlink(t, "absolute.md", filepath.Join(dir, "mixed.md"))
	symlink(t, filepath.Join(dir, "real"), filepath.Join(dir, "folder"))
	symlink(t, "../real/tasks.md", filepath.Join(dir, "sub", "up.md"))
	symlink(t, filepath.Join(dir, "sub"), filepath.Join(dir, "deep"))

	for _, workspace := range []string{dir, filepath.Join(base, "alias")} {
		r := open(t, workspace, planfile.Options{Now: later})
		for _, rel := range []string{"relative.md", "absolute.md", "mixed.md", "folder/tasks.md", "sub/up.md", "deep/up.md"} {
			f, err := r.Read(rel, nil)
			require.NoError(t, err, rel)
			require.Equal(t, planText, f.Text, rel)
			require.Equal(t, rel, f.Path)
			same, err := r.Read(rel, &f)
			require.NoError(t, err, rel)
			require.True(t, same.Unchanged, rel)
		}
	}
}

// A link that is pointed at another file is noticed by identity.
func TestFaultF15_RetargetedLinkIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "aaaa\n")
	write(t, filepath.Join(dir, "b.md"), "bbbb\n")
	symlink(t, "a.md", filepath.Join(dir, "tasks.md"))
	r := open(t, dir, planfile.Options{Now: later})
	f, err := r.Read("tasks.md", nil)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "tasks.md")))
	symlink(t, "b.md", filepath.Join(dir, "tasks.md"))
	f, err = r.Read("tasks.md", &f)
	require.NoError(t, err)
	require.Equal(t, "bbbb\n", f.Text)
}

// A link out of the workspace, to nothing, or in a circle is refused with its own
// reason; nothing outside is opened.
func TestFaultF15_OtherLinksAreRefused(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "ws")
	write(t, filepath.Join(base, "secret.md"), "secret")
	write(t, filepath.Join(dir, "real.md"), planText)
	for name, target := range map[string]string{
		"out-relative.md": "../secret.md",
		"out-absolute.md": filepath.Join(base, "secret.md"),
		"out-nothing.md":  filepath.Join(base, "absent.md"),
		"out-chain.md":    "out-absolute.md",
		"out-folder":      base,
		"gone.md":         "absent.md",
		"gone-abs.md":     filepath.Join(dir, "absent.md"),
		"gone-folder":     "absent",
		"loop.md":         "loop.md",
		"loop-abs.md":     filepath.Join(dir, "loop-abs.md"),
		"ping.md":         "pong.md",
		"pong.md":         filepath.Join(dir, "ping.md"),
	} {
		symlink(t, target, filepath.Join(dir, name))
	}
	r := open(t, dir, planfile.Options{})
	for rel, want := range map[string]planfile.Reason{
		"out-relative.md":      planfile.OutsideWorkspace,
		"out-absolute.md":      planfile.OutsideWorkspace,
		"out-nothing.md":       planfile.OutsideWorkspace,
		"out-chain.md":         planfile.OutsideWorkspace,
		"out-folder/secret.md": planfile.OutsideWorkspace,
		"gone.md":              planfile.SymlinkDangling,
		"gone-abs.md":          planfile.SymlinkDangling,
		"gone-folder/tasks.md": planfile.SymlinkDangling,
		"loop.md":              planfile.SymlinkLoop,
		"loop-abs.md":          planfile.SymlinkLoop,
		"ping.md":              planfile.SymlinkLoop,
	} {
		_, err := r.Read(rel, nil)
		refused(t, err, rel, want)
	}
	_, err := r.Read("gone.md", nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// The link is swapped between the check and the open: no interleaving reads a byte
// from outside.
func TestFaultF15_SwappedLinkNeverReadsOutside(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "ws")
	write(t, filepath.Join(base, "secret.md"), "secret")
	write(t, filepath.Join(dir, "real.md"), planText)
	symlink(t, "real.md", filepath.Join(dir, "in"))
	symlink(t, filepath.Join(base, "secret.md"), filepath.Join(dir, "out"))
	r := open(t, dir, planfile.Options{})

	done := make(chan struct{}) // closed by the reader
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			from := []string{"in", "out"}[i%2]
			target, _ := os.Readlink(filepath.Join(dir, from))
			_ = os.Symlink(target, filepath.Join(dir, "next"))
			_ = os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "tasks.md"))
		}
	})
	good, bad := 0, 0
	for range 3000 {
		f, err := r.Read("tasks.md", nil)
		switch {
		case err != nil:
			bad++
		default:
			good++
			require.Equal(t, planText, f.Text)
		}
	}
	close(done)
	swapper.Wait()
	t.Logf("%d read, %d refused", good, bad)
}
