package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/engine/workspace"
)

// mount mounts a file system until the end of the test.
func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		t.Skipf("%s cannot be mounted here: %v", target, err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(target, unix.MNT_DETACH)) })
}

func TestBindMountIsTheSameWorkspace(t *testing.T) {
	base := t.TempDir()
	dir := project(t, filepath.Join(base, "my ws", "project"))
	all := project(t, filepath.Join(base, "whole mount"))
	one := project(t, filepath.Join(base, "one"))
	mount(t, filepath.Dir(dir), all, "", unix.MS_BIND, "")
	mount(t, dir, one, "", unix.MS_BIND, "")

	want, err := workspace.Resolve(workspace.Sources{Flag: dir})
	require.NoError(t, err)
	for _, name := range []string{one, filepath.Join(all, "project")} {
		got, err := workspace.Resolve(workspace.Sources{Flag: name})
		require.NoError(t, err)
		require.Equal(t, want.ID, got.ID, name)
		require.Equal(t, name, got.Root, "the host sees the name it gave")
	}
	other, err := workspace.Resolve(workspace.Sources{Flag: all})
	require.NoError(t, err)
	require.NotEqual(t, want.ID, other.ID)
}

// A folder of another file system has its own identity, even if only bind mounts of a part are visible.
func TestBindMountWithoutItsOrigin(t *testing.T) {
	base := t.TempDir()
	disk := project(t, filepath.Join(base, "disk"))
	a, b := project(t, filepath.Join(base, "a")), project(t, filepath.Join(base, "b"))
	if err := unix.Mount("none", disk, "tmpfs", 0, ""); err != nil {
		t.Skipf("%s cannot be mounted here: %v", disk, err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) }) // gone by then, if all went well
	project(t, filepath.Join(disk, "project"))
	mount(t, filepath.Join(disk, "project"), a, "", unix.MS_BIND, "")
	mount(t, filepath.Join(disk, "project"), b, "", unix.MS_BIND, "")
	require.NoError(t, unix.Unmount(disk, unix.MNT_DETACH))

	one, err := workspace.Resolve(workspace.Sources{Flag: a})
	require.NoError(t, err)
	two, err := workspace.Resolve(workspace.Sources{Flag: b})
	require.NoError(t, err)
	require.Equal(t, one.ID, two.ID)
}

// A FUSE file system is known by its number. It needs no server, because the kernel answers statfs itself.
func TestRemoteFileSystemIsDetected(t *testing.T) {
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no FUSE here: %v", err)
	}
	defer func() { _ = device.Close() }()
	dir := t.TempDir()
	kind, remote := workspace.RemoteFS(dir)
	require.False(t, remote, kind)
	data := fmt.Sprintf("fd=%d,rootmode=40000,user_id=12345,group_id=12345", device.Fd())
	mount(t, "none", dir, "fuse", 0, data)
	kind, remote = workspace.RemoteFS(dir)
	require.True(t, remote)
	require.Equal(t, "fuse", kind)
}

func TestNumbersOfRemoteFileSystems(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "nfs", 0x517b: "smb", 0xfe534d42: "smb", 0xff534d42: "cifs", 0x01021997: "9p",
		0x65735546: "fuse", 0x786f4256: "vboxsf", 0x00c36400: "ceph", 0x5346414f: "afs",
		0xef53: "", 0x01021994: "", 0x9123683e: "", 0x794c7630: "", // ext4, tmpfs, btrfs, overlay
	} {
		require.Equal(t, want, workspace.RemoteKind(magic), "%x", magic)
	}
}

func TestMountLinesWithBlanks(t *testing.T) {
	const lines = "22 1 8:1 / / rw - ext4 /dev/sda rw\n" +
		"30 22 8:1 /home/me/a\\040b /mnt/with\\011tab\\134 rw - ext4 /dev/sda rw\n" +
		"31 22 8:2 /@home /home rw - btrfs /dev/sdb rw\n" +
		"short line\n"
	require.Equal(t, []string{"/home/me/a b/c", "/mnt/with\ttab\\/c"}, workspace.MountedNames(lines, "/mnt/with\ttab\\/c"))
	require.Equal(t, []string{"/home/me"}, workspace.MountedNames(lines, "/home/me"))
	require.Equal(t, []string{"/srv"}, workspace.MountedNames(lines, "/srv"))
	require.Equal(t, []string{"/"}, workspace.MountedNames(lines, "/"))
	require.Empty(t, workspace.MountedNames("", "/srv"))
}
