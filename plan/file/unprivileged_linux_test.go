package file_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// unprivileged runs f so that file permissions hold. Root passes them all, so for
// root the file system identity of this one thread is changed, and put back.
func unprivileged(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, unix.Setfsuid(nobody))
	defer func() { require.NoError(t, unix.Setfsuid(0)) }()
	f()
}
