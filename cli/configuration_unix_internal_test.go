//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe that nobody writes into would be waited for until the host gives up.
func TestAConfigurationThatIsAPipeIsRefusedAndNotOpened(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, _, err := process(t, nil, "--config", pipe)
	require.EqualError(t, err, "the configuration "+pipe+" is a pipe, a socket or a device, and must be a file (--config)")
	_, _, err = process(t, nil, "--config", os.DevNull)
	require.ErrorContains(t, err, "must be a file")
}

// Who runs as another user than the home folder's cannot look into it; that must not keep a server from starting. A
// file that is there and must not be read is another thing.
func TestAConfigurationThatMustNotBeRead(t *testing.T) {
	home := t.TempDir()
	folder := filepath.Join(home, "waybill")
	file := filepath.Join(folder, "config.json")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0))
	asNobody(t, filepath.Dir(home), home, folder, file)
	env := map[string]string{"XDG_CONFIG_HOME": home}
	_, _, err := process(t, env)
	require.ErrorContains(t, err, "cannot be read: permission denied")
	require.NoError(t, os.Chmod(folder, 0))
	t.Cleanup(func() { _ = os.Chmod(folder, 0o700) }) // so that the folder can be removed
	_, _, err = process(t, env)
	require.NoError(t, err)
	_, _, err = process(t, env, "--config", file)
	require.ErrorContains(t, err, "is in a folder that cannot be looked into (--config)")
}

// asNobody changes the owner of the files to a user who may not read everything, and goes on as that one, if root runs the test.
func asNobody(t *testing.T, files ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	for _, name := range files {
		require.NoError(t, os.Chown(name, nobody, nobody))
	}
	require.NoError(t, syscall.Seteuid(nobody))
	t.Cleanup(func() { require.NoError(t, syscall.Seteuid(0)) }) // before anything is removed
}
