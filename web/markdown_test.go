package web_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/web/markdown"
)

// A request with the token gets the nodes of a text.
func TestMarkdown(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		a := h.ask("POST", "/api/markdown", `{"text":"1. *a* <b>\n2. [c](https://d.example) [e](javascript:f)"}`)
		a.requireOK()
		require.JSONEq(t, `{"nodes":[{"kind":"list","ordered":true,"start":1,"children":[
			{"kind":"item","children":[{"kind":"emphasis","children":[{"kind":"text","text":"a"}]},{"kind":"text","text":" <b>"}]},
			{"kind":"item","children":[{"kind":"link","url":"https://d.example","children":[{"kind":"text","text":"c"}]},{"kind":"text","text":" e (javascript:f)"}]}
		]}]}`, string(a.body))
		require.JSONEq(t, `{"nodes":[]}`, string(h.ask("POST", "/api/markdown", `{"text":" \n"}`).body))
		long := h.ask("POST", "/api/markdown", `{"text":"`+strings.Repeat("a", markdown.MaxBytes+1)+`"}`).requireOK()
		require.Equal(t, markdown.TooLong, long.str("plain"))

		h.ask("POST", "/api/markdown", `{"text":"a"}`, "Authorization").requireError(401, schema.Unauthorized)
		h.ask("POST", "/api/markdown", `{"text":""}`).requireError(400, schema.InvalidParams)
		h.ask("POST", "/api/markdown", `{"text":"a","html":1}`).requireError(400, schema.UnknownField)
	})
}
