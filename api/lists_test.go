package api_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

func TestListsGoOnWhereTheyEnded(t *testing.T) {
	h := newHost(t, setup{})
	for i := range 5 {
		h.track(`{"content":"%d","session_id":"%c","max_retries":0}`, i, "sst"[i%3])
	}
	for range 2 {
		h.call("dispatch_instructions", `{"session_id":"s"}`)
	}
	pages := func(method, more string) (pages [][]string) {
		for cursor := ""; ; {
			page := h.call(method, `{"limit":2,"cursor":%q%s}`, cursor, more)
			pages = append(pages, page.each("items", "content"))
			next, ok := page.find("next_cursor")
			if !ok {
				return pages
			}
			cursor = next.(string)
		}
	}
	require.Equal(t, [][]string{{"0", "1"}, {"2", "3"}, {"4"}}, pages("list_instructions", ""))
	require.Equal(t, [][]string{{"0", "1"}, {"3", "4"}}, pages("list_instructions", `,"session_id":"s"`))
	require.Equal(t, [][]string{{"2"}}, pages("list_instructions", `,"state":"queued"`))
	require.Equal(t, [][]string{{"0", "1"}, {"3", "4"}}, pages("get_failed_instructions", ""))
	require.Equal(t, [][]string{{}}, pages("get_failed_instructions", `,"session_id":"t"`))
	for _, method := range []string{"list_instructions", "get_failed_instructions", "list_notices"} {
		h.refused(schema.InvalidParams, method, `{"limit":501}`)
		h.refused(schema.InvalidParams, method, `{"limit":0}`)
		fault := h.refused(schema.InvalidParams, method, `{"cursor":"-1"}`)
		fault.has("/cursor", "data.details.errors.0.pointer")
		fault.has(`"-1"`, "data.details.errors.0.found")
	}
	h.refused(schema.InvalidParams, "list_instructions", `{"state":"lost"}`)
}

func TestOneInstructionOfAll(t *testing.T) {
	h := newHost(t, setup{})
	var ids []string
	for i := range 3 {
		ids = append(ids, h.track(`{"content":"%d","session_id":"s","max_retries":0}`, i))
	}
	h.call("cancel_instruction", `{"instruction_id":%q}`, ids[1])
	one := h.call("list_instructions", `{"instruction_id":%q,"limit":1}`, ids[1])
	require.Equal(t, []string{"1"}, one.each("items", "content"))
	one.has("cancelled", "items.0.state")
	one.lacks("next_cursor")
	h.refused(schema.InstructionGone, "list_instructions", `{"instruction_id":"ins_nobody"}`).has("not_applied", "data.outcome")
	for name, value := range map[string]string{"session_id": "s", "state": "queued", "cursor": "1"} {
		fault := h.refused(schema.InvalidParams, "list_instructions", `{"instruction_id":%q,%q:%q}`, ids[1], name, value)
		fault.has("/"+name, "data.details.errors.0.pointer")
		fault.has("absent when instruction_id is given", "data.details.errors.0.expected")
	}
	h.refused(schema.InvalidParams, "list_instructions", `{"instruction_id":"no id"}`)
}

func TestPageOfAListIsBoundedInBytes(t *testing.T) {
	h := newHost(t, setup{})
	for i := range 5 {
		h.call("queue_instruction", `{"content":"%d%s"}`, i, strings.Repeat("x", 300<<10))
	}
	first := h.call("list_instructions", `{}`)
	require.Len(t, first.each("items", "state"), 1)
	second := h.call("list_instructions", `{"cursor":%q}`, first.str("next_cursor"))
	require.Equal(t, byte('1'), second.str("items.0.content")[0])
}

func TestPageOfOneHugeInstruction(t *testing.T) {
	h := newHost(t, setup{})
	for range 2 {
		h.call("queue_instruction", `{"content":"%s"}`, strings.Repeat("x", schema.MaxContentBytes))
	}
	page := h.call("list_instructions", `{}`)
	require.Len(t, page.each("items", "state"), 1)
	last := h.call("list_instructions", `{"cursor":%q}`, page.str("next_cursor"))
	require.Len(t, last.each("items", "state"), 1)
	last.lacks("next_cursor")
}
