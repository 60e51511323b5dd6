package page_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"

	"waybill/test/golden"
	"waybill/web/page"
)

// built returns the files of the page as they follow from its sources.
func built(t *testing.T) map[string]string {
	t.Helper()
	result := api.Build(options(t, "src/main.tsx", "src/page.css"))
	require.Empty(t, result.Errors, "the page cannot be built")
	require.Empty(t, result.Warnings)
	document, err := os.ReadFile("src/index.html")
	require.NoError(t, err)
	files := map[string]string{"index.html": string(document)}
	for _, out := range result.OutputFiles {
		name := filepath.Base(out.Path)
		files[map[string]string{"main.js": "page.js", "page.css": "page.css"}[name]] = string(out.Contents)
	}
	return files
}

// options say how the page is built. Everything it needs lies in the folder vendor.
func options(t *testing.T, entries ...string) api.BuildOptions {
	t.Helper()
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	return api.BuildOptions{
		AbsWorkingDir: here, EntryPoints: entries, Outdir: "dist", Bundle: true, Charset: api.CharsetUTF8,
		Format: api.FormatESModule, Target: api.ES2022, Platform: api.PlatformBrowser, LegalComments: api.LegalCommentsNone,
		Loader: map[string]api.Loader{".css": api.LoaderCSS}, JSX: api.JSXAutomatic, JSXImportSource: "preact",
		MinifyIdentifiers: true, MinifySyntax: true, MinifyWhitespace: true, TsconfigRaw: "{}",
		Alias: vendored(here),
		// The heights of a page that is enlarged are told by a later rule; the sheet needs no older colours.
		Engines: []api.Engine{{Name: api.EngineChrome, Version: "123"}, {Name: api.EngineFirefox, Version: "120"}, {Name: api.EngineSafari, Version: "17.5"}},
		Banner:  map[string]string{"js": banner, "css": banner},
	}
}

const banner = "/* Generated from web/page/src by `go generate ./web/page`. Do not edit. Licences: web/page/vendor. */"

func vendored(here string) map[string]string {
	at := func(path string) string { return filepath.Join(here, "vendor", filepath.FromSlash(path)) }
	return map[string]string{
		"marked":               at("marked/lexer.ts"),
		"preact":               at("preact/dist/preact.mjs"),
		"preact/hooks":         at("preact/hooks/dist/hooks.mjs"),
		"preact/jsx-runtime":   at("preact/jsx-runtime/dist/jsxRuntime.mjs"),
		"@preact/signals":      at("@preact/signals/dist/signals.mjs"),
		"@preact/signals-core": at("@preact/signals-core/dist/signals-core.mjs"),
	}
}

// TestBundleIsCurrent fails if a committed file is not what the sources give.
func TestBundleIsCurrent(t *testing.T) {
	t.Parallel()
	for name, want := range built(t) {
		path := filepath.Join("dist", name)
		golden.File(t, path, want)
	}
}

// TestBundleIsSmall holds the page to its budget: what is loaded is no larger than 60 KiB as it would be compressed.
func TestBundleIsSmall(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for _, file := range page.Files() {
		_, err := w.Write([]byte(file.Text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	t.Logf("%d bytes compressed", packed.Len())
	require.Less(t, packed.Len(), 60<<10)
}

// TestPageHasNothingInline: the policy of the server allows no script and no style but those that are files.
func TestPageHasNothingInline(t *testing.T) {
	t.Parallel()
	document := page.Files()[0].Text
	require.NotRegexp(t, regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|javascript:|<script[^>]*>[^<]`), document)
	for _, link := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(document, -1) {
		known := strings.HasPrefix(link[1], "data:") || link[1] == "/page.css" || link[1] == "/page.js"
		require.True(t, known, "%s is no file of the page", link[1])
	}
}

// TestPageMakesNoHTML: no text becomes markup or code on the page, so its sources name none of what could make it so.
func TestPageMakesNoHTML(t *testing.T) {
	t.Parallel()
	makers := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|createContextualFragment|DOMParser|srcdoc|createPolicy`)
	sources, err := filepath.Glob("src/*")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, path := range sources {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotRegexp(t, makers, string(text), path)
	}
}

// TestPageRequestsAreDocumented: every path that the sources name with a method is one that docs/http.md has, with
// that method.
func TestPageRequestsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/http.md")
	require.NoError(t, err)
	routes := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(string(text), "{}")
	calls := regexp.MustCompile("(get|post)\\(\"(\\w+)\", (?:address)?[\"`]([^\"`?]+)[\"`]")
	asked := map[string]bool{}
	sources, err := filepath.Glob("src/*.ts*")
	require.NoError(t, err)
	for _, name := range sources {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, call := range calls.FindAllStringSubmatch(string(source), -1) {
			path := regexp.MustCompile(`\$\{[^}]+\}`).ReplaceAllString(call[3], "{}")
			require.Contains(t, routes, "| `"+strings.ToUpper(call[1])+" "+path+"` | [`"+call[2]+"`]", name)
			asked[call[2]] = true
		}
	}
	require.Greater(t, len(asked), 15)
}
