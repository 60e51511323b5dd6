package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// floors is the house: every package of the module, the floor it stands on, and the rooms beside it
// on the same floor that it may use all the same. Imports go down only. Whoever needs another
// import changes this table first.
var floors = map[string]struct {
	floor  int
	beside []string
}{
	"schema": {floor: 0},
	"core":   {floor: 0},
	"ledger": {floor: 0},
	"meter":  {floor: 0},
	"doctor": {floor: 0, beside: []string{"core"}},

	"core/verdict": {floor: 0, beside: []string{"core"}},

	"store":            {floor: 1},
	"store/move":       {floor: 1, beside: []string{"store"}},
	"store/memory":     {floor: 1, beside: []string{"store"}},
	"store/rows":       {floor: 1, beside: []string{"store"}},
	"store/postgres":   {floor: 1, beside: []string{"store", "store/rows"}},
	"store/sqlite":     {floor: 1, beside: []string{"store", "store/rows"}},
	"store/storetest":  {floor: 1, beside: []string{"store"}},
	"engine/planfile":  {floor: 1},
	"engine/workspace": {floor: 1},

	"conformance":        {floor: 0},
	"conformance/player": {floor: 1},

	"engine":  {floor: 2},
	"api":     {floor: 3},
	"mcphost": {floor: 3},
	"wire":    {floor: 3},

	"web/page": {floor: 0},

	"mcp":          {floor: 4},
	"rpc":          {floor: 4},
	"web":          {floor: 4, beside: []string{"web/markdown"}},
	"web/markdown": {floor: 4},
	"watcher":      {floor: 4},

	"examples": {floor: 0},
	"cli/demo": {floor: 4},
	"cli/work": {floor: 4},
	"cli":      {floor: 5},
	".":        {floor: 6},
	"bench":    {floor: 6},
	"linear":   {floor: 0},

	"bench/disk": {floor: 0},

	"examples/fake-agent":      {floor: 6},
	"examples/fake-agent/play": {floor: 0},
}

// rooms says which packages may import a third-party library; everything else goes through them.
// Test files may use what they like.
var rooms = map[string][]string{
	"github.com/sourcegraph/jsonrpc2":        {"rpc", "cli/demo"}, // the demo plays a host
	"github.com/fsnotify/fsnotify":           {"watcher"},
	"github.com/jackc/pgx/v5":                {"store/postgres"},
	"modernc.org/sqlite":                     {"store/sqlite"},
	"github.com/google/uuid":                 {"engine", "cli/work"},
	"github.com/go-json-experiment/json":     {"schema", "api", "rpc", "mcp", "ledger"},
	"github.com/tailscale/hujson":            {"mcphost"},
	"github.com/pelletier/go-toml/v2":        {"mcphost"},
	"go.yaml.in/yaml/v3":                     {"ledger"},
	"github.com/spf13/cobra":                 {"cli"},
	"github.com/tiktoken-go/tokenizer":       {"api"},
	"github.com/anishathalye/porcupine":      {"linear"},
	"github.com/rogpeppe/go-internal":        {"cli"}, // its diff of two texts
	"github.com/yuin/goldmark":               {"web/markdown"},
	"golang.org/x/term":                      {"cli"},
	"golang.org/x/tools":                     {"conformance"}, // txtar, many files in one
	"golang.org/x/text":                      {"ledger"},
	"golang.org/x/sys":                       {"cli/work", "mcphost", "rpc", "wire", "store/sqlite", "engine/planfile", "engine/workspace", "watcher", "bench/disk"},
	"github.com/modelcontextprotocol/go-sdk": {"mcp"},
}

// testRooms are the packages that only tests import.
var testRooms = []string{"store/storetest", "store/postgres/pgtest"}

// forbidden lists what the pure packages may not know.
var forbidden = []string{
	"context", "sync", "sync/atomic", "os", "io", "io/fs", "net", "net/http", "log", "log/slog",
	"math/rand", "math/rand/v2", "crypto/rand",
}

// mayHold lists the pure packages that need something of that all the same.
var mayHold = map[string][]string{
	// The JSON libraries report the end of their input as io.EOF.
	"schema":      {"io"},
	"conformance": {"io"},
	"doctor":      {"io", "io/fs"}, // it prints a dot for what it hides, and judges modes of files
}

func TestImportsGoDownOnly(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		home, known := floors[f.pkg]
		require.True(t, known, "package %s (%s) has no floor in arch_test.go", f.pkg, f.name)
		for _, imported := range f.imports {
			local, ours := strings.CutPrefix(imported, "waybill/")
			if !ours {
				continue
			}
			below := floors[local].floor < home.floor || slices.Contains(home.beside, local)
			require.True(t, below, "%s imports %s, which is not below it", f.name, imported)
		}
	}
}

func TestLibrariesStayInTheirRooms(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, imported := range f.imports {
			first, _, _ := strings.Cut(imported, "/")
			if !strings.Contains(first, ".") {
				continue
			}
			require.True(t, housed(f.pkg, imported), "%s imports %s, which has no room in %s", f.name, imported, f.pkg)
		}
	}
}

func housed(pkg, imported string) bool {
	for library, homes := range rooms {
		if imported == library || strings.HasPrefix(imported, library+"/") {
			return slices.Contains(homes, pkg)
		}
	}
	return false
}

func TestPurePackagesKnowNoWorld(t *testing.T) {
	pure := []string{"core", "core/verdict", "doctor", "ledger", "schema", "conformance"}
	for _, f := range sources(t) {
		if f.test || !slices.Contains(pure, f.pkg) {
			continue
		}
		for _, imported := range f.imports {
			if slices.Contains(mayHold[f.pkg], imported) {
				continue
			}
			require.NotContains(t, forbidden, imported, "%s imports it", f.name)
		}
	}
}

// otherModule reports whether a folder has a go.mod of its own: what it needs never reaches the product.
func otherModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return folder != "." && err == nil
}

// A source is one Go file of the module.
type source struct {
	name, pkg string
	test      bool
	imports   []string
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && name != ".") || otherModule(name)):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		s := source{
			name: name, pkg: path.Dir(filepath.ToSlash(name)),
			test: strings.HasSuffix(name, "_test.go") || slices.Contains(testRooms, path.Dir(filepath.ToSlash(name))),
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, imported)
		}
		all = append(all, s)
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}
