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

// A pipe, a socket or a link to nowhere is in the place of the plan. Nobody waits for a writer of the pipe, and the
// plan stays listed.
func TestFaultF3_ListedPlanIsAPipeNow(t *testing.T) {
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
			s := newSite(t, watch(), newDesk(t))
			s.write("tasks.md", twoItems, time.Hour)
			id := s.begin("1").ID
			require.Equal(t, map[string]string{"tasks.md": ""}, s.list())
			s.remove()
			if err := c.put(filepath.Join(s.dir, "tasks.md")); err != nil {
				t.Skipf("this system does not make one here: %v", err)
			}
			require.Equal(t, map[string]string{"tasks.md": c.reason}, s.list())
			require.Equal(t, "First", s.look(id).Progress.CurrentItem.Title)
			s.pass(time.Second)
			lookAll(s)
			if c.reason == "symlink_dangling" {
				require.Equal(t, []string{"gone"}, s.records())
			} else {
				require.Equal(t, []string{"rebuild_failed: " + c.reason}, s.records())
			}
			s.mend(threeItems)
			require.Equal(t, map[string]string{"tasks.md": ""}, s.list())
			require.Empty(t, s.look(id).Fallback)
			require.Equal(t, "[3]", s.records()[1])
		})
	}
}

// listen leaves a socket at the path.
func listen(path string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}
