package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema/codec"
	"waybill/test/golden"
)

// converse runs a conversation file. Its lines begin with ">" for a call, "<" for its answer, "!" for a notification,
// "+" for passing time, and "#" for a remark.
func converse(t *testing.T, h *host, script string) string {
	t.Helper()
	listener := h.listen()
	var b strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		fmt.Fprintln(&b, line)
		switch kind, rest, _ := strings.Cut(line, " "); kind {
		case "+":
			d, err := time.ParseDuration(rest)
			require.NoError(t, err)
			time.Sleep(d)
		case ">":
			method, params, _ := strings.Cut(rest, " ")
			a := <-h.begin(context.Background(), method, "%s", params)
			answer := a.Result
			if a.Err != nil {
				answer = a.Err
			}
			text, err := codec.Encode(answer)
			require.NoError(t, err)
			fmt.Fprintf(&b, "< %s\n", text)
		}
		for _, n := range listener.recorded() {
			fmt.Fprintf(&b, "! %s %s\n", n.method, n.text)
		}
	}
	return b.String()
}

func TestLifeOfAnInstruction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids := 0
		h := newHost(t, setup{
			newID: func(prefix string) string {
				ids++
				return fmt.Sprint(prefix, ids)
			},
			now: func() time.Time { return time.Now().Truncate(time.Second) }, // without the rests of the feed
		})
		golden.Equal(t, "instruction.txt", converse(t, h, `# A tracked instruction is handed out until it is acknowledged.
			> queue_instruction_with_ack {"content":"run the tests","session_id":"s","max_retries":1,"ack_on":{"event_type":"command","match":{"name":"go test"}}}
			> dispatch_instructions {"session_id":"s"}
			+ 1s
			> report_event {"type":"command","data":{"name":"go build"}}
			> dispatch_instructions {"session_id":"s"}
			> report_event {"type":"command","data":{"name":"go test","exit_code":0}}
			> dispatch_instructions {"session_id":"s"}
			# One that nobody acknowledges fails, with a notice, and a late acknowledgement is kept.
			> queue_instruction_with_ack {"content":"format the code","session_id":"s","max_retries":0}
			> dispatch_instructions {"session_id":"s"}
			+ 1s
			> dispatch_instructions {"session_id":"s"}
			> acknowledge {"instruction_id":"ins_2"}
			> get_failed_instructions {}
			> list_notices {}
			> consume_notices {"notice_ids":["ntc_3"]}
			> explain {"subject_id":"ins_2"}
			# What is not known or not allowed is refused, and nothing happens.
			> acknowledge {"instruction_id":"ins_9"}
			> cancel_instruction {"instruction_id":"ins_1"}
			> queue_instruction {"contents":"x"}
		`))
	})
}
