package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/conformance"
)

const claims = `# Claims
-- conversation --
# One claims.
> {"id":1,"method":"claim_task"}
< {"id":1,"result":{"task_id":"<tsk:1>","at":"<time>","...":"..."}}
<+ {"method":"task/updated","params":{"task_id":"<tsk:1>"}}
# It is done.
> {"id":2,"method":"finish_attempt","params":{"task_id":"<tsk:1>"}}
< {"id":2,"result":{"ok":true}}
@ close
`

const claimed = `> {"id":1,"method":"claim_task"}
< {"method":"notice/posted","params":{}}
< {"id":1,"result":{"task_id":"tsk_01a20212-9b5e-7000-8000-0000000000a1","at":"2026-11-22T09:30:00Z","attempt_id":"att_01a20212-9b5e-7000-8000-0000000000b1","seq":3}}
< {"method":"task/updated","params":{"task_id":"tsk_01a20212-9b5e-7000-8000-0000000000a1"}}
> {"id":2,"method":"finish_attempt","params":{"task_id":"tsk_01a20212-9b5e-7000-8000-0000000000a1"}}
< {"id":2,"result":{"ok":true}}
@ close
`

func played(t *testing.T, text string) (*conformance.Conversation, conformance.Recording) {
	t.Helper()
	c, err := conformance.Parse("x", []byte(claims))
	require.NoError(t, err)
	r, err := conformance.ParseRecording("r", text)
	require.NoError(t, err)
	require.Equal(t, text, r.String())
	return c, r
}

// What is shown is what was heard, in its order, and the remarks stay where they were.
func TestHeldConversation(t *testing.T) {
	held, err := func() (*conformance.Conversation, error) { c, r := played(t, claimed); return c.Held(r) }()
	require.NoError(t, err)
	page := string(held.Transcript())
	last := -1
	for _, part := range []string{"One claims.", "→ {\"id\":1", "notice/posted", `"attempt_id":"att_01a`, "task/updated", "It is done.", "→ {\"id\":2", "(close)"} {
		at := strings.Index(page, part)
		require.Greater(t, at, last, "%s in\n%s", part, page)
		last = at
	}
	require.NotContains(t, page, "<")
	exchange := conformance.Exchanges([]*conformance.Conversation{held})["claim_task"].Text
	require.Contains(t, exchange, `"at":"2026-11-22T09:30:00Z"`)
}

func TestRecordingOfSomethingElseIsRefused(t *testing.T) {
	for _, row := range []struct{ name, from, to, why string }{
		{"another message was sent", `{"id":1,"method":"claim_task"}`, `{"id":1,"method":"ping"}`, "x:4: the recording has something else here: > {\"id\":1,\"method\":\"ping\"}"},
		{"another task was finished", "> {\"id\":2,\"method\":\"finish_attempt\",\"params\":{\"task_id\":\"tsk_01a20212-9b5e-7000-8000-0000000000a1\"}}", "> {}", "x:8: the recording has something else here"},
		{"another answer was heard", `"ok":true`, `"ok":false`, "x:9: /result/ok is false, want true"},
		{"an answer is missing", "< {\"id\":2,\"result\":{\"ok\":true}}\n", "", "x:9: this did not come"},
		{"an answer nobody asked for", "@ close\n", "< {\"id\":3}\n@ close\n", "x:9: heard an answer that nothing expects here"},
		{"the end is missing", "@ close\n", "", "x:10: the recording has something else here"},
		{"it goes on", "@ close\n", "@ close\n> {}\n", "x:10: the recording goes on: > {}"},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.Contains(t, claimed, row.from)
			c, r := played(t, strings.Replace(claimed, row.from, row.to, 1))
			_, err := c.Held(r)
			require.ErrorContains(t, err, row.why)
			_, whole := played(t, claimed)
			require.ErrorContains(t, c.Differs(whole, r), row.why)
			require.ErrorContains(t, c.Differs(r, whole), row.why)
		})
	}
	for _, line := range []string{"", "# x", "<+ {}", "hello"} {
		_, err := conformance.ParseRecording("r", "> {}\n"+line+"\n")
		require.ErrorContains(t, err, "r:2: a line of a recording cannot begin with")
	}
}

// Of two recordings ids, times and counts of the log differ, and the words do not.
func TestRecordingsDifferInWhatTheyTell(t *testing.T) {
	c, one := played(t, claimed)
	again := strings.NewReplacer("0000a1", "0000a2", "0000b1", "0000b2", "09:30:00Z", "10:31:00.5Z", `"seq":3`, `"seq":11`,
		"< {\"method\":\"notice/posted\",\"params\":{}}\n", "").Replace(claimed)
	_, other := played(t, again)
	require.NoError(t, c.Differs(one, other))
	_, other = played(t, strings.Replace(again, `"seq":11`, `"seq":11,"more":1`, 1))
	require.ErrorContains(t, c.Differs(one, other), `x:5: recorded is`)
	_, other = played(t, strings.Replace(again, "att_01a20212-9b5e-7000-8000-0000000000b2", "tsk_01a20212-9b5e-7000-8000-0000000000a2", 1))
	require.ErrorContains(t, c.Differs(one, other), `x:5: recorded is`, "one thing is not two")
}

// A message is set so that it reads as JSON, member by member as it was sent.
func TestMessagesAreSetInLines(t *testing.T) {
	long := strings.Repeat("x", 500)
	message := `{"z":1,"a":{"list":[1,2.50,null,true],"empty":{},"none":[],"text":"<a & b>"},"long":"` + long + `","more":{"one":"` + long[:90] + `","two":"` + long[:90] + `"}}`
	c, err := conformance.Parse("x", []byte("# T\n-- conversation --\n>! not JSON\n> "+message+"\n"))
	require.NoError(t, err)
	require.Equal(t, "# T\n\n\n\n```text\n→ not JSON\n"+
		`→ {"z":1,"a":{"list":[1,2.50,null,true],"empty":{},"none":[],"text":"<a & b>"},`+"\n"+
		`  "long":"`+long[:400]+`…",`+"\n"+
		`  "more":{"one":"`+long[:90]+`",`+"\n"+
		`    "two":"`+long[:90]+"\"}}\n```\n", string(c.Transcript()))
}
