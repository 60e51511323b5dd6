package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// modulePath fits paths under which `go install` finds a module: the first part is the name of a server.
var modulePath = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]+)+$`)

// moduleLine fits the line of a go.mod that names its module.
var moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)

// rename changes the path of the module, in all modules of the repository, so that `go install` can find it.
func rename(root, to string) error {
	if !modulePath.MatchString(to) {
		return fmt.Errorf("%q is no path of a module, such as example.com/you/waybill", to)
	}
	raw, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	from := string(moduleLine.FindSubmatch(raw)[1])
	inModFiles := regexp.MustCompile(`(?m)(^|[ \t])` + regexp.QuoteMeta(from) + `($|[ /])`)
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "bin", "dist"}, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		text, changed := []byte(nil), []byte(nil)
		switch {
		case entry.Name() == "go.mod":
			if text, err = os.ReadFile(path); err == nil {
				changed = inModFiles.ReplaceAll(text, []byte("${1}"+to+"${2}"))
			}
		case strings.HasSuffix(entry.Name(), ".go"):
			if text, err = os.ReadFile(path); err == nil {
				changed, err = renamedSource(root, text, from, to)
			}
		}
		if err != nil || bytes.Equal(text, changed) {
			return err
		}
		return os.WriteFile(path, changed, 0o644)
	})
}

// renamedSource returns a Go file with the new path in its imports, in all other texts that name a package of the module,
// and in the commands of Go that name the module.
func renamedSource(root string, text []byte, from, to string) ([]byte, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	places := map[int]bool{} // offsets behind the opening quote
	found := func(literal *ast.BasicLit) { places[files.Position(literal.Pos()).Offset+1] = true }
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch node := n.(type) {
		case *ast.ImportSpec:
			if path := value(node.Path); path == from || strings.HasPrefix(path, from+"/") {
				found(node.Path)
			}
		case *ast.BasicLit:
			if below, inside := strings.CutPrefix(value(node), from+"/"); inside && hasSource(root, below) {
				found(node)
			}
		case *ast.CallExpr:
			if slices.ContainsFunc(node.Args, func(a ast.Expr) bool { return value(a) == "go" }) {
				for _, a := range node.Args {
					if value(a) == from {
						found(a.(*ast.BasicLit))
					}
				}
			}
		}
		return true
	})
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(places))) {
		text = slices.Concat(text[:at], []byte(to), text[at+len(from):])
	}
	return text, nil
}

// value returns the value of a string literal, and "" for everything else.
func value(of ast.Expr) string {
	literal, ok := of.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return text
}

// hasSource reports whether a folder below the root is a Go package.
func hasSource(root, folder string) bool {
	found, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.go")) // the pattern is well-formed
	return len(found) > 0
}
