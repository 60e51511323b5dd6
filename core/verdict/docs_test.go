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
		"matrix": matrixTable(), "tolerances": meaningTable(t, "warning", "remarks.go", "Remark"), "faults": meaningTable(t, "error", "notes.go", "Fault"),
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

// constants returns the values of the constants of a type in a source file, in order, and their comments.
func constants(t testing.TB, file, typeName string) (values []string, about map[string]string) {
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	about = map[string]string{}
	for _, found := range regexp.MustCompile(typeName+` += "(\w+)" +// (.*)`).FindAllStringSubmatch(string(source), -1) {
		values = append(values, found[1])
		about[found[1]] = strings.TrimRight(found[2], "\r")
	}
	require.NotEmpty(t, values)
	return values, about
}

// meaningTable writes the constants of a type with the meanings from their comments.
func meaningTable(t *testing.T, title, file, typeName string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | meaning |\n|---|---|\n", title)
	values, about := constants(t, file, typeName)
	for _, value := range values {
		fmt.Fprintf(&b, "| `%s` | %s |\n", value, about[value])
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
