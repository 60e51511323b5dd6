//go:build unix

package engine_test

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A pipe, a socket or a dangling link in place of a plan does not block, and the plan stays listed.
func TestListedPlanIsAPipeNow(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		put    func(path string) error
	}{
		"pipe":   {"not_regular", func(path string) error { return syscall.Mkfifo(path, 0o600) }},
		"socket": {"not_regular", listen},
		"device": {"outside_workspace", func(path string) error { return os.Symlink(os.DevNull, path) }},
		"link":   {"symlink_dangling", func(path string) error { return os.Symlink("nowhere.md", path) }},
		"circle": {"symlink_loop", func(path string) error { return os.Symlink("tasks.md", path) }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRunFixture(t, newHookedStore(t), newPlanFixture(t))
			f.write("tasks.md", twoItems, time.Hour)
			id := f.begin("1").ID
			require.Equal(t, map[string]string{"tasks.md": ""}, f.list())
			f.remove()
			if err := c.put(filepath.Join(f.dir, "tasks.md")); err != nil {
				t.Skipf("this system does not make one here: %v", err)
			}
			require.Equal(t, map[string]string{"tasks.md": c.reason}, f.list())
			require.Equal(t, "First", f.look(id).Progress.CurrentItem.Title)
			f.advance(time.Second)
			lookAll(f)
			if c.reason == "symlink_dangling" {
				require.Equal(t, []string{"gone"}, f.records())
			} else {
				require.Equal(t, []string{c.reason}, f.records())
			}
			f.repairPlan(threeItems)
			require.Equal(t, map[string]string{"tasks.md": ""}, f.list())
			require.Empty(t, f.look(id).Fallback)
			require.Equal(t, "[3]", f.records()[1])
		})
	}
}

// listen creates a socket at the path.
func listen(path string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}
