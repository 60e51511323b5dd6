package codec_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/schema/codec"
	"waybill/test/golden"
)

// paramsOf returns a pointer to fresh params of a method.
func paramsOf(t testing.TB, name string) any {
	t.Helper()
	for _, m := range schema.Methods {
		if m.Name == name {
			return reflect.New(m.Params).Interface()
		}
	}
	require.Fail(t, "no such method", name)
	return nil
}

// ruled has a member for each rule that the methods do not happen to need.
type ruled struct {
	Level  *int            `json:"level" schema:"required,min=2"`
	Sure   *bool           `json:"sure" schema:"required"`
	Small  int64           `json:"small,omitzero" schema:"max=9"`
	Words  []string        `json:"words,omitzero" schema:"enum=a|b"`
	Grid   [][]string      `json:"grid,omitzero" schema:"id"`
	Ages   map[string]int  `json:"ages,omitzero" schema:"min=1,max=9"`
	Parts  []part          `json:"parts,omitzero"`
	ByName map[string]part `json:"by_name,omitzero"`
	Any    any             `json:"any,omitzero"`
}

type part struct {
	ID   string         `json:"id" schema:"required,id"`
	Data jsontext.Value `json:"data,omitzero" schema:"object"`
}

// TestDecode holds the exact answer to every kind of params.
func TestDecode(t *testing.T) {
	cases := []struct {
		method string // "ruled" is the type above
		inputs []string
	}{
		{"ping", []string{
			``, "\n ", `null`, `{}`, `[{}]`, `{"_meta":{"n":1},"x-trace":"1"}`,
			`5`, `"ping"`, `true`, `[]`, `[1]`, `[{},{}]`, `[null]`, `{"now":true}`,
		}},
		{"queue_instruction_with_ack", []string{
			`{"content":"run the tests"}`,
			`[{"content":"run the tests"}]`,
			"\t{ \"content\" : \"null and \\\"\\\" and \\\\u0000 are text\" }\n",
			`{"content":"x","max_retries":0,"priority":false,"ack_on":{"event_type":"done","match":{"a.b":null,"c":""}}}`,
			`{}`,
			`{"content":5}`, `{"content":null}`, `{"content":["x"]}`, `{"content":{"text":"x"}}`,
			`{"content":""}`, `{"content":" \n\t"}`, `{"content":"","priority":1}`,
			`{"content":"x","session_id":""}`, `{"content":"x","session_id":"a b"}`,
			`{"content":"x","session_id":"` + strings.Repeat("s", 129) + `"}`,
			`{"content":"x","max_retries":-1}`, `{"content":"x","max_retries":1001}`,
			`{"content":"x","max_retries":3.0}`, `{"content":"x","max_retries":1e2}`, `{"content":"x","max_retries":"3"}`,
			`{"content":"x","max_retries":99999999999999999999}`, `{"content":"x","max_retries":null}`,
			`{"content":"x","priority":"yes"}`, `{"content":"x","priority":null}`,
			`{"content":"x","ack_on":"done"}`, `{"content":"x","ack_on":{}}`, `{"content":"x","ack_on":{"event_type":""}}`,
			`{"content":"x","ack_on":{"event_type":"done","match":[1]}}`,
			`{"content":"x","ack_on":{"event_typ":"done"}}`,
			`{"content":"x","ack_on":{"event_type":"done","_meta":1}}`,
			`{"contnet":"x"}`, `[{"Content":"x"}]`, `{"content":"x","wholly_different":1}`,
			`{"content":"x","a/b~c":1}`,
			`{"content":"a\u0000b"}`,
			`{"content":"x","ack_on":{"event_type":"d","match":{"k\u0000":1,"deep":[{"in":"\u0000"}],"\\u0000":"\\u0000"}}}`,
			`{"content":7,"priority":"no","max_retries":1.5,"session_id":"ä","retries":2,"idempotency_key":[]}`,
		}},
		{"report_event", []string{
			`{"type":"t","data":{"a":null,"b":""}}`, `{"type":"t","data":[]}`, `{"type":"t","data":null}`, `{"type":"t","data":{"a":"\u0000"}}`,
		}},
		{"list_instructions", []string{
			`{"state":"failed","limit":500}`, `{"state":"lost"}`, `{"state":""}`, `{"limit":0}`, `{"limit":501}`, `{"cursor":""}`,
		}},
		{"consume_notices", []string{
			`{"notice_ids":["ntc_1"]}`, `{"notice_ids":[]}`, `{"notice_ids":[null]}`, `{"notice_ids":["a b","ok",""]}`, `{"notice_ids":"ntc_1"}`,
		}},
		{"init_run", []string{
			`{"specName":"clock","taskId":"1"}`, `{"plan":"clock","taskId":"1"}`, `[{"specName":"clock","item_id":"1"}]`,
			`{"specName":"clock","plan":"clock","item_id":"1"}`, `{"specName":"clock","specName":"dial","item_id":"1"}`,
			`{"specName":7,"taskId":""}`, `{"specName":"clock","taskId":"1"`, `{"specName":"clock","policy":{"specName":1},"item_id":"1"}`,
			`{"plan":"p","item_id":"1","policy":{"stalled_threshold":1}}`, `{"plan":"p","item_id":"1","policy":{"stalled_threshold":0}}`,
			`{"plan":"p","item_id":"1","resume":"never"}`,
		}},
		{"$/cancelRequest", []string{`{"id":7}`, `{"id":null}`, `{"id":"a\u0000"}`, `{}`}},
		{"initialize", []string{
			`{"protocol_version":1,"capabilities":{},"client_info":{"name":"vim","title":"Vim"},"process_id":null,"root_uri":null}`,
			`{"workspace_folders":[{"uri":"file:///w","index":0}]}`,
			`{"workspace_folders":[{"name":"w"}]}`, `{"workspace_folders":[{"uri":null}]}`, `{"workspace_folders":[null]}`,
			`{"protocol_version":"2025-06-18"}`, `{"process_id":1.5}`,
			`{"process_id":4294967296,"root_uri":null}`, `{"process_id":9223372036854775808}`,
		}},
		{"ruled", []string{
			`{"level":2,"sure":false,"words":["a","b"],"grid":[["x"]],"ages":{"k":1},"parts":[{"id":"p"}],"by_name":{"n":{"id":"p","data":{}}},"any":[1]}`,
			`{}`, `{"level":1,"sure":0}`,
			`{"level":2,"sure":true,"small":10,"words":["a","c"],"grid":[["x"],[" "]],"ages":{"old":10,"ok":9}}`,
			`{"level":2,"sure":true,"parts":[{"id":"p","data":1},{}],"by_name":{"n":{"id":"?"}},"words":[]}`,
			`{"level":2,"sure":true,"any":{"k":["\u0000"]}}`,
			`{"level":2,"sure":true,"ages":{"old":10}}`, `{"level":2,"sure":true,"by_name":{"n":{"id":"?"}}}`,
		}},
	}
	var got strings.Builder
	for _, c := range cases {
		for _, input := range c.inputs {
			var params any = new(ruled)
			if c.method != "ruled" {
				params = paramsOf(t, c.method)
			}
			fmt.Fprintf(&got, "%s %s\n%s\n", c.method, input, verdict(t, codec.Decode([]byte(input), params), params))
		}
	}
	golden.Equal(t, "decode.golden", got.String())
}

// verdict writes down what Decode made of params.
func verdict(t *testing.T, err *schema.Error, params any) string {
	t.Helper()
	if err == nil {
		text, encodeErr := codec.Encode(params)
		require.NoError(t, encodeErr)
		return "  = " + string(text) + "\n"
	}
	require.Equal(t, schema.OutcomeNotApplied, err.Data.Outcome)
	text := fmt.Sprintf("  %d %s: %s\n", err.Code, err.Data.Code, err.Message)
	problems, _ := err.Data.Details["errors"].([]schema.Problem)
	for _, p := range problems {
		text += fmt.Sprintf("    %q %s\n      expected %s, found %s\n", p.Pointer, p.Message, p.Expected, p.Found)
	}
	for _, key := range []string{"field", "pointer", "did_you_mean", "offset", "omitted"} {
		if value, ok := err.Data.Details[key]; ok {
			text += fmt.Sprintf("    %s: %v\n", key, value)
		}
	}
	return text
}

// What a host sent comes back in messages, and those end up on terminals.
func TestDecodeShowsNoControlCharacters(t *testing.T) {
	err := codec.Decode([]byte("{\"content\":\"x\",\"\\u001b[31m\":1,\"session_id\":\"\u202e\u009b\"}"), new(schema.QueueInstructionParams))
	require.NotNil(t, err)
	require.True(t, strings.HasPrefix(err.Message, "/\ufffd[31m is not known"), err.Message)
	problems := err.Data.Details["errors"].([]schema.Problem)
	require.Equal(t, "/\x1b[31m", problems[0].Pointer, "a pointer is for programs")
	require.Equal(t, "\"\ufffd\ufffd\"", problems[1].Found)
}

func TestDecodeKeepsNothingOfTheInput(t *testing.T) {
	raw := []byte(call)
	var params schema.QueueInstructionWithAckParams
	require.Nil(t, codec.Decode(raw, &params))
	before, err := codec.Encode(params)
	require.NoError(t, err)

	for i := range raw {
		raw[i] = '!'
	}
	after, err := codec.Encode(params)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

// A closer look at params must not leave anything behind of the first one.
func TestDecodeReadsTheSameWithAndWithoutACloserLook(t *testing.T) {
	for _, more := range []string{`,"_meta":null`, `,"x-note":""`} {
		var plain, open schema.QueueInstructionWithAckParams
		require.Nil(t, codec.Decode([]byte(call), &plain))
		require.Nil(t, codec.Decode([]byte(strings.TrimSuffix(call, "}")+more+"}"), &open))
		require.Equal(t, plain, open)
	}
}

func TestDecodeAnswersHugeParamsWithLittle(t *testing.T) {
	const huge = 1 << 20
	for name, raw := range map[string]string{
		"a name":        `{"` + strings.Repeat("ä", huge) + `":1}`,
		"a wrong value": `{"content":"x","session_id":"` + strings.Repeat("ä", huge) + `"}`,
		"a number":      `{"content":"x","max_retries":` + strings.Repeat("9", huge) + `}`,
		"a scalar":      strings.Repeat("9", huge),
		"a blank text":  `{"content":"` + strings.Repeat(" ", huge) + `"}`,
		"members":       `{"content":"x"` + manyMembers(huge/16) + `}`,
		"matches":       `{"content":"x","ack_on":{"event_type":"` + strings.Repeat(`\u0000`, huge/8) + `"}}`,
		"bad UTF-8":     `{"` + strings.Repeat("a", huge) + `":"` + "\xff" + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			err := codec.Decode([]byte(raw), new(schema.QueueInstructionWithAckParams))
			require.NotNil(t, err)
			answer, encodeErr := codec.Encode(err)
			require.NoError(t, encodeErr, "the cut must not break a character")
			require.Less(t, len(answer), 16<<10)
		})
	}
}

func manyMembers(n int) string {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":%d`, i, i)
	}
	return b.String()
}

func TestDecodeCountsWhatItDoesNotList(t *testing.T) {
	err := codec.Decode([]byte(`{"content":"x"`+manyMembers(50)+`}`), new(schema.QueueInstructionParams))
	require.NotNil(t, err)
	require.Len(t, err.Data.Details["errors"], 20)
	require.Equal(t, 30, err.Data.Details["omitted"])
}
