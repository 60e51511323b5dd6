package mcp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// lines returns a text of n bytes in lines that all differ, with some that take more than a byte a character.
func lines(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat("ä", i%40) + " line\n")
	}
	return strings.TrimSpace(b.String()[:n-n%2])
}

// pages reads an answer that was cut to its end, and returns all of the text.
func (g *sdkClient) pages(tool, arguments, name string, o object) string {
	g.h.t.Helper()
	all := o.str(name)
	for cursor := o.str(name + "_cursor"); cursor != ""; {
		next, text := g.callTool(tool, `{%s"cursor":%q}`, arguments, cursor)
		require.Len(g.h.t, text, 1)
		require.Contains(g.h.t, text[0], strings.TrimSuffix(next.str("rest"), "\n"))
		require.LessOrEqual(g.h.t, len(next.str("rest")), 24<<10)
		require.Equal(g.h.t, float64(len(all)), next["rest_from_byte"])
		all += next.str("rest")
		cursor = next.str("rest_cursor")
	}
	return all
}

func TestLongPromptIsReadByPages(t *testing.T) {
	for _, size := range []int{24 << 10, 24<<10 + 2, 100_000, 1 << 20} {
		h := newHarness(t, setup{asleep: true})
		g := h.connect(modern, nil)
		prompt := strings.ToValidUTF8(lines(size), "")
		h.call("create_task", `{"prompt":%s}`, quoted(prompt))
		claim, text := g.callTool("claim_task", `{}`)
		require.Len(t, text, 1)
		if cursor := claim.str("prompt_cursor"); cursor != "" {
			require.Equal(t, float64(len(prompt)), claim["prompt_bytes"])
		} else {
			require.NotContains(t, claim, "prompt_bytes")
		}
		require.Equal(t, prompt, g.pages("claim_task", "", "prompt", claim))
		require.Equal(t, float64(1), h.call("get_status", `{}`)["counts"].(map[string]any)["tasks"].(map[string]any)["RUNNING"], "pages claim nothing")
	}
}

func TestLongTextsAreReadByPages(t *testing.T) {
	h := newHarness(t, setup{asleep: true})
	g := h.connect(modern, nil)
	id, token := g.claimTask()
	long := strings.ToValidUTF8(lines(90_000), "")
	h.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed","output":%s}`, id, token, quoted(long))
	task, text := g.callTool("get_task", `{"task_id":%q}`, id)
	require.LessOrEqual(t, len(text[0]), 8<<10)
	require.Equal(t, long, g.pages("get_task", `"task_id":"`+id+`",`, "output", task))
	h.call("queue_instruction", `{"content":%s}`, quoted(long))
	o, _ := g.callTool("dispatch_instructions", `{}`)
	require.Equal(t, long, g.pages("dispatch_instructions", "", "text", object(first(o, "instructions"))))
}

func TestAnswerWithTooManyLinesIsMarkedAsCut(t *testing.T) {
	h := newHarness(t, setup{asleep: true})
	g := h.connect(modern, nil)
	for range 500 {
		h.call("queue_instruction_with_ack", `{"content":"Run the tests.","max_retries":0}`)
	}
	o, text := g.callTool("dispatch_instructions", `{"limit":500}`)
	require.LessOrEqual(t, len(text[0]), 8<<10)
	shown := len(o["instructions"].([]any))
	require.Greater(t, shown, 10)
	require.EqualValues(t, 500, o["instructions_total"])
	all := g.pages("dispatch_instructions", "", "head", object{"head_cursor": o["instructions_cursor"], "head": ""})
	require.Equal(t, 500-shown, strings.Count(all, "- instruction_id: "))
	require.EqualValues(t, 0, o["remaining"])
}

// It took its send and its attempt, and the model was told that there were none.
func TestInstructionThatIsOneLongLineIsShown(t *testing.T) {
	h := newHarness(t, setup{asleep: true})
	g := h.connect(modern, nil)
	long := strings.Repeat("x", 10<<10)
	h.call("queue_instruction", `{"content":%q}`, long)
	o, text := g.callTool("dispatch_instructions", `{}`)
	require.Equal(t, long, first(o, "instructions")["text"])
	require.NotContains(t, o, "instructions_total")
	require.NotContains(t, text[0], "none")

	h.call("queue_instruction", `{"content":%q}`, long)
	h.call("queue_instruction", `{"content":"Run the tests."}`)
	o, text = g.callTool("dispatch_instructions", `{}`)
	require.Equal(t, long, first(o, "instructions")["text"])
	require.EqualValues(t, 2, o["instructions_total"])
	require.NotContains(t, text[0], "none")
	rest, _ := g.callTool("dispatch_instructions", `{"cursor":%q}`, o["instructions_cursor"])
	require.Contains(t, rest.str("rest"), "Run the tests.")
}

func TestLongListIsCutWithItsTotal(t *testing.T) {
	h := newHarness(t, setup{asleep: true})
	g := h.connect(modern, nil)
	for range 15 {
		h.call("queue_instruction_with_ack", `{"content":"Run the tests.","max_retries":0}`)
	}
	g.callTool("dispatch_instructions", `{}`)
	o, text := g.callTool("dispatch_instructions", `{}`)
	require.Len(t, o["failed"], 10)
	require.Equal(t, float64(15), o["failed_total"])
	require.Contains(t, text[0], "failed_total: 15")
}

func TestPagerDropsTheOldestText(t *testing.T) {
	slow.Test(t)
	h := newHarness(t, setup{asleep: true})
	g := h.connect(modern, nil)
	big := lines(1 << 20)
	var cursors []string
	for range 20 {
		h.call("create_task", `{"prompt":%s}`, quoted(strings.ToValidUTF8(big, "")))
		claim, _ := g.callTool("claim_task", `{}`)
		cursors = append(cursors, claim.str("prompt_cursor"))
	}
	require.Contains(t, g.callRefused("claim_task", `{"cursor":%q}`, cursors[0]), "CURSOR_EXPIRED")
	g.callTool("claim_task", `{"cursor":%q}`, cursors[19])
	for _, cursor := range []string{"rest_", cursors[19] + "9999999", cursors[19] + ".1", strings.Replace(cursors[19], ".", ".-", 1)} {
		require.Contains(t, g.callRefused("claim_task", `{"cursor":%q}`, cursor), "CURSOR_EXPIRED")
	}
}
