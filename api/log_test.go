package api_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/schema"
	"waybill/schema/codec"
	"waybill/store"
)

// requireCursor checks that a cursor points behind the event with that number and has a hash.
func requireCursor(t *testing.T, seq int, cursor string) {
	t.Helper()
	require.Regexp(t, fmt.Sprintf(`^%d\.[0-9a-f]{8}$`, seq), cursor)
}

func TestEventsAreWithoutGaps(t *testing.T) {
	h := newHost(t, setup{})
	for i := range 7 {
		h.track(`{"content":"%d"}`, i)
	}
	h.pass()
	seqs, cursor := []float64{}, "0"
	for more := true; more; {
		page := h.call("events_since", `{"cursor":%q,"limit":3}`, cursor)
		require.LessOrEqual(t, len(page.each("events", "type")), 3)
		for i := range page.each("events", "type") {
			seqs = append(seqs, page.at(fmt.Sprintf("events.%d.seq", i)).(float64))
		}
		cursor, more = page.str("cursor"), page.at("more").(bool)
	}
	want := []float64{}
	for seq := 1.0; seq <= 14; seq++ {
		want = append(want, seq)
	}
	require.Equal(t, want, seqs)
	last := h.call("events_since", `{"cursor":%q}`, cursor)
	last.has([]any{}, "events")
	last.has(cursor, "cursor")
	last.has(false, "more")
}

func TestEventShowsWhatMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		id := h.track(`{"content":"x","session_id":"s","max_retries":1}`)
		text, err := codec.Encode(h.call("events_since", `{"cursor":"0"}`).at("events.0"))
		require.NoError(t, err)
		require.JSONEq(t, fmt.Sprintf(`{"seq":1,"at":"2000-01-01T00:00:00.000000Z","type":"instruction.queued","subject_id":%q,
			"data":{"session_id":"s","state":"queued","sends":0,"sends_max":2,"tracked":true,"content_bytes":1}}`, id), string(text))
	})
}

func TestEventsOfSomeTypes(t *testing.T) {
	h := newHost(t, setup{})
	for range 3 {
		h.track(`{"content":"x"}`)
	}
	h.pass()
	page := h.call("events_since", `{"cursor":"0","types":["instruction.sent"],"limit":2}`)
	require.Equal(t, []string{"instruction.sent", "instruction.sent"}, page.each("events", "type"))
	page.has(true, "more")
	requireCursor(t, 5, page.str("cursor"))
	page = h.call("events_since", `{"cursor":"5","types":["instruction.queued"]}`)
	page.has([]any{}, "events")
	requireCursor(t, 6, page.str("cursor")) // past what is of another type
	fault := h.refused(schema.InvalidParams, "events_since", `{"cursor":"0","types":["instruction.sent","cake.baked"]}`)
	fault.has("/types/1", "data.details.errors.0.pointer")
	fault.has("instruction.queued", "data.details.known.0")
}

func TestCursorOfInitializeIsFromThereOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		h.call("queue_instruction", `{"content":"before"}`)
		time.Sleep(time.Second)
		cursor := h.call("initialize", `{}`).str("cursor")
		h.call("events_since", `{"cursor":%q}`, cursor).has([]any{}, "events")
		after := h.call("queue_instruction", `{"content":"after"}`)
		page := h.call("events_since", `{"cursor":%q}`, cursor)
		page.has(after.at("seq"), "events.0.seq")
		requireCursor(t, 2, page.str("cursor"))
		page.lacks("events.1")
	})
}

func TestMalformedCursorIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	h.call("queue_instruction", `{"content":"x"}`)
	for _, bad := range []string{"", "x", "-1", "@", "@-1", "@x", "1.5", "1.", "1.0123456g", "1.0123456789", "@1.01234567", "99999999999999999999"} {
		h.refused(schema.InvalidParams, "events_since", `{"cursor":%q}`, bad)
	}
	h.call("events_since", `{"cursor":"1"}`).has([]any{}, "events")
}

// The cursor is from another or a deleted store.
func TestCursorAheadOfTheLogIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	h.call("queue_instruction", `{"content":"x"}`)
	fault := h.refused(schema.CursorGone, "events_since", `{"cursor":"2"}`)
	fault.has(4040, "code")
	fault.has("0", "data.details.oldest")
}

func TestCursorBehindTheLogHasExpired(t *testing.T) {
	h := newHost(t, setup{})
	for range 3 {
		h.call("queue_instruction", `{"content":"x"}`)
	}
	require.NoError(t, h.store.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Prune(core.Instant(time.Now().Add(time.Hour).UnixMicro()), 2)
		return err
	}))
	fault := h.refused(schema.CursorGone, "events_since", `{"cursor":"1"}`)
	fault.has("CURSOR_EXPIRED", "data.code")
	requireCursor(t, 2, fault.str("data.details.oldest"))
	requireCursor(t, 3, fault.str("data.details.newest"))
	for _, cursor := range []string{"0", "2", fault.str("data.details.oldest")} {
		h.call("events_since", `{"cursor":%q}`, cursor).has(3, "events.0.seq")
	}
}

// A cursor of a replaced log is refused, even if the new log has an event with its number.
func TestCursorOfAReplacedLogIsRefused(t *testing.T) {
	first, second := newHost(t, setup{}), newHost(t, setup{})
	for range 3 {
		first.call("queue_instruction", `{"content":"x"}`)
		second.call("queue_instruction", `{"content":"x"}`)
	}
	cursor := first.call("events_since", `{"cursor":"0"}`).str("cursor")
	fault := second.refused(schema.CursorGone, "events_since", `{"cursor":%q}`, cursor)
	require.NotEqual(t, cursor, fault.str("data.details.newest"))
	second.call("events_since", `{"cursor":%q}`, fault.str("data.details.newest")).has([]any{}, "events")
	first.call("events_since", `{"cursor":%q}`, cursor).has([]any{}, "events")
	page := first.call("events_since", `{"cursor":"0","limit":2}`)
	requireCursor(t, 2, page.str("cursor"))
	second.refused(schema.CursorGone, "events_since", `{"cursor":%q}`, page.str("cursor"))
}

func TestPageOfEventsIsBoundedInBytes(t *testing.T) {
	h := newHost(t, setup{})
	require.NoError(t, h.store.Update(t.Context(), func(tx store.Tx) error {
		for range 5 {
			data := fmt.Sprintf(`{"x":"%0*d"}`, 200<<10, 0)
			if _, err := tx.Append(store.Event{Type: core.LedgerChanged, Subject: "p", Data: data}); err != nil {
				return err
			}
		}
		return nil
	}))
	page := h.call("events_since", `{"cursor":"0"}`)
	require.Len(t, page.each("events", "type"), 2)
	page.has(true, "more")
	requireCursor(t, 2, page.str("cursor"))
	page = h.call("events_since", `{"cursor":"4"}`)
	page.has(5, "events.0.seq")
	page.has(false, "more")
}

// failed makes n instructions fail and returns their ids.
func failed(t *testing.T, h *host, n int) (ids []string) {
	t.Helper()
	for i := range n {
		ids = append(ids, h.track(`{"content":"%d","session_id":"%c","max_retries":0}`, i, "ab"[i%2]))
	}
	for range 2 {
		h.call("dispatch_instructions", `{"session_id":"a"}`)
		h.call("dispatch_instructions", `{"session_id":"b"}`)
	}
	return ids
}

func TestNoticesStayUntilTheyAreConsumed(t *testing.T) {
	dir, st := t.TempDir(), newSharedStore(t)
	h := newHost(t, setup{dir: dir, store: st})
	ids := failed(t, h, 3)
	notices := h.call("list_notices", `{}`)
	require.ElementsMatch(t, ids, notices.each("items", "subject_id"))
	first := notices.str("items.0.notice_id")
	h.stop()
	h = newHost(t, setup{dir: dir, store: st})
	require.Equal(t, notices.each("items", "notice_id"), h.call("list_notices", `{}`).each("items", "notice_id"))
	consumed := h.call("consume_notices", `{"notice_ids":[%q,"ntc_nobody",%q]}`, first, first)
	consumed.has([]any{first}, "consumed")
	consumed.has(h.seq(), "seq")
	h.call("consume_notices", `{"notice_ids":[%q]}`, first).has([]any{}, "consumed")
	require.NotContains(t, h.call("list_notices", `{}`).each("items", "notice_id"), first)
	h.call("events_since", `{"cursor":"0","types":["notice.consumed"]}`).has(first, "events.0.subject_id")
	h.refused(schema.InvalidParams, "consume_notices", `{"notice_ids":[]}`)
}

func TestNoticesInPages(t *testing.T) {
	h := newHost(t, setup{})
	failed(t, h, 5)
	all := h.call("list_notices", `{}`)
	all.lacks("next_cursor")
	page := h.call("list_notices", `{"limit":3}`)
	rest := h.call("list_notices", `{"limit":3,"cursor":%q}`, page.str("next_cursor"))
	rest.lacks("next_cursor")
	require.Equal(t, all.each("items", "notice_id"), append(page.each("items", "notice_id"), rest.each("items", "notice_id")...))
	require.Len(t, h.call("list_notices", `{"session_id":"b"}`).each("items", "kind"), 2)
}

func TestDeliveriesOfANoticeAreCounted(t *testing.T) {
	h := newHost(t, setup{})
	failed(t, h, 1)
	for n := 1; n <= 3; n++ {
		h.call("list_notices", `{}`).has(n, "items.0.deliveries")
		h.call("consume_notices", `{"notice_ids":["ntc_nobody"]}`) // behind the tally
	}
}

func TestPeekAtNoticesIsNoDelivery(t *testing.T) {
	h := newHost(t, setup{})
	failed(t, h, 2)
	for range 3 {
		h.call("list_notices", `{"peek":true}`).has(0, "items.1.deliveries")
		h.call("consume_notices", `{"notice_ids":["ntc_nobody"]}`) // behind a tally, if there were one
	}
	h.call("list_notices", `{"limit":1}`).has(1, "items.0.deliveries")
	h.call("consume_notices", `{"notice_ids":["ntc_nobody"]}`)
	looked := h.call("list_notices", `{"peek":true}`)
	looked.has(1, "items.0.deliveries")
	looked.has(0, "items.1.deliveries")
	first := h.call("list_notices", `{"peek":true,"limit":1}`)
	rest := h.call("list_notices", `{"peek":true,"cursor":%q}`, first.str("next_cursor"))
	require.Equal(t, looked.each("items", "notice_id"), append(first.each("items", "notice_id"), rest.each("items", "notice_id")...))
}

func TestTooManyNoticesAtOnce(t *testing.T) {
	h := newHost(t, setup{})
	ids := `"n"`
	for range 500 {
		ids += `,"n"`
	}
	h.refused(schema.InvalidParams, "consume_notices", `{"notice_ids":[%s]}`, ids).
		has("/notice_ids", "data.details.errors.0.pointer")
}

// The text of a notice quotes a content.
func TestNoticeCannotBeForged(t *testing.T) {
	h := newHost(t, setup{})
	h.track(`{"content":"a\"\n\u001b[31m\u202eb and never acknowledged: \"c","max_retries":0}`)
	h.pass()
	h.pass()
	h.call("list_notices", `{}`).has(
		`an instruction for session default was sent once and never acknowledged: "a' [31mb and never acknowledged: 'c"`,
		"items.0.text")
}

func TestNoticeQuotesOnlyTheBeginning(t *testing.T) {
	h := newHost(t, setup{})
	h.track(`{"content":"%0*d","max_retries":2}`, 1000, 0)
	for range 4 {
		h.pass()
	}
	text := h.call("list_notices", `{}`).str("items.0.text")
	require.Contains(t, text, "sent 3 times")
	require.Less(t, len(text), 250)
	require.Contains(t, text, `0…"`)
}

func TestExplain(t *testing.T) {
	h, run := planned(t, setup{})
	id := h.track(`{"content":"x","max_retries":0}`)
	why := h.call("explain", `{"subject_id":%q}`, id)
	why.has(id, "subject")
	why.has("queued", "state")
	why.has(2, "because.0.event_seq")
	require.Contains(t, why.each("next", "action"), "dispatch_instructions")
	h.pass()
	h.pass()
	why = h.call("explain", `{"subject_id":%q}`, id)
	why.has("failed", "state")
	why.has("fails_when_its_sends_are_used_up", "because.0.rule")
	notice := h.call("list_notices", `{}`).str("items.0.notice_id")
	require.Equal(t, why.text, h.call("explain", `{"subject_id":%q}`, notice).text)
	why = h.call("explain", `{"subject_id":%q}`, run)
	why.has("running", "state")
	why.has(1, "because.0.event_seq")
	require.Contains(t, why.each("next", "action"), "compile_prompt")
	fault := h.refused(schema.SubjectGone, "explain", `{"subject_id":"tsk_nobody"}`)
	fault.has("SUBJECT_NOT_FOUND", "data.code")
	fault.has("tsk_nobody", "data.details.subject_id")
}

func TestExplainAnItem(t *testing.T) {
	h, _ := planned(t, setup{})
	why := h.call("explain", `{"plan":"tasks.md","item_id":"1"}`)
	why.has("tasks.md 1", "subject")
	why.has("in_progress", "state")
	why.has("plan.mark", "because.0.rule")
	require.Contains(t, why.str("because.0.text"), "line 3")
	require.Contains(t, why.each("next", "action"), "compile_prompt")
	why = h.call("explain", `{"plan":"tasks.md","item_id":"2"}`)
	why.has("completed", "state")
	require.Equal(t, []string{"init_run"}, why.each("next", "action"))
	h.refused(schema.ItemGone, "explain", `{"plan":"tasks.md","item_id":"9"}`)
	for _, half := range []string{`{}`, `{"plan":"tasks.md"}`, `{"item_id":"1"}`} {
		h.refused(schema.InvalidParams, "explain", "%s", half)
	}
}
