package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// A file of a folder that leads out of the workspace, or nowhere, is refused by its name.
func TestFaultF15_LinksInAFolder(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": "a"})
	secret := filepath.Join(t.TempDir(), "secret.md")
	write(t, secret, "secret")
	symlink(t, secret, at("b.md"))
	_, err := r.Read(plans, nil)
	refused(t, err, plans+"/b.md", planfile.OutsideWorkspace)
	require.NoError(t, os.Remove(at("b.md")))

	symlink(t, "gone.md", at("b.md"))
	_, err = r.Read(plans, nil)
	refused(t, err, plans+"/b.md", planfile.Unreadable)
	require.ErrorContains(t, err, "a broken link")
	require.NoError(t, os.Remove(at("b.md")))

	symlink(t, "b.md", at("b.md"))
	_, err = r.Read(plans, nil)
	refused(t, err, plans+"/b.md", planfile.SymlinkLoop)
	require.NoError(t, os.Remove(at("b.md")))

	write(t, filepath.Join(at(""), "..", "b.md"), "b")
	symlink(t, "../b.md", at("b.md"))
	f, err := r.Read(plans, nil)
	require.NoError(t, err)
	_, texts := parts(t, f)
	require.Equal(t, map[string]string{"a.md": "a", "b.md": "b"}, texts)
	_, err = r.Rewrite(plans, "", setting("b.md", "new"))
	require.NoError(t, err)
	has(t, filepath.Join(at(""), "..", "b.md"), "new")
}

// A folder itself may be a link within the workspace, and not one that leads out of it.
func TestFaultF15_LinkToAFolder(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": "a"})
	ws := filepath.Dir(filepath.Dir(at("")))
	symlink(t, at(""), filepath.Join(ws, "inside"))
	require.Equal(t, []string{"a.md"}, listed(t, r, "inside"))
	outside := t.TempDir()
	write(t, filepath.Join(outside, "a.md"), "secret")
	symlink(t, outside, filepath.Join(ws, "outside"))
	_, err := r.Read("outside", nil)
	refused(t, err, "outside", planfile.OutsideWorkspace)
	got, err := r.Find([]string{"backlog/tasks/", "inside/", "outside/"})
	require.NoError(t, err)
	require.Equal(t, []string{plans}, got, "two names of one folder are one plan")
}

// The path of a folder is judged as that of a file, and so is a name that is a file's on every system.
func TestFaultF16_PathOfAFolderStaysInside(t *testing.T) {
	r, _ := folder(t, map[string]string{"a.md": "a", "folder.md/b.md": "b"})
	for rel, want := range map[string]planfile.Reason{
		"../ws/": planfile.OutsideWorkspace, "backlog/../..": planfile.OutsideWorkspace, ".": planfile.BadPath, "/": planfile.OutsideWorkspace,
		"backlog/tasks.": planfile.BadPath, "backlog/tasks/folder.md": planfile.NotRegular,
	} {
		_, err := r.Read(rel, nil)
		refused(t, err, rel, want)
	}
	_, err := r.Read(plans, nil)
	refused(t, err, plans+"/folder.md", planfile.NotRegular)
}
