package web_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/web/markdown"
)

// The markup of a text is given as nodes, to whoever has the token.
func TestMarkdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		a := h.ask("POST", "/api/markdown", `{"text":"1. *a* <b>\n2. [c](https://d.example) [e](javascript:f)"}`)
		a.ok()
		require.JSONEq(t, `{"nodes":[{"kind":"list","ordered":true,"start":1,"children":[
			{"kind":"item","children":[{"kind":"emphasis","children":[{"kind":"text","text":"a"}]},{"kind":"text","text":" <b>"}]},
			{"kind":"item","children":[{"kind":"link","url":"https://d.example","children":[{"kind":"text","text":"c"}]},{"kind":"text","text":" e (javascript:f)"}]}
		]}]}`, string(a.body))
		require.JSONEq(t, `{"nodes":[]}`, string(h.ask("POST", "/api/markdown", `{"text":" \n"}`).body))
		long := h.ask("POST", "/api/markdown", `{"text":"`+strings.Repeat("a", markdown.MaxBytes+1)+`"}`).ok()
		require.Equal(t, markdown.TooLong, long.str("plain"))

		h.ask("POST", "/api/markdown", `{"text":"a"}`, "Authorization").refused(401, schema.Unauthorized)
		h.ask("POST", "/api/markdown", `{"text":"a"}`, "Origin: http://evil.test").refused(403, schema.Forbidden)
		h.ask("POST", "/api/markdown", `{"text":"a"}`, "Content-Type: text/plain").refused(415, schema.WrongMedia)
		h.ask("GET", "/api/markdown", "").refused(405, schema.WrongVerb)
		h.ask("POST", "/api/markdown", `{"text":"`+strings.Repeat("a", 128<<10)+`"}`).refused(413, schema.TooLarge)
		for body, code := range map[string]schema.Code{
			"":                      schema.InvalidParams,
			"{}":                    schema.InvalidParams,
			`{"text":""}`:           schema.InvalidParams,
			`{"text":"\u0000"}`:     schema.InvalidParams, // as in every text
			`{"text":7}`:            schema.InvalidParams,
			`{"text":"a","html":1}`: schema.UnknownField,
			`{"text":"a"`:           schema.ParseError,
			`{"text":"\ud800"}`:     schema.InvalidUTF8,
			"{\"text\":\"\xff\"}":   schema.InvalidUTF8,
		} {
			h.ask("POST", "/api/markdown", body).refused(400, code)
		}
	})
}

// Whatever a text says, its answer can be sent.
func TestMarkdownOfAnyText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		for _, text := range []string{strings.Repeat("> ", 20000), strings.Repeat("*a **b ", 3000), "\u202e\u2028\ufeff", "[a](https://b.example/\x01)", "\x1b[31m", strings.Repeat("- ", 20000)} {
			body, err := schema.Encode(map[string]string{"text": text})
			require.NoError(t, err)
			require.NotEmpty(t, h.ask("POST", "/api/markdown", string(body)).ok().str("nodes"), fmt.Sprintf("%.20q", text))
		}
	})
}
