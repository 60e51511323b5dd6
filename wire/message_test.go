package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/wire"
)

// A message is taken apart without a byte of it being changed.
func TestScannerReadsAMessage(t *testing.T) {
	var s wire.Scanner
	messages, many, fault := s.Read([]byte(` {"id": "\u0061" ,"method":"p\u0069ng","params":{"b":1, "a":[ 2 ]},"jsonrpc":"2.0"} `))
	require.Nil(t, fault)
	require.False(t, many)
	require.Equal(t, []wire.Message{{ID: []byte(`"\u0061"`), Method: []byte(`"p\u0069ng"`), Params: []byte(`{"b":1, "a":[ 2 ]}`)}}, messages)
	require.Equal(t, "ping", wire.Text(messages[0].Method))
	require.Equal(t, wire.Key([]byte(`"a"`)), wire.Key(messages[0].ID))
	require.NotEqual(t, wire.Key([]byte(`"1"`)), wire.Key([]byte(`1`)))
	require.Empty(t, wire.Text([]byte(`7`)))
}

// The error of one member of a batch is that of the member alone.
func TestScannerReadsABatch(t *testing.T) {
	var s wire.Scanner
	messages, many, fault := s.Read([]byte(`[{"id":1,"method":"a"},{"method":"b"},{"id":3,"result":null},7,{"id":4,"method":""}]`))
	require.Nil(t, fault)
	require.True(t, many)
	require.Len(t, messages, 5)
	require.Nil(t, messages[1].ID)
	require.True(t, messages[2].Response)
	for place, id := range map[int]string{3: "null", 4: "4"} {
		require.Equal(t, schema.InvalidRequest, messages[place].Fault.Data.Code)
		require.Equal(t, id, string(messages[place].ID))
	}
}

// verdicts lists messages by what verdict returns for them.
var verdicts = map[string][]string{
	"accepted": {
		ping(`0`), ping(`7`), ping(`"7"`), ping(`""`), ping(`"\u0061\/"`), ping(`"😀"`), ping(`9007199254740991`), ping(`"` + longest + `"`),
		`{"method":"ping"}`, `{"id":1,"method":"p\u0069ng"}`, `{"id":1,"\u006dethod":"ping"}`,
		`{"id":1,"method":"ping","meta":{"x":1},"something":[1,2]}`,
		ping(`1`) + strings.Repeat(" ", 5000), ping(`1`) + "\r", with(nested(schema.MaxDepth - 1)), // the message is a level too
		with(`[{"a":1},{"a":2}]`), with(`{"a":{"b":1},"b":{"a":1}}`), with(`{"a":1,"A":2,"":3," ":4,"a ":5}`),
		with(manyNames + `}`), with(manyNames + `,"k5001":{"k0":0}}`),
		with(`[1,-0.5e+7,true,false,null,"x\u00e9\ud83d\ude00\\\"\/\b\f\n\r\t"]`),
		with("[\"ü€😀\",\"\\u0000\",\"\u2028\",\"\\uffff\",\"\ufffd\"]"),
	},
	"response": {
		`{"id":99,"result":{}}`, `{"id":null,"error":{"code":1}}`, `{"result":null}`, `{"id":1.5,"result":[]}`,
	},
	"PARSE_ERROR": {
		`{`, `}`, `{"id":1,}`, `[1,2`, `nul`, `"open`, `{"a":01}`, `{"a":+1}`, `{'a':1}`, "{\"a\":\"\t\"}", `{"a":"\x"}`, `{"a":1} x`,
		`-`, `[-]`, `[1.]`, `[1e]`,
		`[1e+]`, `[.5]`, `["\u12g4"]`, `[tru]`, `{"a" 1}`, `{"a":1 "b":2}`, `{1:2}`, `[1 2]`, nested(130)[:200] + `"`, `{"id":`,
		`{"params":[1,`,
		ping(`1`) + ping(`2`), ping(`1`)[:12], `hello`, `{} {}`, `Content-Length: 20`, "\xef\xbb\xbf{}", strings.Repeat("[", 20_000),
		`{"a":1,"a":2`,
	},
	"INVALID_UTF8": {
		with("\"\xff\""), with("\"\xc0\xaf\""), with("\"\xed\xa0\x80\""), with("\"abc\xe2\x82\""), with(`"\ud800"`), with(`"\udc00"`),
		with(`"\ud800\ud800"`),
		with(`"\ud800x"`), with(`"\ud800\n"`), with(`"\udbff\u0041"`), with("{\"\xff\":1}"), with(`{"\ud800":1}`),
		"{\"id\":1,\"method\":\"p\xff\"}",
	},
	"batch":         {`[[]]`, `[1,2]`, `[{"id":1,"method":"ping"},{"method":"p"},{"id":2,"result":null},7]`},
	"INVALID_BATCH": {`[]`, `[ ]`, "[" + strings.Repeat(ping(`1`)+",", schema.MaxBatch) + ping(`1`) + "]"},
	"null INVALID_REQUEST": {
		`42`, `null`, `"ping"`, `{}`, `{"ID":1,"method":"ping"}`, ping(`null`), ping(`true`), ping(`{"a":1}`), ping(`[1]`),
		ping(`"` + strings.Repeat(longest, 32) + `"`),
	},
	"1 INVALID_REQUEST": {
		`{"id":1}`, `{"id":1,"method":""}`, `{"id":1,"method":7}`, `{"id":1,"method":["ping"]}`, `{"id":1,"method":"p","result":1}`,
		`{"id":1,"method":"p","error":{}}`,
		`{"jsonrpc":"1.0","id":1,"method":"p"}`, `{"jsonrpc":2.0,"id":1,"method":"p"}`, `{"id":1,"Method":"p"}`,
		`{"id":1,"method":"p","PARAMS":{}}`,
		`{"id":1,"method":"p","JsonRPC":"2.0"}`, `{"id":1,"Method":"p","method":"p"}`,
	},
	"-1 INVALID_REQUEST": {ping(`-1`)}, "-0 INVALID_REQUEST": {ping(`-0`)}, "1.5 INVALID_REQUEST": {ping(`1.5`)}, "1.0 INVALID_REQUEST": {ping(`1.0`)},
	"1e3 INVALID_REQUEST":                  {ping(`1e3`)},
	"9007199254740992 INVALID_REQUEST":     {ping(`9007199254740992`)},
	"18446744073709551616 INVALID_REQUEST": {ping(`18446744073709551616`)},
	`"a\u0000" INVALID_REQUEST`:            {ping(`"a\u0000"`)},
	`"` + longest + `x" INVALID_REQUEST`:   {ping(`"` + longest + `x"`)},
	"null DUPLICATE_KEY":                   {`{"id":1,"id":1,"method":"p"}`, `{"id":"\u0061","id":"a","method":"p"}`},
	"1 DUPLICATE_KEY": {
		`{"id":1,"method":"p","method":"p"}`, with(`{"a":1,"b":{"c":1,"c":2}}`), with(`[{"a":1,"\u0061":1}]`), with(`{"":1,"":2}`),
		with(manyNames + `,"k3":1}`), with(manyNames + `,"k5000":1}`), with(`{"\ud83d\ude00":1,"😀":2}`),
	},
	"1 NESTING_TOO_DEEP": {
		with(nested(schema.MaxDepth)), with(nested(20_000)), with(nested(1_000_000)),
		with(strings.Repeat(`{"a":`, 200) + `"]}\""` + strings.Repeat("}", 200)),
	},
}

// longest is the content of the longest id.
var longest = strings.Repeat("x", 256)

// manyNames is the beginning of an object with more names than are compared one by one.
var manyNames = func() string {
	var b strings.Builder
	for i := range 5001 {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	return "{" + b.String()[1:]
}()

func ping(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

// with returns a request whose id comes after its params.
func with(params string) string { return `{"method":"p","params":` + params + `,"id":1}` }

func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// verdict returns what a message is taken for, or the code of its refusal: after its id, unless the whole line is refused.
func verdict(s *wire.Scanner, text string) string {
	messages, many, fault := s.Read([]byte(text))
	switch {
	case fault != nil:
		return string(fault.Data.Code)
	case many:
		return "batch"
	case messages[0].Fault != nil:
		return fmt.Sprintf("%s %s", messages[0].ID, messages[0].Fault.Data.Code)
	case messages[0].Response:
		return "response"
	}
	return "accepted"
}

func TestScannerAcceptsOnlyUnambiguousMessages(t *testing.T) {
	var s wire.Scanner // one for all: no message leaves anything behind
	for want, messages := range verdicts {
		for _, m := range messages {
			require.Equal(t, want, verdict(&s, m), "%.200q", m)
		}
	}
}

func TestUTF16IsRecognised(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, mark := range []string{"\ufeff", ""} {
			var text []byte
			for _, unit := range utf16.Encode([]rune(mark + ping(`1`))) {
				text = order.AppendUint16(text, unit)
			}
			_, _, fault := new(wire.Scanner).Read(text)
			require.Equal(t, schema.ParseError, fault.Data.Code)
			require.Contains(t, fault.Data.Hint, "UTF-16")
		}
	}
}

// FuzzScanner compares the verdicts with those of another strict reader of JSON, and with the rules of JSON-RPC, stated
// once more.
func FuzzScanner(f *testing.F) {
	for _, messages := range verdicts {
		for _, m := range messages {
			f.Add(m)
		}
	}
	f.Fuzz(func(t *testing.T, message string) {
		if len(message) > 10_000 {
			return // the other reader has a limit of its own
		}
		got := verdict(new(wire.Scanner), message)
		require.Contains(t, expected(jsontext.Value(message)), got[strings.LastIndex(got, " ")+1:], "%q", message)
	})
}

// expected returns the possible verdicts, without the id.
func expected(value jsontext.Value) []string {
	repeated := jsontext.AllowDuplicateNames(true)
	switch {
	case !value.IsValid(repeated, jsontext.AllowInvalidUTF8(true)):
		return []string{"PARSE_ERROR", "INVALID_UTF8"} // the text may be broken in two ways
	case !value.IsValid(repeated):
		return []string{"INVALID_UTF8"}
	case value.Kind() == '[':
		var members []json.RawMessage
		if _ = json.Unmarshal(value, &members); len(members) == 0 || len(members) > schema.MaxBatch {
			return []string{"INVALID_BATCH"}
		}
		return []string{"batch"}
	case depth(value) > schema.MaxDepth:
		return []string{"NESTING_TOO_DEEP", "DUPLICATE_KEY"}
	case !value.IsValid():
		return []string{"DUPLICATE_KEY"}
	case value.Kind() != '{':
		return []string{"INVALID_REQUEST"}
	}
	var m map[string]jsontext.Value
	_ = json.Unmarshal(value, &m)
	isResponse := m["result"] != nil || m["error"] != nil
	switch {
	case isResponse && m["method"] == nil:
		return []string{"response"}
	case isResponse, hasWrongCase(m), m["jsonrpc"] != nil && text(m["jsonrpc"]) != "2.0", text(m["method"]) == "", !validID(m["id"]):
		return []string{"INVALID_REQUEST"}
	}
	return []string{"accepted"}
}

func depth(value jsontext.Value) (deepest int) {
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	for {
		if _, err := d.ReadToken(); err != nil {
			return deepest
		}
		deepest = max(deepest, d.StackDepth())
	}
}

func hasWrongCase(members map[string]jsontext.Value) bool {
	for name := range members {
		for _, p := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
			if name != p && strings.EqualFold(name, p) {
				return true
			}
		}
	}
	return false
}

// text returns the content of a string, or "" for any other value.
func text(value jsontext.Value) (s string) {
	_ = json.Unmarshal(value, &s)
	return s
}

func validID(id jsontext.Value) bool {
	var n uint64
	return id == nil || id.Kind() == '"' && len(text(id)) <= 256 && !strings.Contains(text(id), "\x00") ||
		id.Kind() == '0' && json.Unmarshal(id, &n) == nil && n <= 1<<53-1
}
