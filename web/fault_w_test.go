package web_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// Somebody tries tokens, as many as there is time for.
func TestGuessedTokensAreLimited(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		guess := func() answer { return h.ask("GET", "/api/tasks", "", "Authorization: Bearer guess") }
		for range 10 {
			guess().requireError(401, schema.Unauthorized)
		}
		a := guess()
		a.requireError(429, schema.Overloaded)
		require.Equal(t, "1", a.header.Get("Retry-After"))
		h.ask("POST", "/api/login", `{"code":"guess"}`).requireError(429, schema.Overloaded)
		h.ask("GET", "/api/tasks", "").requireOK() // a right token is not delayed
		time.Sleep(time.Second)
		guess().requireError(401, schema.Unauthorized)
	})
}

// A browser keeps the addresses that it was at, with the codes that were in them.
func TestLoginCodeCanBeUsedOnce(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		issue := func() string {
			o := h.ask("POST", "/api/codes", "").requireOK()
			require.Equal(t, "60000", o.str("expires_in_ms"))
			require.NotContains(t, o.str("code"), testToken)
			return o.str("code")
		}
		login := func(code string) answer {
			return h.ask("POST", "/api/login", `{"code":"`+code+`"}`, "Authorization")
		}
		code := issue()
		require.NotEqual(t, code, issue())
		login("no such code").requireError(401, schema.Unauthorized)
		require.NotEqual(t, testToken, login(code).requireOK().str("token"))
		login(code).requireError(401, schema.Unauthorized)

		late := issue()
		time.Sleep(time.Minute)
		login(late).requireError(401, schema.Unauthorized)

		codes := []string{}
		for range 17 {
			codes = append(codes, issue())
		}
		login(codes[0]).requireError(401, schema.Unauthorized) // it gave way
		login(codes[1]).requireOK()
		login(codes[16]).requireOK()

		require.NotContains(t, h.log.String(), testToken)
	})
}

// Whoever gets hold of what a browser has got has not got what http.json has: it is one of a bounded number, gives way
// to others, and means nothing to the next process.
func TestBrowserGetsItsOwnToken(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		login := func(h *harness) string {
			code := h.ask("POST", "/api/codes", "").requireOK().str("code")
			return h.ask("POST", "/api/login", `{"code":"`+code+`"}`, "Authorization").requireOK().str("token")
		}
		asks := func(h *harness, token string) answer {
			return h.ask("GET", "/api/tasks", "", "Authorization: Bearer "+token)
		}
		first, second := login(h), login(h)
		require.Regexp(t, `^[0-9a-f]{64}$`, first)
		require.NotEqual(t, first, second)
		require.NotContains(t, []string{first, second}, testToken)
		asks(h, first).requireOK()
		for range 63 {
			login(h)
			asks(h, first).requireOK() // so that it is not the one that is dropped
		}
		asks(h, second).requireError(401, schema.Unauthorized)
		asks(h, first).requireOK()
		h.ask("GET", "/api/tasks", "", "Authorization: Basic "+first).requireError(401, schema.Unauthorized)
		asks(h, testToken).requireOK()
		asks(newHarness(t, setup{}), first).requireError(401, schema.Unauthorized)
		require.NotContains(t, h.log.String(), first)
	})
}
