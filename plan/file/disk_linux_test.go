package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	planfile "waybill/plan/file"
)

// mounted returns a small file system of memory.
func mounted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

// The disk has no room for the new text beside the old one.
func TestFaultF23_FullDiskLeavesThePlanAsItWas(t *testing.T) {
	dir := mounted(t)
	path := filepath.Join(dir, "tasks.md")
	write(t, path, planText)
	fill := filepath.Join(dir, "fill")
	require.ErrorIs(t, os.WriteFile(fill, []byte(strings.Repeat("x", 1<<20)), 0o644), unix.ENOSPC)
	r := open(t, dir, planfile.Options{})
	_, err := r.Rewrite("tasks.md", "", check)
	unwritten(t, err, planfile.DiskFull, path)
	only(t, dir, "tasks.md", "fill")
	require.NoError(t, os.Remove(fill))
	checked(t, r)
	has(t, path, changed)
}

func TestFaultF23_ReadOnlyFileSystemIsNamed(t *testing.T) {
	dir := mounted(t)
	path := filepath.Join(dir, "tasks.md")
	write(t, path, planText)
	r := open(t, dir, planfile.Options{})
	require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "size=256k"))
	_, err := r.Rewrite("tasks.md", "", check)
	unwritten(t, err, planfile.ReadOnly, path)
}
