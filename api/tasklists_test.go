package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/schema"
	"waybill/store"
	"waybill/test/slow"
)

// fill puts n tasks into the store.
func fill(t *testing.T, st store.Store, n int) {
	t.Helper()
	require.NoError(t, st.Update(t.Context(), func(tx store.Tx) error {
		for i := 1; i <= n; i++ {
			tsk, effects := task.Create(fmt.Sprintf("tsk_%d", i), fmt.Sprintf("att_%d", i), int64(i),
				task.Spec{Prompt: "x", MaxAttempts: 1, Parent: []string{"p", "q"}[i%2]}, 0, 1)
			if err := tx.PutTask(tsk); err != nil {
				return err
			}
			if err := tx.PutAttempt(effects[0].(task.Keep).Attempt); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Pages from either end return each of 100,000 tasks once.
func TestHundredThousandTasksByPages(t *testing.T) {
	slow.Test(t)
	many := slow.Size(100_000)
	st := newSharedStore(t)
	fill(t, st, many)
	h := newHost(t, setup{store: st})
	for order, at := range map[string]func(n int) int{
		"oldest": func(n int) int { return n },
		"newest": func(n int) int { return many + 1 - n },
	} {
		next := 1
		for cursor := ""; ; {
			page := h.call("list_tasks", `{"limit": 500, "order": %q, "cursor": %q}`, order, cursor)
			for _, id := range page.each("items", "task_id") {
				require.Equal(t, fmt.Sprintf("tsk_%d", at(next)), id)
				next++
			}
			more, ok := page.find("next_cursor")
			if !ok {
				break
			}
			cursor = more.(string)
		}
		require.Equal(t, many+1, next, order)
	}
	h.call("get_status", `{}`).has(many, "counts.tasks.QUEUED")
	h.call("list_tasks", `{"parent_session_id": "q", "limit": 2}`).has("tsk_3", "items.1.task_id")
}

// Pages with the newest tasks first do not shift when tasks are added.
func TestNewestTasksComeFirst(t *testing.T) {
	h := newHost(t, setup{})
	var made []string
	for range 5 {
		made = append(made, h.create(``))
	}
	first := h.call("list_tasks", `{"order": "newest", "limit": 2}`)
	require.Equal(t, []string{made[4], made[3]}, first.each("items", "task_id"))
	h.create(``)
	cursor := first.str("next_cursor")
	second := h.call("list_tasks", `{"order": "newest", "limit": 3, "cursor": %q}`, cursor)
	require.Equal(t, []string{made[2], made[1], made[0]}, second.each("items", "task_id"))
	second.lacks("next_cursor")
	h.call("cancel_task", `{"task_id": %q}`, made[3])
	require.Equal(t, []string{made[3]}, h.call("list_tasks", `{"order": "newest", "status": "CANCELLED"}`).each("items", "task_id"))
	h.refused(schema.InvalidParams, "list_tasks", `{"order": "latest"}`).has("/order", "data.details.errors.0.pointer")
}

func TestCursorOfTasksBelongsToItsOrder(t *testing.T) {
	h := newHost(t, setup{})
	for range 3 {
		h.asked(``)
	}
	oldest := h.call("list_tasks", `{"limit": 2}`).str("next_cursor")
	newest := h.call("list_tasks", `{"limit": 2, "order": "newest"}`).str("next_cursor")
	for params, cursor := range map[string]string{
		``: newest, `"order": "oldest",`: newest, `"order": "newest",`: oldest,
	} {
		for _, cursor := range []string{cursor, "newest:", "newest:-1", "newest:x", "newest:newest:2"} {
			refused := h.refused(schema.InvalidParams, "list_tasks", `{%s "cursor": %q}`, params, cursor)
			refused.has("/cursor", "data.details.errors.0.pointer")
		}
	}
	h.refused(schema.InvalidParams, "list_awaiting", `{"cursor": %q}`, newest)
	require.Contains(t, h.refused(schema.InvalidParams, "list_tasks", `{"cursor": %q}`, newest).str("message"), "with the same order")
	require.Contains(t, h.refused(schema.InvalidParams, "list_tasks", `{"order": "newest", "cursor": %q}`, oldest).str("message"), "with the same order")
}

func TestListsOfTasksGoOnWhereTheyEnded(t *testing.T) {
	h := newHost(t, setup{})
	var asked []string
	for range 5 {
		asked = append(asked, h.asked(``))
	}
	for _, method := range []string{"list_tasks", "list_awaiting"} {
		var got []string
		for cursor := ""; ; {
			page := h.call(method, `{"limit": 2, "cursor": %q}`, cursor)
			got = append(got, page.each("items", "task_id")...)
			next, ok := page.find("next_cursor")
			if !ok {
				break
			}
			cursor = next.(string)
		}
		require.Equal(t, asked, got, method)
		h.refused(schema.InvalidParams, method, `{"limit": 501}`)
		h.refused(schema.InvalidParams, method, `{"limit": 0}`)
		h.refused(schema.InvalidParams, method, `{"cursor": "x"}`).has("/cursor", "data.details.errors.0.pointer")
	}
	h.refused(schema.InvalidParams, "list_tasks", `{"status": "queued"}`)
}

// Lists shorten long texts, and pages have a limit in bytes.
func TestPagesOfTasksAreBoundedInBytes(t *testing.T) {
	h := newHost(t, setup{})
	long := strings.Repeat("é", 30<<10)
	for range 20 {
		h.create(`"description": %q, "labels": {"k": %q}`, long, long)
	}
	seen := 0
	for cursor := ""; ; {
		page := h.call("list_tasks", `{"limit": 500, "cursor": %q}`, cursor)
		require.Less(t, len(page.text), 1<<20)
		items := page.at("items").([]any)
		require.NotEmpty(t, items)
		seen += len(items)
		about := page.str("items.0.description")
		require.Less(t, len(about), 1100)
		require.True(t, strings.HasSuffix(about, "é…"))
		next, ok := page.find("next_cursor")
		if !ok {
			break
		}
		cursor = next.(string)
	}
	require.Equal(t, 20, seen)
}

// A list shows the beginning of a question and the end of an output.
func TestListsShowTheEndsOfLongTexts(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	h.finish(h.claim("w"), fmt.Sprintf(`"status": "awaiting_response", "question": %q, "output": %q`,
		"first"+strings.Repeat("é", 1000), strings.Repeat("é", 1000)+"last"))
	waiting := h.call("list_awaiting", `{}`)
	question, output := waiting.str("items.0.question"), waiting.str("items.0.output_excerpt")
	require.True(t, strings.HasPrefix(question, "firsté") && strings.HasSuffix(question, "é…"), question)
	require.True(t, strings.HasPrefix(output, "…é") && strings.HasSuffix(output, "élast"), output)
	require.LessOrEqual(t, len(question), 1030)
	require.LessOrEqual(t, len(output), 1030)
	h.call("reply", `{"task_id": %q, "reply": %q}`, id, strings.Repeat("r", 5000))
	h.finish(h.claim("w"), fmt.Sprintf(`"status": "error", "error": {"message": %q, "class": "terminal"}`, strings.Repeat("e", 5000)))
	list := h.call("list_tasks", `{}`)
	for _, long := range []string{"user_reply", "error.message", "output", "question"} {
		require.LessOrEqual(t, len(list.str("items.0."+long)), 1030, long)
		require.Greater(t, len(h.task(id).str("task."+long)), 1030, long)
	}
}

// The prompt of a task with very many replies keeps its task, and the newest replies are shown.
func TestTaskWithVeryManyRepliesStaysReadable(t *testing.T) {
	h := newHost(t, setup{})
	id := h.asked(``)
	long := strings.Repeat("x", 20<<10)
	const many = 60
	for i := range many {
		h.call("reply", `{"task_id": %q, "reply": "answer %d %s"}`, id, i, long)
		c := h.claim("w")
		if i == many-1 {
			prompt := c.str("claim.prompt")
			require.Less(t, len(prompt), 128<<10)
			require.Contains(t, prompt, "[User Reply]\nanswer 59 ")
			require.Contains(t, prompt, "(left out: the first 56)\nQuestion: more?\nReply: answer 56 ")
			require.Contains(t, prompt, "Reply: answer 58 ")
		}
		h.finish(c, `"status": "awaiting_response", "question": "more?"`)
	}
	task := h.task(id)
	require.Less(t, len(task.text), 1<<20)
	replies := task.each("replies", "reply")
	require.True(t, strings.HasPrefix(replies[len(replies)-1], "answer 59 "))
	require.Greater(t, len(replies), 10)
	require.Equal(t, replies, task.each("reply_history", "content"))
}

func TestTimelineOfLongErrorsIsBounded(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	for range 200 {
		c := h.claim("w")
		h.finish(c, `"status": "error", "error": {"message": "`+strings.Repeat("x", 60<<10)+`", "class": "terminal"}`)
		h.call("retry_task", `{"task_id": %q}`, id)
	}
	timeline := h.call("get_timeline", `{"task_id": %q, "max_lines": 500}`, id)
	require.Len(t, timeline.at("attempts"), 201)
	require.Less(t, len(timeline.text), 1<<20)
}

// Every changing method repeats its answer for the same key and refuses another call.
func TestEveryChangeOfATaskTakesAKey(t *testing.T) {
	for _, method := range []string{
		"create_task", "claim_task", "bind_session", "heartbeat", "finish_attempt", "report_session_event",
		"retry_task", "cancel_task", "reply",
	} {
		t.Run(method, func(t *testing.T) {
			h := newHost(t, setup{})
			waiting, failed, queued := "", "", ""
			waiting, _ = h.in("AWAITING_RESPONSE")
			failed, _ = h.in("ERROR")
			_, c := h.in("RUNNING")
			queued = h.create(``)
			held := fmt.Sprintf(`"task_id": %q, "lease_token": %q`, c.str("claim.task.task_id"), c.str("claim.lease.token"))
			params := map[string][2]string{
				"create_task":          {`"prompt": "x"`, `"prompt": "y"`},
				"claim_task":           {`"worker": "a"`, `"worker": "b"`},
				"bind_session":         {held + `, "session_id": "s", "attempt_id": "` + c.str("claim.attempt.attempt_id") + `"`, held + `, "session_id": "t", "attempt_id": "a"`},
				"heartbeat":            {held, held + `, "lease_ms": 5000`},
				"finish_attempt":       {held + `, "status": "completed"`, held + `, "status": "cancelled"`},
				"report_session_event": {`"session_id": "s", "type": "idle"`, `"session_id": "s", "type": "started"`},
				"retry_task":           {fmt.Sprintf(`"task_id": %q`, failed), fmt.Sprintf(`"task_id": %q`, waiting)},
				"cancel_task":          {fmt.Sprintf(`"task_id": %q`, queued), fmt.Sprintf(`"task_id": %q`, waiting)},
				"reply":                {fmt.Sprintf(`"task_id": %q, "reply": "x"`, waiting), fmt.Sprintf(`"task_id": %q, "reply": "y"`, waiting)},
			}[method]
			first := h.call(method, `{%s, "idempotency_key": "k"}`, params[0])
			seq := h.seq()
			first.has(seq, "seq")
			require.Equal(t, first.text, h.call(method, `{%s, "idempotency_key": "k"}`, params[0]).text)
			require.Equal(t, seq, h.seq())
			h.refused(schema.IdempotencyClash, method, `{%s, "idempotency_key": "k"}`, params[1]).has("k", "data.details.idempotency_key")
		})
	}
}

// A repeated waiting claim with the same key is answered at once.
func TestReplayOfAWaitingClaim(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		began := time.Now()
		first := h.call("claim_task", `{"worker": "w", "wait_ms": 20000, "idempotency_key": "k"}`)
		first.has(nil, "claim")
		h.create(``)
		require.Equal(t, first.text, h.call("claim_task", `{"worker": "w", "wait_ms": 20000, "idempotency_key": "k"}`).text)
		require.Equal(t, 20*time.Second, time.Since(began))
	})
}
