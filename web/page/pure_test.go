package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"
)

// TestPureParts runs the tests of what needs no browser.
func TestPureParts(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node, which runs the tests of the parts by themselves")
	}
	o := options(t, "test/pure.test.ts", "test/lists.test.ts", "test/markdown.test.ts")
	o.Platform, o.External, o.Banner = api.PlatformNeutral, []string{"node:*"}, map[string]string{"js": world}
	o.MinifyIdentifiers, o.MinifySyntax, o.MinifyWhitespace = false, false, false
	result := api.Build(o)
	require.Empty(t, result.Errors)
	require.Len(t, result.OutputFiles, len(o.EntryPoints))
	args := []string{"--test", "--test-reporter=tap"}
	folder := t.TempDir()
	for _, file := range result.OutputFiles {
		bundle := filepath.Join(folder, strings.TrimSuffix(filepath.Base(file.Path), ".js")+".mjs")
		require.NoError(t, os.WriteFile(bundle, file.Contents, 0o600))
		args = append(args, bundle)
	}
	out, err := exec.CommandContext(t.Context(), node, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "# fail 0")
	require.NotContains(t, string(out), "# pass 0\n")
}

// world is what the modules look for when they are loaded, and do not use in these tests.
const world = `const shelf = { getItem: () => null, setItem() {}, removeItem() {} };
globalThis.sessionStorage ??= shelf; globalThis.localStorage ??= shelf; globalThis.document ??= { addEventListener() {}, documentElement: { dataset: {} } };`
