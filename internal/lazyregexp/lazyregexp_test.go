package lazyregexp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/lazyregexp"
)

func TestAnExpressionIsCompiledOnce(t *testing.T) {
	r := lazyregexp.New("^a+$")
	require.True(t, r.Compiled().MatchString("aa"))
	require.Same(t, r.Compiled(), r.Compiled())
	require.Panics(t, func() { lazyregexp.New("(").Compiled() })
}

// A wrong pattern must not wait for the first user who needs it.
func TestAllPatternsOfTheProgramAreRight(t *testing.T) {
	constants, patterns := map[string]ast.Expr{}, map[ast.Expr]string{}
	files := token.NewFileSet()
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, value := range n.Values {
					constants[n.Names[i].Name] = value
				}
			case *ast.CallExpr:
				if of, ok := n.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "New" {
					if pkg, ok := of.X.(*ast.Ident); ok && pkg.Name == "lazyregexp" {
						patterns[n.Args[0]] = files.Position(n.Pos()).String()
					}
				}
			}
			return true
		})
		return nil
	}))
	require.Greater(t, len(patterns), 40)
	for pattern, at := range patterns {
		_, err := regexp.Compile(text(t, pattern, constants))
		require.NoError(t, err, at)
	}
}

// text returns the value of a literal, of a sum of literals, or of a constant.
func text(t *testing.T, e ast.Expr, constants map[string]ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		require.NoError(t, err)
		return s
	case *ast.BinaryExpr:
		return text(t, e.X, constants) + text(t, e.Y, constants)
	case *ast.Ident:
		return text(t, constants[e.Name], constants)
	case *ast.SelectorExpr:
		return text(t, e.Sel, constants)
	}
	require.Fail(t, "a pattern that this test cannot read", "%T", e)
	return ""
}
