//go:build unix && !linux

package file_test

import (
	"os"
	"testing"
)

func unprivileged(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root passes all file permissions")
	}
	f()
}
