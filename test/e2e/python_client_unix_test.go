//go:build unix

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// pythonTests, set to "required", makes a test fail that cannot run for want of a tool.
const pythonTests = "WAYBILL_PYTHON_TESTS"

// tool finds a program that a test needs, or skips the test.
func tool(t *testing.T, name, what string) string {
	t.Helper()
	slow.Test(t)
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv(pythonTests) == "required" {
		t.Fatalf("%s is not installed: %s", name, what)
	}
	t.Skipf("%s is not installed: %s", name, what)
	return ""
}

// TestPythonClient runs the tests of clients/python against the real program: without any installed package, and so
// that a warning is an error.
func TestPythonClient(t *testing.T) {
	t.Parallel()
	python := tool(t, "python3", "the client for Python is tested where it is")
	if err := exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 9))").Run(); err != nil {
		t.Skip("python3 is older than 3.9, and the client is for 3.9 and later")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), python, "-S", "-W", "error", "-m", "unittest", "discover", "-v", "-s", "tests", "-t", ".")
	cmd.Dir = filepath.Join("clients", "python")
	cmd.Env = append(os.Environ(), asWaybill+"=1", "WAYBILL_BIN="+self, "GORACE=atexit_sleep_ms=0",
		"PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `(?m)^Ran [1-9]\d+ tests in `, string(out))
	require.NotRegexp(t, `ResourceWarning|Exception ignored|never retrieved|never awaited|was destroyed`, string(out))
}

// TestPythonClientTypes has mypy look at the client, at its tests, and at the example of its README.
func TestPythonClientTypes(t *testing.T) {
	t.Parallel()
	mypy := tool(t, "mypy", "the types of the client for Python are checked where it is")
	home, err := filepath.Abs(filepath.Join("clients", "python"))
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(home, "README.md"))
	require.NoError(t, err)
	example := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, example, "the README has no example")
	host := filepath.Join(t.TempDir(), "host.py")
	require.NoError(t, os.WriteFile(host, example[1], 0o600))
	cmd := exec.CommandContext(t.Context(), mypy, "--strict", "--config-file", "pyproject.toml",
		"--cache-dir", t.TempDir(), "waybill", "tests", host)
	cmd.Dir = home
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
