package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// An answer is what came back for a request.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

// requireError asserts that the answer is the error of that code, and that it was said as every answer is.
func (a answer) requireError(status int, code schema.Code) object {
	a.t.Helper()
	require.Equal(a.t, status, a.status, "%s", a.body)
	o := a.object()
	require.Equal(a.t, string(code), o.str("error.data.code"), "%s", a.body)
	require.NotEmpty(a.t, o.str("error.message"))
	a.requireSecurityHeaders()
	return o
}

// requireOK asserts success.
func (a answer) requireOK() object {
	a.t.Helper()
	require.Equal(a.t, http.StatusOK, a.status, "%s", a.body)
	a.requireSecurityHeaders()
	return a.object()
}

func (a answer) object() object {
	a.t.Helper()
	require.Equal(a.t, "application/json", a.header.Get("Content-Type"), "%s", a.body)
	return read(a.t, a.body)
}

// requireSecurityHeaders asserts what is true of every answer: it allows nothing to any page.
func (a answer) requireSecurityHeaders() {
	a.t.Helper()
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp",
	} {
		require.Equal(a.t, []string{value}, a.header.Values(name), name)
	}
	csp := a.header.Get("Content-Security-Policy")
	for _, rule := range []string{
		"default-src 'none'", "script-src 'self'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'", "trusted-types 'none'",
	} {
		require.Contains(a.t, strings.Split(csp, "; "), rule)
	}
	require.NotContains(a.t, csp, "unsafe")
	for name := range a.header {
		require.False(a.t, strings.HasPrefix(name, "Access-Control-"), name)
		require.NotContains(a.t, []string{"Set-Cookie", "Location"}, name)
	}
}

// An object is decoded JSON. Numbers keep their digits.
type object struct {
	t testing.TB
	v any
}

func read(t testing.TB, text []byte) object {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), "%s", text)
	return object{t, v}
}

// at returns the value at a dotted path.
func (o object) at(path string) any {
	o.t.Helper()
	v := o.v
	for step := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		require.True(o.t, ok, "%s in %v", path, o.v)
		v, ok = m[step]
		require.True(o.t, ok, "%s in %v", path, o.v)
	}
	return v
}

func (o object) str(path string) string {
	o.t.Helper()
	return fmt.Sprint(o.at(path))
}
