package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"
)

// TestPureParts runs the tests of what needs no browser.
func TestPureParts(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node, which runs the tests of the parts by themselves")
	}
	o := options(t, "test/pure.test.ts")
	o.Platform, o.External, o.Banner = api.PlatformNeutral, []string{"node:*"}, map[string]string{"js": world}
	o.MinifyIdentifiers, o.MinifySyntax, o.MinifyWhitespace = false, false, false
	result := api.Build(o)
	require.Empty(t, result.Errors)
	require.Len(t, result.OutputFiles, 1)
	bundle := filepath.Join(t.TempDir(), "pure.test.mjs")
	require.NoError(t, os.WriteFile(bundle, result.OutputFiles[0].Contents, 0o600))
	out, err := exec.CommandContext(t.Context(), node, "--test", "--test-reporter=tap", bundle).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "# fail 0")
	require.NotContains(t, string(out), "# pass 0\n")
}

// world is what the modules look for when they are loaded, and do not use in these tests.
const world = `const shelf = { getItem: () => null, setItem() {}, removeItem() {} };
globalThis.sessionStorage ??= shelf; globalThis.localStorage ??= shelf; globalThis.document ??= { addEventListener() {}, documentElement: { dataset: {} } };`
