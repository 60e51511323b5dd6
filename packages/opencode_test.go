package packages_test

import (
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"

	"waybill/test/golden"
)

// The plugin of OpenCode is one file, which waybill setup writes. Its sources are examples/opencode and the client.
func TestOpenCodePluginIsCurrent(t *testing.T) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root, EntryPoints: []string{"examples/opencode/src/plugin.ts"}, Outfile: "waybill.js", Bundle: true,
		Charset: api.CharsetUTF8, Format: api.FormatESModule, Target: api.ES2022, Platform: api.PlatformNode, TsconfigRaw: "{}",
		Alias:  map[string]string{"waybill-client": filepath.Join(root, "clients", "typescript", "src", "index.ts")},
		Banner: map[string]string{"js": "// written-by: waybill. Generated from examples/opencode. Do not edit."},
	})
	require.Empty(t, result.Errors)
	require.Empty(t, result.Warnings)
	require.Len(t, result.OutputFiles, 1)
	golden.File(t, filepath.Join("opencode", "waybill.js"), string(result.OutputFiles[0].Contents))
}
