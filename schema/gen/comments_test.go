package gen

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the tests generate from the comments as the sources have them now.
func TestMain(m *testing.M) {
	commentLines = string(CommentLines())
	os.Exit(m.Run())
}

// CommentLines returns comments.txt, which saves a binary from carrying the sources.
func CommentLines() []byte {
	files := token.NewFileSet()
	var syntax []*ast.File
	names, _ := filepath.Glob("../*.go") // the pattern is valid
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		syntax = append(syntax, file)
	}
	declared, err := doc.NewFromFiles(files, syntax, "waybill/schema")
	if err != nil {
		panic(err)
	}
	wire := map[string]bool{"Code": true, "None": true, "Time": true}
	for _, s := range allObjects() {
		wire[s.Type.Name()] = true
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n", generatedBy)
	for _, t := range declared.Types {
		if wire[t.Name] {
			fmt.Fprintf(&text, "%s\t%s\n", t.Name, strings.ReplaceAll(strings.TrimSpace(t.Doc), "\n", " "))
		}
	}
	return []byte(text.String())
}
