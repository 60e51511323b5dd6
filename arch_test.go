package main

import (
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// floors is the house: every package of the module, the floor it stands on, and the rooms beside it
// on the same floor that it may use all the same. Imports go down only. Whoever needs another
// import changes this table first.
var floors = map[string]struct {
	floor  int
	beside []string
}{
	"schema": {floor: 0},
	"core":   {floor: 0, beside: []string{"internal/safetext"}},
	"plan":   {floor: 0, beside: []string{"internal/nearest", "internal/safetext"}},
	"ledger": {floor: 0, beside: []string{"plan"}},
	"prompt": {floor: 0, beside: []string{"internal/lazy", "internal/safetext", "ledger", "plan", "plan/criteria", "prompt/sanitize"}},
	"meter":  {floor: 0},
	"doctor": {floor: 0, beside: []string{"core", "core/instruction", "core/run", "core/task", "internal/lazyregexp"}},

	"schema/shape": {floor: 0, beside: []string{"schema"}},
	"schema/codec": {floor: 0, beside: []string{"internal/lazy", "internal/nearest", "internal/safetext", "schema", "schema/shape"}},
	"schema/gen":   {floor: 0, beside: []string{"schema", "schema/codec", "schema/shape"}},

	"core/instruction": {floor: 0, beside: []string{"core", "core/shellcmd", "internal/glob"}},
	"core/shellcmd":    {floor: 0},
	"core/task":        {floor: 0, beside: []string{"core", "internal/safetext"}},
	"core/proof":       {floor: 0, beside: []string{"internal/lazyregexp"}},
	"core/run":         {floor: 0, beside: []string{"core", "core/proof"}},
	"core/audit":       {floor: 0, beside: []string{"core", "core/proof", "core/shellcmd", "core/verdict", "internal/lazyregexp"}},
	"core/verdict":     {floor: 0, beside: []string{"core", "core/run", "internal/safetext"}},
	"core/coretest":    {floor: 0, beside: []string{"core", "core/instruction", "core/run", "core/task"}},

	"plan/criteria":   {floor: 0, beside: []string{"plan/lex"}},
	"plan/lex":        {floor: 0, beside: []string{"internal/lazy", "internal/safetext", "plan"}},
	"plan/block":      {floor: 0, beside: []string{"plan", "plan/lex"}},
	"plan/places":     {floor: 0},
	"plan/graph":      {floor: 0, beside: []string{"internal/lazy", "plan", "plan/lex"}},
	"plan/describe":   {floor: 0, beside: []string{"internal/lazy", "plan", "plan/block", "plan/criteria", "plan/graph", "plan/lex"}},
	"plan/dialect":    {floor: 0, beside: []string{"internal/nearest", "plan", "plan/graph", "plan/lex"}},
	"plan/legend":     {floor: 0, beside: []string{"plan", "plan/block", "plan/lex"}},
	"plan/table":      {floor: 0, beside: []string{"plan", "plan/block", "plan/graph", "plan/lex"}},
	"plan/record":     {floor: 0, beside: []string{"plan", "plan/block", "plan/criteria", "plan/describe", "plan/dialect", "plan/graph", "plan/lex"}},
	"plan/read":       {floor: 0, beside: []string{"plan", "plan/block", "plan/criteria", "plan/describe", "plan/dialect", "plan/graph", "plan/legend", "plan/lex", "plan/record", "plan/table"}},
	"plan/edit":       {floor: 0, beside: []string{"plan", "plan/dialect", "plan/legend", "plan/lex", "plan/read"}},
	"prompt/sanitize": {floor: 0, beside: []string{"internal/lazy", "internal/lazyregexp"}},

	"check/config": {floor: 0, beside: []string{"core/proof", "internal/glob", "internal/lazy", "internal/lazyregexp", "internal/nearest", "internal/safetext"}},

	"internal/atomicfile": {floor: 0},
	"internal/glob":       {floor: 0},
	"internal/lazy":       {floor: 0},
	"internal/lazyregexp": {floor: 0},
	"internal/nearest":    {floor: 0},
	"internal/o200k":      {floor: 0},
	"internal/ownfile":    {floor: 0},
	"internal/procgroup":  {floor: 0},
	"internal/safetext":   {floor: 0},

	"store":          {floor: 1},
	"store/transfer": {floor: 1, beside: []string{"store", "store/record"}},
	"store/record":   {floor: 1, beside: []string{"store"}},
	"store/sqlstore": {floor: 1, beside: []string{"store", "store/record"}},
	"store/postgres": {floor: 1, beside: []string{"store", "store/sqlstore", "store/sqlstore/spelling"}},
	"store/sqlite":   {floor: 1, beside: []string{"store", "store/sqlstore", "store/sqlstore/spelling"}},

	"store/sqlstore/spelling": {floor: 1},

	"store/law":         {floor: 1, beside: []string{"store"}},
	"plan/file":         {floor: 1},
	"engine/workspace":  {floor: 1},
	"engine/taskview":   {floor: 2},
	"engine/resultfile": {floor: 2},
	"engine/lease":      {floor: 2},
	"engine/commit":     {floor: 2},
	"engine/inbox":      {floor: 2},

	"test/fakemodel":          {floor: 0},
	"test/golden":             {floor: 0},
	"test/shipped":            {floor: 0},
	"test/slow":               {floor: 0},
	"test/teststore":          {floor: 2},
	"test/conformance":        {floor: 0},
	"test/conformance/player": {floor: 1},

	"engine":              {floor: 2, beside: []string{"engine/commit", "engine/lease", "engine/resultfile", "engine/taskview"}},
	"api":                 {floor: 3, beside: []string{"api/anchor", "api/entity", "api/question"}},
	"api/anchor":          {floor: 3, beside: []string{"api/entity"}},
	"api/entity":          {floor: 3},
	"api/question":        {floor: 3, beside: []string{"api/entity"}},
	"hostconfig":          {floor: 3, beside: []string{"hostconfig/notation", "hostconfig/replace"}},
	"packages":            {floor: 4},
	"hostconfig/notation": {floor: 3},
	"hostconfig/replace":  {floor: 3, beside: []string{"hostconfig/notation"}},
	"wire":                {floor: 3},
	"wire/conn":           {floor: 3, beside: []string{"wire"}},

	"web/page": {floor: 0},

	"mcp":           {floor: 4, beside: []string{"mcp/inert", "mcp/message", "mcp/supervise", "mcp/tool"}},
	"mcp/inert":     {floor: 4},
	"mcp/message":   {floor: 4},
	"mcp/pages":     {floor: 4, beside: []string{"mcp/inert"}},
	"mcp/supervise": {floor: 4},
	"mcp/tool":      {floor: 4, beside: []string{"mcp/inert", "mcp/message", "mcp/pages"}},
	"acp":           {floor: 4, beside: []string{"acp/message"}},
	"acp/message":   {floor: 0},
	"rpc":           {floor: 4},
	"web":           {floor: 4},
	"check":         {floor: 4},
	"check/trust":   {floor: 4},
	"watcher":       {floor: 4},

	"cli/hook/dialect": {floor: 0, beside: []string{"internal/safetext"}},

	"cli/output":    {floor: 5},
	"cli/settings":  {floor: 5, beside: []string{"cli/output"}},
	"cli/backend":   {floor: 5, beside: []string{"cli/output", "cli/settings"}},
	"cli/endpoint":  {floor: 5, beside: []string{"cli/backend"}},
	"cli/program":   {floor: 5, beside: []string{"cli/backend", "cli/output", "cli/settings"}},
	"cli/notify":    {floor: 5, beside: []string{"cli/backend", "cli/output"}},
	"cli/receipts":  {floor: 5, beside: []string{"cli/output"}},
	"cli/gate":      {floor: 5, beside: []string{"cli/program", "cli/receipts"}},
	"cli/planfiles": {floor: 5, beside: []string{"cli/backend", "cli/output", "cli/program", "cli/settings"}},

	"cli/acp":     {floor: 6},
	"cli/audit":   {floor: 6},
	"cli/check":   {floor: 6},
	"cli/doctor":  {floor: 6},
	"cli/hook":    {floor: 6},
	"cli/inbox":   {floor: 6},
	"cli/inboxes": {floor: 5, beside: []string{"cli/backend", "cli/program"}},
	"cli/plan":    {floor: 6},
	"cli/prompt":  {floor: 6},
	"cli/serve":   {floor: 6},
	"cli/setup":   {floor: 6},
	"cli/store":   {floor: 6},
	"cli/task":    {floor: 6},
	"cli/work":    {floor: 6},

	"cli":                  {floor: 7},
	".":                    {floor: 8},
	"test/demo":            {floor: 8},
	"test/fakeagent":       {floor: 8},
	"test/fakeagent/play":  {floor: 0},
	"test/linearizability": {floor: 0},
	"test/typecheck":       {floor: 0},
	"test/wine":            {floor: 0},
}

// rooms says which packages may import a third-party library; everything else goes through them.
// Test files may use what they like.
var rooms = map[string][]string{
	"github.com/sourcegraph/jsonrpc2":    {"wire/conn", "test/demo"}, // the demo plays a host
	"github.com/fsnotify/fsnotify":       {"watcher"},
	"github.com/jackc/pgx/v5":            {"store/postgres"},
	"modernc.org/sqlite":                 {"store/sqlite"},
	"github.com/google/uuid":             {"engine", "cli/receipts", "cli/work"},
	"github.com/go-json-experiment/json": {"schema", "schema/shape", "schema/codec", "schema/gen", "api", "api/entity", "cli/settings", "rpc", "mcp", "mcp/inert", "mcp/message", "mcp/supervise", "mcp/tool", "plan/lex", "wire/conn"},
	"github.com/tailscale/hujson":        {"hostconfig/notation"},
	"github.com/pelletier/go-toml/v2":    {"check/config", "hostconfig/notation"},
	"github.com/spf13/cobra":             {"cli", "cli/acp", "cli/audit", "cli/check", "cli/doctor", "cli/hook", "cli/inbox", "cli/notify", "cli/plan", "cli/planfiles", "cli/program", "cli/prompt", "cli/serve", "cli/settings", "cli/setup", "cli/store", "cli/task", "cli/work"},
	"github.com/spf13/pflag":             {"cli"}, // the flags of cobra, for their names
	"github.com/anishathalye/porcupine":  {"test/linearizability"},
	"github.com/rogpeppe/go-internal":    {"cli/check", "cli/prompt", "cli/setup"}, // its diff of two texts
	"golang.org/x/term":                  {"cli", "cli/check", "cli/inbox", "cli/output", "cli/program", "cli/prompt", "cli/setup", "cli/store", "cli/task"},
	"golang.org/x/tools":                 {"test/conformance", "test/typecheck"}, // txtar, many files in one; packages and their types
	"golang.org/x/text":                  {"cli/output", "prompt/sanitize"},
	"golang.org/x/sys":                   {"internal/procgroup", "hostconfig/replace", "wire", "wire/conn", "internal/ownfile", "store/sqlite", "plan/file", "engine/workspace", "watcher"},
	"mvdan.cc/sh/v3":                     {"core/shellcmd"},
}

// testRooms are the packages that only tests import.
var testRooms = []string{"core/coretest", "store/law", "store/postgres/pgtest", "test/fakemodel", "test/golden", "test/shipped", "test/slow", "test/teststore"}

// forbidden lists what the pure packages may not know.
var forbidden = []string{
	"context", "sync", "sync/atomic", "os", "io", "io/fs", "net", "net/http", "log", "log/slog",
	"math/rand", "math/rand/v2", "crypto/rand",
}

// mayHold lists the pure packages that need something of that all the same.
var mayHold = map[string][]string{
	// The JSON libraries report the end of their input as io.EOF.
	"test/conformance": {"io"},
	"doctor":           {"io", "io/fs"}, // it prints a dot for what it hides, and judges modes of files
}

func TestImportsGoDownOnly(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		home, known := floors[f.pkg]
		require.True(t, known, "package %s (%s) has no floor in arch_test.go", f.pkg, f.name)
		for _, imported := range f.imports {
			local, ours := strings.CutPrefix(imported, module(t)+"/")
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
			if !strings.Contains(first, ".") || strings.HasPrefix(imported, module(t)+"/") {
				continue
			}
			require.True(t, housed(f.pkg, imported), "%s imports %s, which has no room in %s", f.name, imported, f.pkg)
		}
	}
}

// A server must not be able to run a check, also not by way of another package.
func TestServersRunNoChecks(t *testing.T) {
	imports := map[string][]string{}
	for _, f := range sources(t) {
		if !f.test {
			imports[f.pkg] = append(imports[f.pkg], f.imports...)
		}
	}
	reached := []string{"cli/serve", "rpc", "mcp", "web", "web/page"}
	for i := 0; i < len(reached); i++ {
		require.Contains(t, imports, reached[i])
		for _, imported := range imports[reached[i]] {
			local, ours := strings.CutPrefix(imported, module(t)+"/")
			if ours && !slices.Contains(reached, local) {
				require.NotEqual(t, "check", local, "%s imports it", reached[i])
				reached = append(reached, local)
			}
		}
	}
	require.Contains(t, reached, "check/trust", "servers say whether checks are trusted")
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
	pure := []string{"check/config", "core", "core/audit", "core/instruction", "core/task", "core/run", "core/verdict", "doctor", "internal/safetext", "ledger", "plan", "plan/block", "plan/criteria", "plan/describe", "plan/dialect", "plan/edit", "plan/graph", "plan/legend", "plan/lex", "plan/places", "plan/read", "plan/record", "plan/table", "prompt", "prompt/sanitize", "schema", "schema/shape", "schema/codec", "schema/gen", "test/conformance"}
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

// module returns the path of the module, which `make rename-module` changes.
func module(t *testing.T) string {
	t.Helper()
	file, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(file), "\n")
	return strings.TrimPrefix(first, "module ")
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

// A size says how much of one folder a reader must hold in mind. The limits are habits of well-kept projects: the largest
// circle of files in etcd's raft has 10 files, that in age 4.
type size struct {
	files, lines int // without tests
	circle       int // files that all need one another, by their references
	methods      int // of the type with the most
	fields       int // likewise; options and what is read from or written to JSON are lists of names, and not counted
	verbs        int // methods of the largest interface
	private      int // lines of comments with words of the project's own early language, see privateWords
}

var sizeLimits = size{files: 20, lines: 3000, circle: 8, methods: 25, fields: 15, verbs: 12}

// oversized are the folders beyond the limits, with what they have today. The figures only shrink: a folder that gets
// smaller gets its smaller figures here, and one within the limits leaves the table.
var oversized = map[string]size{
	"api":            {files: 34, lines: 5300, circle: 21, methods: 67},
	"core/run":       {methods: 45, fields: 16},
	"core/task":      {circle: 9, methods: 46},
	"core/verdict":   {files: 21, lines: 3500, circle: 16, methods: 26},
	"engine":         {files: 42, lines: 6400, circle: 35, methods: 98, fields: 21},
	"plan":           {fields: 17},
	"store/law":      {files: 24, lines: 4700, circle: 24},
	"store/postgres": {circle: 13, methods: 68, fields: 29},
	"store/sqlite":   {files: 39, lines: 5700, circle: 24, methods: 71, fields: 30},
}

// A test that CI may skip is named in .ci/skips; a test that was renamed must be renamed there.
func TestNamesOfSkippedTestsExist(t *testing.T) {
	skips, err := os.ReadFile(".ci/skips")
	require.NoError(t, err)
	var code strings.Builder
	for _, s := range sources(t) {
		if s.test {
			text, err := os.ReadFile(s.name)
			require.NoError(t, err)
			code.Write(text)
		}
	}
	for line := range strings.Lines(string(skips)) {
		if name := strings.TrimSpace(line); name != "" && !strings.HasPrefix(name, "#") {
			require.Contains(t, code.String(), "\nfunc "+name+"(t *testing.T)", ".ci/skips names a test that does not exist")
		}
	}
}

func TestFoldersKeepTheirSize(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems build other files")
	}
	over := make(map[string]size)
	for folder, is := range measured(t) {
		excess := size{
			files: beyond(is.files, sizeLimits.files), lines: beyond((is.lines+99)/100*100, sizeLimits.lines), circle: beyond(is.circle, sizeLimits.circle),
			methods: beyond(is.methods, sizeLimits.methods), fields: beyond(is.fields, sizeLimits.fields), verbs: beyond(is.verbs, sizeLimits.verbs),
			private: is.private,
		}
		if excess != (size{}) {
			over[folder] = excess
		}
	}
	require.Equal(t, oversized, over, "the limits are %+v; what is beyond them may only shrink, and the table shrinks with it", sizeLimits)
}

// beyond returns n if it is beyond the limit, and 0 if it is not.
func beyond(n, limit int) int {
	if n <= limit {
		return 0
	}
	return n
}

// privateWords are those with which sentences hide who does what.
var privateWords = regexp.MustCompile(`(?i)\b(gives|nobody|somebody|whoever)\b|(^|[.:] )What\b`)

func measured(t *testing.T) map[string]size {
	t.Helper()
	found, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, "./...")
	require.NoError(t, err)
	sizes := make(map[string]size)
	for _, p := range found {
		require.Empty(t, p.Errors)
		sizes[strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, module(t)), "/")] = sizeOf(p)
	}
	return sizes
}

func sizeOf(p *packages.Package) (s size) {
	s.files = len(p.Syntax)
	number := make(map[string]int)
	for i, f := range p.Syntax {
		number[p.Fset.Position(f.FileStart).Filename] = i
		s.lines += p.Fset.Position(f.FileEnd).Line
		for _, group := range f.Comments {
			for _, line := range group.List {
				if privateWords.MatchString(strings.TrimLeft(line.Text, "/ ")) {
					s.private++
				}
			}
		}
	}
	needs := make([][]int, len(p.Syntax))
	for id, object := range p.TypesInfo.Uses {
		if object.Pkg() == p.Types && !isLocal(object) {
			from, to := number[p.Fset.Position(id.Pos()).Filename], number[p.Fset.Position(object.Pos()).Filename]
			needs[from] = append(needs[from], to)
		}
	}
	s.circle = largestCircle(needs)
	for _, name := range p.Types.Scope().Names() {
		named, ok := p.Types.Scope().Lookup(name).Type().(*types.Named)
		if !ok || p.Types.Scope().Lookup(name).Pkg() != named.Obj().Pkg() {
			continue
		}
		s.methods = max(s.methods, named.NumMethods())
		switch of := named.Underlying().(type) {
		case *types.Interface:
			s.verbs = max(s.verbs, of.NumMethods())
		case *types.Struct:
			if !strings.HasSuffix(name, "Options") && !strings.Contains(of.Tag(max(0, min(1, of.NumFields()-1))), "json:") {
				s.fields = max(s.fields, of.NumFields())
			}
		}
	}
	return s
}

// isLocal reports whether only one function can refer to an object.
func isLocal(object types.Object) bool {
	if object.Parent() == object.Pkg().Scope() {
		return false
	}
	switch o := object.(type) {
	case *types.Var:
		return !o.IsField()
	case *types.Func:
		return o.Signature().Recv() == nil
	}
	return true
}

// largestCircle returns how many nodes the largest set has in which each can be reached from each.
func largestCircle(needs [][]int) (largest int) {
	reached := make([][]bool, len(needs))
	for i := range needs {
		reached[i] = make([]bool, len(needs))
		for todo := slices.Clone(needs[i]); len(todo) > 0; {
			next := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !reached[i][next] {
				reached[i][next] = true
				todo = append(todo, needs[next]...)
			}
		}
	}
	for i := range reached {
		n := 1
		for j := range reached {
			if i != j && reached[i][j] && reached[j][i] {
				n++
			}
		}
		largest = max(largest, n)
	}
	return largest
}
