package web_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/web"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/http.md")

// TestDocumentHasEveryRoute holds the tables of docs/http.md against the routes.
func TestDocumentHasEveryRoute(t *testing.T) {
	const name = "../docs/http.md"
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	doc := strings.ReplaceAll(string(text), "\r\n", "\n") // as some systems check files out
	for part, table := range map[string]string{"routes": methodRoutes(t), "own": ownRoutes(), "statuses": statuses()} {
		doc = replaced(t, doc, part, table)
	}
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(doc), 0o644))
		return
	}
	require.Equal(t, doc, strings.ReplaceAll(string(text), "\r\n", "\n"), "go test ./web -run TestDocument -update")
}

// replaced puts a table between the marks of a part.
func replaced(t *testing.T, doc, part, table string) string {
	t.Helper()
	begin, end := "<!-- "+part+": written by `go test ./web -run TestDocument -update` -->\n", "<!-- end of "+part+" -->\n"
	head, rest, ok := strings.Cut(doc, begin)
	require.True(t, ok, "there is no %s", begin)
	_, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, "there is no %s", end)
	return head + begin + "\n" + table + "\n" + end + tail
}

// methodRoutes is the table of the routes that are methods.
func methodRoutes(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| route | method | params | refused with |\n|---|---|---|---|\n")
	for _, r := range web.Routes {
		if r.Method == "" {
			continue
		}
		m := declared(t, r.Method)
		fmt.Fprintf(&b, "| `%s %s` | [`%s`](protocol.md#%s) | %s | %s |\n",
			r.Verb, r.Path, r.Method, strings.ReplaceAll(r.Method, ".", ""), paramsOf(r, m), refusals(m))
	}
	return b.String()
}

// paramsOf lists what the query or the body may have.
func paramsOf(r web.Route, m schema.Method) string {
	names := slices.Sorted(maps.Keys(web.KindsOf(m.Params)))
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == "idempotency_key" || strings.Contains(r.Path, "{"+name+"}") || strings.Contains(r.Fixed, `"`+name+`"`)
	})
	for i, name := range names {
		names[i] = "`" + name + "`"
	}
	return strings.Join(names, ", ")
}

// refusals lists the statuses of the method's own errors.
func refusals(m schema.Method) string {
	by := map[int][]string{}
	for _, code := range m.Errors {
		by[web.StatusOf(code)] = append(by[web.StatusOf(code)], "`"+string(code)+"`")
	}
	var all []string
	for _, status := range slices.Sorted(maps.Keys(by)) {
		all = append(all, fmt.Sprintf("%d %s", status, strings.Join(by[status], " ")))
	}
	return strings.Join(all, ", ")
}

// ownRoutes is the table of the routes that are no methods.
func ownRoutes() string {
	var b strings.Builder
	b.WriteString("| route | token | what it does |\n|---|---|---|\n")
	for _, r := range web.Routes {
		if r.Method == "" {
			fmt.Fprintf(&b, "| `%s %s` | %s | %s |\n", r.Verb, r.Path, map[bool]string{true: "no", false: "yes"}[r.Open], r.Doc)
		}
	}
	return b.String()
}

// statuses is the table of the error codes by status.
func statuses() string {
	by := map[int][]string{}
	for _, row := range schema.ErrorTable {
		by[web.StatusOf(row.Code)] = append(by[web.StatusOf(row.Code)], "`"+string(row.Code)+"`")
	}
	var b strings.Builder
	b.WriteString("| status | `data.code` |\n|---|---|\n")
	for _, status := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(&b, "| %d | %s |\n", status, strings.Join(by[status], ", "))
	}
	return b.String()
}
