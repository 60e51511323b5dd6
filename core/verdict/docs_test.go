package verdict_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/test/golden"
)

var document = filepath.Join("..", "..", "docs", "results.md")

func readDocument(t *testing.T) string {
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// The tables of the document are written from the tables of the code.
func TestResultsDocumentIsCurrent(t *testing.T) {
	golden.Parts(t, document, map[string]string{
		"matrix": matrixTable(), "tolerances": toleranceTable(), "faults": faultTable(), "words": wordTable(),
	})
}

func code(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "` `") + "`"
}

// matrixTable writes the rows of all roles that are alike as one.
func matrixTable() string {
	var order []string
	roles := map[string][]string{}
	for _, rule := range verdict.Matrix() {
		row := fmt.Sprintf("| `%s` | `%s` | %s | %s |\n", rule.Status, rule.Verdict, code(rule.Required), code(rule.Optional))
		row = "| " + grammarTitle(rule.Grammar) + " | %s " + row
		if roles[row] == nil {
			order = append(order, row)
		}
		roles[row] = append(roles[row], rule.Role.String())
	}
	var b strings.Builder
	b.WriteString("| form | role | says | verdict | required | allowed besides |\n|---|---|---|---|---|---|\n")
	for _, row := range order {
		fmt.Fprintf(&b, row, strings.Join(roles[row], ", "))
	}
	return b.String()
}

func grammarTitle(g verdict.Grammar) string {
	if g == verdict.JSONBlock {
		return "block"
	}
	return "headers"
}

func toleranceTable() string {
	var b strings.Builder
	b.WriteString("| warning | meaning |\n|---|---|\n")
	for _, tolerance := range verdict.Tolerances() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", tolerance.Remark, tolerance.About)
	}
	return b.String()
}

// faultTable takes what a fault means from the comment at its declaration.
func faultTable() string {
	source, err := os.ReadFile("notes.go")
	if err != nil {
		panic(err)
	}
	about := map[string]string{}
	for _, found := range regexp.MustCompile(`Fault = "(\w+)"\s+// (.*)`).FindAllStringSubmatch(string(source), -1) {
		about[found[1]] = strings.TrimRight(found[2], "\r")
	}
	var b strings.Builder
	b.WriteString("| error | meaning |\n|---|---|\n")
	for _, fault := range verdict.Faults() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", fault, about[string(fault)])
	}
	return b.String()
}

func wordTable() string {
	var b strings.Builder
	b.WriteString("| source | word | field in waybill | word in waybill | note |\n|---|---|---|---|---|\n")
	for _, w := range verdict.Words() {
		fmt.Fprintf(&b, "| %s | `%s` | `%s` | `%s` | %s |\n", w.In, w.Word, w.Field, w.Means, w.Note)
	}
	return b.String()
}

// Every example is judged as the document says, without a warning.
func TestExamplesOfTheDocumentAreTrue(t *testing.T) {
	found := regexp.MustCompile("(?s)```text (\\S+) (\\S+)\n(.*?)```\n").FindAllStringSubmatch(readDocument(t), -1)
	require.Len(t, found, 4)
	for _, e := range found {
		role, ok := core.ParseRole(e[1])
		require.True(t, ok, e[1])
		j := verdict.Judge(e[3], verdict.Asked{Role: role, ItemID: "2.1", Keys: []string{theKey}, RequireKey: true})
		require.Equal(t, e[2], string(j.Verdict), e[3])
		require.Empty(t, j.Warnings, e[3])
	}
}

// The statements of the document's table are what it says, for the roles that it says.
func TestStatementsOfTheDocumentAreTrue(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `(pass|gaps|error)` \\| (.*\\..*|.*….*|FAILED.*) \\| (.*) \\|$").FindAllStringSubmatch(readDocument(t), -1)
	require.Len(t, rows, 3)
	count := 0
	for _, row := range rows {
		for i, role := range []core.Role{core.Worker, core.CodeQualityReviewer} {
			for _, statement := range regexp.MustCompile(` · |\. |\.$`).Split(row[i+2], -1) {
				if statement = strings.TrimSpace(strings.ReplaceAll(statement, "(as the first or last line)", "")); statement == "" {
					continue
				}
				count++
				text := strings.ReplaceAll(statement, "…", "the font")
				question := asked(role)
				question.Generic = role.Reviewer()
				j := verdict.Judge(text, question)
				require.Equal(t, row[1], string(j.Verdict), "%s says %q", role, text)
				require.Equal(t, verdict.Legacy, j.Grammar)
			}
		}
	}
	require.Equal(t, 25, count)
}
