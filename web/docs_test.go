package web_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"waybill/schema"
	"waybill/test/golden"
	"waybill/web"
)

// TestDocumentHasEveryRoute holds the tables of docs/http.md against the routes.
func TestDocumentHasEveryRoute(t *testing.T) {
	golden.Parts(t, "../docs/http.md", map[string]string{"routes": "\n" + methodRoutes(t) + "\n", "own": "\n" + ownRoutes() + "\n", "statuses": "\n" + statuses() + "\n"})
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
