package rpc_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

var seeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1,-0.5e+7,true,false,null,"x\u00e9\ud83d\ude00\\\"\/\b\f\n\r\t"]}}`,
	`[{"id":1,"method":"ping"},{"method":"change"},{"id":2,"result":null},7]`,
	`{"id":"\u0061","id":"a","method":"ping"}`, `{"id":1,"Method":"ping","method":"ping"}`,
	`{"id":18446744073709551616,"method":"ping"}`, `{"id":{},"method":"ping"}`, `{"id":1,"method":"p","error":{}}`,
	`{"id":1,"method":"echo","params":` + strings.Repeat("[", 130) + strings.Repeat("]", 130) + `}`,
	`{"id":1,"method":"echo","params":{"k0":0,"k1":0,"k2":0,"k3":0,"k4":0,"k5":0,"k6":0,"k7":0,"k8":0,"k9":0,"ka":0,"kb":0,"kc":0,"kd":0,"ke":0,"kf":0,"kg":0,"k1":1}}`,
	"{\"id\":1,\"method\":\"\xff\"}", `{"id":1,"method":"\ud800"}`, `{"a":"12345678\u0000123456789"}`, `"`, `{}`, `[]`, `nul`, "\xef\xbb\xbf{}", "\xff\xfe{\x00",
}

// What a message is worth is decided in the same way as by another reader of JSON that is as strict,
// and by the rules of JSON-RPC said once more.
func FuzzMessage(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		if strings.ContainsAny(message, "\r\n") || strings.Trim(message, " \t") == "" {
			t.Skip("this is not one line")
		}
		in := request(`"first"`, "ping", "") + "\n" + message + "\n"
		answers := split(t, wire.Lines, serveAll(t, newFixture(), io.NopCloser(strings.NewReader(in))))
		require.NotEmpty(t, answers)
		require.Equal(t, `"first" {"pong":true}`, brief(t, answers[0]))
		require.LessOrEqual(t, len(answers), 2)
		got := "accepted"
		if len(answers) == 2 && !strings.HasPrefix(answers[1], "[") {
			if e := parse(t, answers[1]).Error; e != nil && (e.Code == -32700 || e.Code == -32600) {
				got = e.Data.Code
			}
		}
		want := expected(message)
		if want == string(schema.ParseError) && got == string(schema.InvalidUTF8) {
			want = got // the text is broken in two ways, and either may be found first
		}
		require.Equal(t, want, got, "%q", message)
	})
}

// expected says what becomes of a message: its code, or that it is accepted.
func expected(message string) string {
	value := jsontext.Value(message)
	switch {
	case !value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		return string(schema.ParseError)
	case !value.IsValid(jsontext.AllowDuplicateNames(true)):
		return string(schema.InvalidUTF8)
	case value.Kind() == '[':
		return expectedOfBatch(value)
	}
	return expectedOfObject(value)
}

func expectedOfBatch(value jsontext.Value) string {
	var members []jsontext.Value
	if json.Unmarshal(value, (*[]jsontext.Value)(&members)) != nil {
		panic("a valid array")
	}
	if len(members) == 0 || len(members) > schema.MaxBatch {
		return string(schema.InvalidBatch)
	}
	return "accepted"
}

func expectedOfObject(value jsontext.Value) string {
	invalid := string(schema.InvalidRequest)
	members, tooDeep, doubled := survey(value)
	switch {
	case tooDeep || doubled:
		// Both are refusals, and the first in the text counts.
		return firstRefusal(value)
	case value.Kind() != '{':
		return invalid
	}
	text := func(name string) string {
		var s string
		_ = json.Unmarshal(members[name], &s)
		return s
	}
	_, hasMethod := members["method"]
	_, hasResult := members["result"]
	_, hasError := members["error"]
	if !hasMethod && (hasResult || hasError) {
		return "accepted"
	}
	for name := range members {
		for _, p := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
			if name != p && strings.EqualFold(name, p) {
				return invalid
			}
		}
	}
	if v, ok := members["jsonrpc"]; ok && (v.Kind() != '"' || text("jsonrpc") != "2.0") {
		return invalid
	}
	if hasMethod && (hasResult || hasError) || members["method"].Kind() != '"' || text("method") == "" {
		return invalid
	}
	id, ok := members["id"]
	if !ok {
		return "accepted"
	}
	switch id.Kind() {
	case '"':
		if s := text("id"); len(s) > 256 || strings.Contains(s, "\x00") {
			return invalid
		}
		return "accepted"
	case '0':
		var n uint64
		if json.Unmarshal(id, &n) != nil || n > 1<<53-1 {
			return invalid
		}
		return "accepted"
	default:
		return invalid
	}
}

// survey gives the members of an object, and whether anything in it is nested too deeply or doubled.
func survey(value jsontext.Value) (members map[string]jsontext.Value, tooDeep, doubled bool) {
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	for {
		if _, err := d.ReadToken(); err != nil {
			break
		}
		tooDeep = tooDeep || d.StackDepth() > schema.MaxDepth
	}
	doubled = !value.IsValid()
	members = map[string]jsontext.Value{}
	_ = json.Unmarshal(value, &members)
	return members, tooDeep, doubled
}

// firstRefusal finds out which came first: something too deep, within which nothing is looked at, or a
// name for the second time.
func firstRefusal(value jsontext.Value) string {
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	var names []map[string]bool
	for {
		token, err := d.ReadToken()
		if err != nil {
			panic("there is a refusal")
		}
		for depth := d.StackDepth(); len(names) != depth; {
			if len(names) > depth {
				names = names[:len(names)-1]
			} else {
				names = append(names, map[string]bool{})
			}
		}
		if d.StackDepth() > schema.MaxDepth {
			return string(schema.NestingTooDeep)
		}
		kind, length := d.StackIndex(d.StackDepth())
		if kind == '{' && length%2 == 1 && token.Kind() == '"' {
			if name := token.String(); names[len(names)-1][name] {
				return string(schema.DuplicateKey)
			} else {
				names[len(names)-1][name] = true
			}
		}
	}
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
		answers := split(t, framing, text)
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
