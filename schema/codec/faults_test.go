package codec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/schema/codec"
)

// refusal decodes params that must be refused.
func refusal(t *testing.T, method, raw string) *schema.Error {
	t.Helper()
	err := codec.Decode([]byte(raw), paramsOf(t, method))
	require.NotNil(t, err, raw)
	return err
}

// The fault: a member comes twice, and host and server believe different ones.
func TestFaultR6_MembersThatOccurTwiceAreRefused(t *testing.T) {
	for raw, pointer := range map[string]string{
		`{"content":"a","content":"b"}`:                                                 "/content",
		`{"content":"a","c\u006fntent":"b"}`:                                            "/content",
		`[{"content":"a","content":"b"}]`:                                               "/0/content",
		`{"content":"a","ack_on":{"event_type":"t","event_type":"t"}}`:                  "/ack_on/event_type",
		`{"content":"a","ack_on":{"event_type":"t","match":{"m":{"deep":1,"deep":1}}}}`: "/ack_on/match/m/deep",
		`{"content":"a","_meta":{"k":1,"k":2}}`:                                         "/_meta/k",
	} {
		err := refusal(t, "queue_instruction_with_ack", raw)
		require.Equal(t, schema.DuplicateKey, err.Data.Code, raw)
		require.Equal(t, -32600, err.Code)
		require.Equal(t, pointer, err.Data.Details["pointer"], raw)
	}
}

// The fault: a misspelt member is dropped in silence, and the call does something else than was asked.
func TestFaultR7_UnknownMembersAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		raw, field, pointer string
		near                any
	}{
		{`{"Content":"x"}`, "Content", "/Content", []string{"content"}},
		{`{"content":"x","sessionId":"s"}`, "sessionId", "/sessionId", []string{"session_id"}},
		{`{"content":"x","max_retrys":1}`, "max_retrys", "/max_retrys", []string{"max_retries"}},
		{`{"content":"x","meta":{}}`, "meta", "/meta", nil},
		{`{"content":"x","ack_on":{"event_type":"t","matches":{}}}`, "matches", "/ack_on/matches", []string{"match"}},
		{`{"content":"x","ack_on":{"event_type":"t","x-note":1}}`, "x-note", "/ack_on/x-note", nil},
	} {
		err := refusal(t, "queue_instruction_with_ack", c.raw)
		require.Equal(t, schema.UnknownField, err.Data.Code, c.raw)
		require.Equal(t, -32602, err.Code)
		require.Equal(t, c.field, err.Data.Details["field"])
		require.Equal(t, c.pointer, err.Data.Details["pointer"])
		require.Equal(t, c.near, err.Data.Details["did_you_mean"], c.raw)
	}
	for method, raw := range map[string]string{
		"ping":              `{"_meta":{"progressToken":1}}`,
		"queue_instruction": `{"content":"x","x-host":"vim","_meta":null}`,
		"initialize":        `{"capabilities":{},"clientInfo":{"name":"vim"},"client_info":{"title":"Vim"}}`,
	} {
		require.Nil(t, codec.Decode([]byte(raw), paramsOf(t, method)), raw)
	}
}

// The fault: a broken string is repaired in silence, or reaches a store that cannot keep it.
func TestFaultR8_BrokenStringsAreRefused(t *testing.T) {
	for _, raw := range []string{
		"{\"content\":\"\xff\"}",
		"{\"content\":\"\xed\xa0\x80\"}",
		`{"content":"\ud800"}`,
		`{"content":"\udc00\ud800"}`,
		"{\"content\":\"x\",\"session_id\":\"\xc3\"}",
		"{\"content\":\"x\",\"_meta\":\"\xff\"}",
		"{\"content\":\"x\",\"\xff\":1}",
	} {
		err := refusal(t, "queue_instruction", raw)
		require.Equal(t, schema.InvalidUTF8, err.Data.Code, "%q", raw)
		require.Equal(t, -32700, err.Code)
	}
	for method, raw := range map[string]string{
		"queue_instruction": `{"content":"a\u0000"}`,
		"acknowledge":       `{"instruction_id":"a\u0000"}`,
		"get_plan":          `{"plan":"\u0000"}`,
		"report_event":      `{"type":"t","data":{"a":["\u0000"]}}`,
	} {
		err := refusal(t, method, raw)
		require.Equal(t, schema.InvalidParams, err.Data.Code, raw)
		require.NotEmpty(t, err.Data.Details["errors"].([]schema.Problem)[0].Pointer)
	}
	var params schema.QueueInstructionParams
	require.Nil(t, codec.Decode([]byte(`{"content":"\ud83d\ude80 \\u0000 \\ud800"}`), &params))
	require.Equal(t, `🚀 \u0000 \ud800`, params.Content)
}

// The fault: params of a wrong form get through, or are refused without a place.
func TestFaultR12_WrongParamsAreRefusedWithTheirPlaces(t *testing.T) {
	for _, raw := range []string{`1`, `"x"`, `false`, `[]`, `[1,2]`, `["x"]`, `[[{}]]`, `[{},{}]`} {
		err := refusal(t, "queue_instruction", raw)
		require.Equal(t, schema.InvalidParams, err.Data.Code, raw)
		problems := err.Data.Details["errors"].([]schema.Problem)
		require.Len(t, problems, 1)
		require.Empty(t, problems[0].Pointer)
	}
	err := refusal(t, "queue_instruction_with_ack",
		`{"session_id":1,"priority":"x","max_retries":"3","ack_on":{"match":[]},"idempotency_key":{}}`)
	var places []string
	for _, p := range err.Data.Details["errors"].([]schema.Problem) {
		places = append(places, p.Pointer)
		require.NotEmpty(t, p.Message)
		require.NotEmpty(t, p.Expected)
		require.NotEmpty(t, p.Found)
	}
	require.Equal(t, []string{
		"/session_id", "/priority", "/max_retries", "/ack_on/match", "/ack_on/event_type", "/idempotency_key", "/content",
	}, places)
}

// The fault: an instruction without a word in it is queued, or refused like a misspelt one.
func TestFaultD9_BlankContentHasItsOwnCode(t *testing.T) {
	for _, raw := range []string{`{"content":""}`, `{"content":" "}`, `{"content":"\n\t\u00a0\u2003"}`} {
		for _, method := range []string{"queue_instruction", "queue_instruction_with_ack"} {
			err := refusal(t, method, raw)
			require.Equal(t, schema.EmptyContent, err.Data.Code, raw)
			require.Equal(t, -32602, err.Code)
		}
	}
	require.Equal(t, schema.InvalidParams, refusal(t, "queue_instruction", `{}`).Data.Code)
	require.Equal(t, schema.UnknownField, refusal(t, "queue_instruction", `{"content":"","text":"x"}`).Data.Code)
}
