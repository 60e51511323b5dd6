package rpc_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/rpc"
	"waybill/wire"
)

var seeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1,-0.5e+7,true,false,null,"x\u00e9\ud83d\ude00\\\"\/\b\f\n\r\t"]}}`,
	`[{"id":1,"method":"ping"},{"method":"change"},{"id":2,"result":null},7]`,
	`{"id":"\u0061","id":"a","method":"ping"}`, `{"id":1,"Method":"ping","method":"ping"}`,
	`{"id":1,"method":"echo","params":` + strings.Repeat("[", 130) + strings.Repeat("]", 130) + `}`,
	"{\"id\":1,\"method\":\"\xff\"}", `{"id":1,"method":"\ud800"}`, `{"a":"12345678\u0000123456789"}`, `"`, `{}`, `[]`, `nul`, "\xef\xbb\xbf{}", "\xff\xfe{\x00",
}

// Whatever comes in, the answers are proper frames, nothing over the limit gets through, and after a
// line there is always another one.
func FuzzStream(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s + "\n"))
		f.Add([]byte(framed(wire.Headers, s) + framed(wire.Headers, request(1, "measure", `"x"`))))
	}
	f.Add([]byte("Content-Length: -1\r\n\r\n{}content-length:40\nX: y\n\n" + request(1, "ping", "") + "rest Content-Length: 40\r\n\r\n"))
	f.Add([]byte("Content-Length: 4294967297\r\n\r\n" + strings.Repeat("C", 300)))
	const limit = 80
	f.Fuzz(func(t *testing.T, stream []byte) {
		last := "\n" + request(`"last"`, "ping", "") + "\n"
		in := io.MultiReader(bytes.NewReader(stream), strings.NewReader(last))
		text := serveAll(t, newFixture(), io.NopCloser(in), func(o *rpc.Options) { o.SetMaxMessageBytes(limit) })
		framing := wire.Lines
		if strings.HasPrefix(text, "Content-Length: ") {
			framing = wire.Headers
		}
		require.True(t, utf8.ValidString(text))
		answers := unframeAll(t, framing, text)
		for _, a := range answers {
			if a[0] == '[' {
				require.NotEmpty(t, brief(t, a))
			} else if r := parse(t, a); r.Error == nil {
				require.LessOrEqual(t, len(r.Result), limit)
			}
		}
		if framing == wire.Lines {
			require.Contains(t, answers[len(answers)-1], `"last"`)
		}
	})
}
