//go:build unix

package e2e_test

import (
	"archive/zip"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"waybill/test/slow"

	"github.com/stretchr/testify/require"
)

// nodeRequired, set to "required", makes a failure of what is skipped where there is no Node or what npm brings.
const nodeRequired = "WAYBILL_NODE_TESTS"

// needNode skips the test, or fails it, unless Node is there and npm has brought what the folder needs.
func needNode(t *testing.T, folders ...string) {
	t.Helper()
	slow.Test(t)
	missing := ""
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = program + " is not installed"
		}
	}
	for _, folder := range folders {
		if !exists(filepath.Join(folder, "node_modules", ".package-lock.json")) {
			missing = "run `npm ci --ignore-scripts` in " + folder
		}
	}
	if missing == "" {
		return
	}
	require.NotEqual(t, "required", os.Getenv(nodeRequired), missing)
	t.Skip(missing)
}

// shell runs a program in a folder, with the program that is tested as WAYBILL_BIN, and returns what it prints.
func (w world) shell(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	self := w.command(t)
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = folder
	cmd.Env = append(self.Env, "WAYBILL_BIN="+self.Path)
	cmd.WaitDelay = patience
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
	return string(out)
}

// compile compiles the TypeScript of a package into a folder, which then has its manifest, too. Where the client for
// TypeScript is installed in the folder, the package is compiled against that.
func (w world) compile(t *testing.T, source, folder string) {
	t.Helper()
	source, err := filepath.Abs(source)
	require.NoError(t, err)
	manifest, err := os.ReadFile(filepath.Join(source, "package.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "package.json"), manifest, 0o600))
	options := map[string]any{"rootDir": source, "outDir": folder, "noEmitOnError": true, "typeRoots": []string{filepath.Join(source, "node_modules", "@types")}}
	if installed := filepath.Join(folder, "node_modules", "waybill-client"); exists(installed) {
		options["paths"] = map[string][]string{"waybill-client": {filepath.Join(installed, "dist", "index.d.ts")}}
	}
	config, err := json.Marshal(map[string]any{
		"extends": filepath.Join(source, "tsconfig.json"), "compilerOptions": options,
		"include": []string{filepath.Join(source, "src"), filepath.Join(source, "test"), filepath.Join(source, "example")},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "tsconfig.json"), config, 0o600))
	w.shell(t, source, tsc(t, source), "--project", filepath.Join(folder, "tsconfig.json"))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// tsc returns the path of the compiler that npm has brought to a folder.
func tsc(t *testing.T, folder string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(folder, "node_modules", ".bin", "tsc"))
	require.NoError(t, err)
	return path
}

// nodeTests runs the compiled tests of a folder with Node's own runner.
func (w world) nodeTests(t *testing.T, folder string) {
	t.Helper()
	tests, err := filepath.Glob(filepath.Join(folder, "test", "*.test.js"))
	require.NoError(t, err)
	require.NotEmpty(t, tests)
	out := w.shell(t, folder, "node", append([]string{"--test", "--test-reporter=tap"}, tests...)...)
	require.Contains(t, out, "\n# fail 0\n")
	require.NotContains(t, out, "\n# pass 0\n")
	require.Contains(t, out, "\n# skipped 0\n")
}

const clientFolder = "clients/typescript"

// packClient makes the package of the client as npm publishes it, and installs it in a folder.
func (w world) packClient(t *testing.T, folder string) {
	t.Helper()
	source := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(source, "src"), os.DirFS(filepath.Join(clientFolder, "src"))))
	for _, file := range []string{"package.json", "README.md", "tsconfig.json", "tsconfig.build.json"} {
		text, err := os.ReadFile(filepath.Join(clientFolder, file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(source, file), text, 0o600))
	}
	modules, err := filepath.Abs(filepath.Join(clientFolder, "node_modules"))
	require.NoError(t, err)
	require.NoError(t, os.Symlink(modules, filepath.Join(source, "node_modules")))
	w.shell(t, source, "npm", "pack", "--offline", "--ignore-scripts=false")
	packed, err := filepath.Glob(filepath.Join(source, "waybill-client-*.tgz"))
	require.NoError(t, err)
	require.Len(t, packed, 1)
	installed := filepath.Join(folder, "node_modules", "waybill-client")
	require.NoError(t, os.MkdirAll(installed, 0o700))
	w.shell(t, folder, "tar", "-xzf", packed[0], "-C", installed, "--strip-components=1")
}

// TestTypeScriptClient runs the tests of the client for TypeScript against the real program.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	needNode(t, clientFolder)
	w := newWorld(t)
	folder := t.TempDir()
	w.compile(t, clientFolder, folder)
	w.nodeTests(t, folder)
}

// TestTypeScriptClientFromItsREADME does what the README of the client says, with the package as it is published.
func TestTypeScriptClientFromItsREADME(t *testing.T) {
	t.Parallel()
	needNode(t, clientFolder)
	readme, err := os.ReadFile(filepath.Join(clientFolder, "README.md"))
	require.NoError(t, err)
	host := fenced(t, string(readme), "ts")
	checked, err := os.ReadFile(filepath.Join(clientFolder, "example", "host.ts"))
	require.NoError(t, err)
	require.Equal(t, string(checked), host, "the README has another example than example/host.ts")

	w, project := newWorld(t), t.TempDir()
	w.packClient(t, project)
	for _, file := range []string{"package.json", "README.md", "dist/index.js", "dist/index.d.ts", "dist/protocol.d.ts"} {
		require.FileExists(t, filepath.Join(project, "node_modules", "waybill-client", file))
	}
	require.NoDirExists(t, filepath.Join(project, "node_modules", "waybill-client", "test"))
	require.NoError(t, os.WriteFile(filepath.Join(project, "host.mts"), []byte(host), 0o600))
	w.shell(t, project, tsc(t, clientFolder), "--module", "nodenext", "host.mts")
	said := w.shell(t, w.workspace, "node", filepath.Join(project, "host.mjs"))
	promised, _, _ := strings.Cut(fenced(t, string(readme), "text"), "…")
	require.True(t, strings.HasPrefix(said, promised), "the README promises\n%s\nand the example says\n%s", promised, said)
	require.Contains(t, said, "notice.posted")
}

// TestVSCodeExtension packages the extension as the marketplace wants it, without a network, and runs its tests against
// what the package has: a fake of VS Code stands around it, and the real program below. A link to the folder of the client
// once kept it from being packaged.
func TestVSCodeExtension(t *testing.T) {
	t.Parallel()
	const source = "examples/vscode"
	needNode(t, clientFolder, source)
	w, folder, packed := newWorld(t), t.TempDir(), filepath.Join(t.TempDir(), "waybill.vsix")
	w.packClient(t, folder)
	w.compile(t, source, folder)
	w.shell(t, source, "npm", "run", "--offline", "package", "--", "--out", packed)
	archive, err := zip.OpenReader(packed)
	require.NoError(t, err)
	defer func() { _ = archive.Close() }()
	for _, name := range []string{"extension/package.json", "extension/readme.md", "extension/LICENSE.txt"} {
		_, err := fs.Stat(archive, name)
		require.NoError(t, err)
	}
	bundle, err := fs.ReadFile(archive, "extension/dist/extension.js")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "src", "extension.js"), bundle, 0o600))
	fake := filepath.Join(folder, "node_modules", "vscode")
	require.NoError(t, os.MkdirAll(fake, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(fake, "package.json"), []byte(`{"name":"vscode","type":"module","main":"index.js"}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(fake, "index.js"), []byte(`export * from "../../test/fake.js";`), 0o600))
	w.nodeTests(t, folder)
}

const openCodeFolder = "examples/opencode"

// packing guards the folder of the plugin while it is built there.
var packing sync.Mutex

// packOpenCode makes the package of the plugin as npm publishes it, and returns the folder in which it lies unpacked.
func (w world) packOpenCode(t *testing.T) (folder string) {
	t.Helper()
	needNode(t, clientFolder, openCodeFolder)
	folder = t.TempDir()
	packing.Lock()
	defer packing.Unlock()
	w.shell(t, openCodeFolder, "npm", "pack", "--offline", "--ignore-scripts=false", "--pack-destination", folder)
	packed, err := filepath.Glob(filepath.Join(folder, "waybill-opencode-*.tgz"))
	require.NoError(t, err)
	require.Len(t, packed, 1)
	w.shell(t, folder, "tar", "-xzf", packed[0])
	return filepath.Join(folder, "package")
}

// openCodePlugin compiles the tests of the plugin, puts the packed plugin between them, and returns the folder.
func (w world) openCodePlugin(t *testing.T) (folder string) {
	t.Helper()
	plugin := w.packOpenCode(t)
	folder = t.TempDir()
	w.packClient(t, folder)
	w.compile(t, openCodeFolder, folder)
	require.NoError(t, os.Rename(filepath.Join(plugin, "dist", "waybill.js"), filepath.Join(folder, "src", "plugin.js")))
	library, err := filepath.Abs(filepath.Join(openCodeFolder, "node_modules", "@opencode-ai"))
	require.NoError(t, err)
	require.NoError(t, os.Symlink(library, filepath.Join(folder, "node_modules", "@opencode-ai")))
	return folder
}

// TestOpenCodePlugin runs the tests of the plugin: OpenCode's own client and hooks stand around it, and the real program
// below.
func TestOpenCodePlugin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.nodeTests(t, w.openCodePlugin(t))
}

// fenced returns the first block of a document that is marked with a language.
func fenced(t *testing.T, document, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(document, "\n```"+language+"\n")
	require.True(t, found, language)
	block, _, found := strings.Cut(rest, "```\n")
	require.True(t, found, language)
	return block
}
