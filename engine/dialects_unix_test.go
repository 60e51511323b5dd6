//go:build unix

package engine_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine"
)

// A pipe in place of the rule file must not block, and a link to an endless file must not use up memory.
func TestDialectRulesAreReadFromRegularFilesOnly(t *testing.T) {
	for want, plant := range map[string]func(path string) error{
		"is a symbolic link":          func(path string) error { return os.Symlink("/dev/zero", path) },
		"is not a regular file":       func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"has a second name elsewhere": func(path string) error { return os.Link(ruleOf(t), path) },
		"has more than": func(path string) error {
			return os.WriteFile(path, make([]byte, 2<<20), 0o600)
		},
	} {
		t.Run(want, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dialects")
			require.NoError(t, plant(path))
			rules, err := engine.ReadDialects(path)
			require.ErrorContains(t, err, want)
			require.Empty(t, rules)
		})
	}
}

func ruleOf(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules")
	require.NoError(t, os.WriteFile(path, []byte("*.md=kiro\n"), 0o600))
	return path
}
