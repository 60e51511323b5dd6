package api_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/schema"
	"waybill/store"
)

// Pages with the newest tasks first do not shift when tasks are added.
func TestTasksAreListedFromEitherEnd(t *testing.T) {
	h := newHost(t, setup{})
	var made []string
	for range 5 {
		made = append(made, h.asked(``))
	}
	for _, method := range []string{"list_tasks", "list_awaiting"} {
		require.Equal(t, [][]string{made[:2], made[2:4], made[4:]}, h.pages(method, "task_id", ""))
	}
	first := h.call("list_tasks", `{"order": "newest", "limit": 2}`)
	require.Equal(t, []string{made[4], made[3]}, first.each("items", "task_id"))
	h.create(``)
	newest, oldest := first.str("next_cursor"), h.call("list_tasks", `{"limit": 2}`).str("next_cursor")
	second := h.call("list_tasks", `{"order": "newest", "limit": 3, "cursor": %q}`, newest)
	require.Equal(t, []string{made[2], made[1], made[0]}, second.each("items", "task_id"))
	second.lacks("next_cursor")
	h.call("cancel_task", `{"task_id": %q}`, made[3])
	require.Equal(t, []string{made[3]}, h.call("list_tasks", `{"order": "newest", "status": "CANCELLED"}`).each("items", "task_id"))
	h.bad("/order", "list_tasks", `{"order": "latest"}`)
	h.refused(schema.InvalidParams, "list_tasks", `{"status": "queued"}`)
	for params, cursor := range map[string]string{``: newest, `"order": "newest",`: oldest} { // a cursor belongs to its order
		require.Contains(t, h.bad("/cursor", "list_tasks", `{%s "cursor": %q}`, params, cursor).str("message"), "with the same order")
		for _, cursor := range []string{"newest:", "newest:-1", "newest:x", "newest:newest:2"} {
			h.bad("/cursor", "list_tasks", `{%s "cursor": %q}`, params, cursor)
		}
	}
	h.bad("/cursor", "list_awaiting", `{"cursor": %q}`, newest)
}

// Lists shorten long texts, and pages have a limit in bytes.
func TestPagesOfTasksAreBoundedInBytes(t *testing.T) {
	h := newHost(t, setup{})
	long := strings.Repeat("é", 30<<10)
	for range 20 {
		h.create(`"description": %q, "labels": {"k": %q}`, long, long)
	}
	seen := 0
	for _, page := range h.pages("list_tasks", "description", `,"limit":500`) {
		require.Less(t, len(page), 18, "labels are not shortened")
		seen += len(page)
		require.Less(t, len(page[0]), 1100)
		require.True(t, strings.HasSuffix(page[0], "é…"))
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

// A list must not load all tasks of a page at once.
func TestListReadsFewTasksAtOnce(t *testing.T) {
	st := newSharedStore(t)
	h := newHost(t, setup{store: st})
	const tasks = 60
	for range tasks {
		h.create(``)
	}
	most := 0
	st.set(func(s *sharedStore) {
		s.inView = func(tx store.Tx, fn func(store.Tx) error) error {
			tx.TaskRecords = largestRead{tx.TaskRecords, &most}
			return fn(tx)
		}
	})
	require.Len(t, h.call("list_tasks", `{"limit": 500}`).at("items"), tasks)
	h.call("list_tasks", `{"limit": 60}`).lacks("next_cursor")
	require.LessOrEqual(t, most, 8)
	require.Positive(t, most)
}

// A largestRead notes how many tasks a read returned at most.
type largestRead struct {
	store.TaskRecords
	most *int
}

func (tx largestRead) Tasks(q store.TaskQuery) ([]task.Task, error) {
	found, err := tx.TaskRecords.Tasks(q)
	*tx.most = max(*tx.most, len(found))
	return found, err
}

func TestRepliesAreCountedAndPaged(t *testing.T) {
	h := newHost(t, setup{})
	id := h.create(``)
	const replies = 60
	for i := range replies {
		h.finish(h.claim("w"), `"status": "awaiting_response", "question": "and?"`)
		h.call("reply", `{"task_id": %q, "reply": "%d"}`, id, i+1)
	}
	task := h.call("get_task", `{"task_id": %q}`, id)
	task.has(replies, "replies_total", replies+1, "attempts_total")
	require.Equal(t, task.each("replies", "reply"), task.each("reply_history", "content"))
	require.Len(t, task.at("replies"), 50)
	task.has(11, "replies.0.number", "60", "replies.49.reply")
	first := h.call("get_task", `{"task_id": %q, "replies_after": 0}`, id)
	require.Len(t, first.at("replies"), 50)
	first.has("1", "replies.0.reply")
	rest := h.call("get_task", `{"task_id": %q, "replies_after": 50}`, id)
	require.Len(t, rest.at("replies"), 10)
	rest.has(51, "replies.0.number")

	for range 15 {
		h.finish(h.claim("w"), `"status": "awaiting_response", "question": "and?"`)
		h.call("reply", `{"task_id": %q, "reply": %q}`, id, strings.Repeat("x", 40<<10))
	}
	task = h.task(id)
	require.Less(t, len(task.text), 1<<20)
	shown := len(task.each("replies", "reply"))
	require.Less(t, shown, 15)
	task.has(replies+15, fmt.Sprintf("replies.%d.number", shown-1))
}

func TestLargestPagesContinue(t *testing.T) {
	h := newHost(t, setup{})
	require.NoError(t, h.store.Update(t.Context(), func(tx store.Tx) (err error) {
		for i := int64(1); i <= schema.MaxPage+1; i++ {
			r, _ := run.Start(fmt.Sprint("run_", i), "tasks.md", fmt.Sprint(i), "", coretest.Policy(), 1)
			tsk, effects := task.Create(fmt.Sprint("tsk_", i), fmt.Sprint("att_", i), i, task.Spec{Prompt: "x", MaxAttempts: 1}, 0, 1)
			err = errors.Join(err, tx.PutRun(r), tx.PutTask(tsk), tx.PutAttempt(effects[0].(task.Keep).Attempt),
				tx.PutInstruction(instruction.Instruction{
					ID: fmt.Sprint("ins_", i), Session: "s", Content: "x", CreatedAt: 1, Position: i, Phase: instruction.Queued{},
				}),
				tx.PutNotice(store.Notice{
					ID: fmt.Sprint("ntc_", i), Kind: core.NoticeTaskFinished, Subject: "x", Text: "x", Data: "{}", CreatedAt: 1, Position: i,
				}))
		}
		return err
	}))
	for method, id := range map[string]string{
		"list_runs": "run_id", "list_tasks": "task_id", "list_instructions": "instruction_id", "list_notices": "notice_id",
	} {
		pages := h.pages(method, id, `,"limit":500`)
		require.Len(t, pages, 2, method)
		require.Len(t, pages[1], 1, method)
	}
}

func TestTextsOfTasksAreBounded(t *testing.T) {
	for _, row := range []struct {
		pointer string
		limit   int
		status  string // of the task that the call is about
		call    string
	}{
		{"/prompt", schema.MaxContentBytes, "", `create_task {"prompt": %q}`},
		{"/description", schema.MaxReplyBytes, "", `create_task {"prompt": "x", "description": %q}`},
		{"/labels", schema.MaxReplyBytes - 1, "", `create_task {"prompt": "x", "labels": {"k": %q}}`},
		{"/models", schema.MaxReplyBytes - 1, "", `create_task {"prompt": "x", "models": [{"provider_id": "p", "model_id": %q}]}`},
		{"/output", schema.MaxContentBytes, "RUNNING", `finish_attempt {HELD, "status": "completed", "output": %q}`},
		{"/question", schema.MaxReplyBytes, "RUNNING", `finish_attempt {HELD, "status": "awaiting_response", "question": %q}`},
		{"/error", schema.MaxReplyBytes, "RUNNING", `finish_attempt {HELD, "status": "error", "error": {"message": %q, "class": "terminal"}}`},
		{"/progress/message", schema.MaxReplyBytes, "RUNNING", `heartbeat {HELD, "progress": {"message": %q}}`},
		{"/message", schema.MaxReplyBytes, "", `report_session_event {"session_id": "s", "type": "idle", "message": %q}`},
		{"/data", schema.MaxReplyBytes - 8, "", `report_session_event {"session_id": "s", "type": "idle", "data": {"x":%q}}`},
		{"/reason", schema.MaxReplyBytes, "QUEUED", `cancel_task {"task_id": "ID", "reason": %q}`},
		{"/reply", schema.MaxReplyBytes, "AWAITING_RESPONSE", `reply {"task_id": "ID", "reply": %q}`},
		{"/by", schema.MaxReplyBytes, "AWAITING_RESPONSE", `reply {"task_id": "ID", "reply": "x", "by": %q}`},
	} {
		h := newHost(t, setup{})
		call := row.call
		if row.status != "" {
			id, c := h.in(row.status)
			call = strings.ReplaceAll(call, "ID", id)
			if row.status == "RUNNING" {
				call = strings.ReplaceAll(call, "HELD", fmt.Sprintf(`"task_id": %q, "lease_token": %q`, id, c.str("claim.lease.token")))
			}
		}
		method, params, _ := strings.Cut(call, " ")
		fault := h.refused(schema.TooLarge, method, params, strings.Repeat("x", row.limit+1))
		extra := fault.at("data.details.size").(float64) - float64(row.limit+1) // the braces of data, and the like
		fault.has(float64(row.limit)+extra, "data.details.limit", row.pointer, "data.details.pointer")
		h.call(method, params, strings.Repeat("x", row.limit))
	}
}

// Models are checked when the task is created, retried or bound.
func TestInvalidModelsAreRefused(t *testing.T) {
	h := newHost(t, setup{})
	for models, pointer := range map[string]string{
		`{"provider_id": "", "model_id": "m"}`:  "/models/0/provider_id",
		`{"provider_id": "p", "model_id": " "}`: "/models/0/model_id",
		`{"provider_id": "p"}`:                  "/models/0/model_id",
		`{"provider_id": "p", "model_id": "m-4.5"}, {"provider_id": "P", "model_id": "M-4-5"}`:                   "/models/1",
		`{"provider_id": "p", "model_id": "m"}, {"provider_id": "p", "model_id": "m", "variant": "v"}`:           "/models/1",
		strings.Repeat(`{"provider_id": "p", "model_id": "m"}, `, 100) + `{"provider_id": "p", "model_id": "m"}`: "/models",
	} {
		h.bad(pointer, "create_task", `{"prompt": "x", "models": [%s]}`, models)
	}
	failed, _ := h.in("ERROR")
	_, c := h.in("RUNNING")
	for method, params := range map[string]string{
		"retry_task": fmt.Sprintf(`{"task_id": %q`, failed), "bind_session": strings.TrimSuffix(bindParams(c, "s", ""), "}"),
	} {
		h.bad("/model/provider_id", method, `%s, "model": {"provider_id": "", "model_id": ""}}`, params)
		h.bad("/model/model_id", method, `%s, "model": {"provider_id": "p", "model_id": " "}}`, params)
		h.refused(schema.TooLarge, method, `%s, "model": {"provider_id": "p", "model_id": %q}}`, params, strings.Repeat("x", schema.MaxReplyBytes))
		h.call(method, `%s, "model": {"provider_id": "p", "model_id": "m", "variant": "v"}}`, params).has("v", "attempt.model.variant")
	}
}

func TestInvalidDependenciesAreRefused(t *testing.T) {
	h := newHost(t, setup{newID: counted()})
	on, tooMany := h.create(``), strings.TrimSuffix(strings.Repeat(`"x",`, 501), ",")
	for list, pointer := range map[string]string{
		`"tsk_nobody"`:                      "/depends_on/0",
		fmt.Sprintf(`%q, "tsk_nobody"`, on): "/depends_on/1",
		fmt.Sprintf(`%q, %q`, on, on):       "/depends_on/1",
		`"tsk_2"`:                           "/depends_on/0", // the id that it would get itself
		fmt.Sprintf(`%q, "att_1"`, on):      "/depends_on/1",
		tooMany:                             "/depends_on",
	} {
		h.bad(pointer, "create_task", `{"prompt": "x", "depends_on": [%s]}`, list)
	}
	require.Len(t, h.call("list_tasks", `{}`).at("items"), 1)
}

func TestQuestionsAndRepliesNeedAText(t *testing.T) {
	h := newHost(t, setup{})
	id, c := h.in("RUNNING")
	for _, empty := range []string{``, `, "question": " "`, `, "output": "\n"`} {
		h.bad("/question", "finish_attempt", `{"task_id": %q, "lease_token": %q, "status": "awaiting_response"%s}`,
			id, c.str("claim.lease.token"), empty)
	}
	h.finish(c, `"status": "awaiting_response", "output": "Shall I?"`)
	h.call("list_awaiting", `{}`).has("Shall I?", "items.0.question")
	for _, blank := range []string{`""`, `" \t\r\n"`, `"\u00a0\u2003"`} {
		h.refused(schema.EmptyContent, "reply", `{"task_id": %q, "reply": %s}`, id, blank).has("/reply", "data.details.errors.0.pointer")
	}
	for _, reply := range []string{`, "reply": 7`, `, "reply": null`, `, "reply": ["yes"]`, ``} {
		h.bad("/reply", "reply", `{"task_id": %q%s}`, id, reply)
	}
	h.is("AWAITING_RESPONSE", id)
}

// Invalid ids are refused in every param.
func TestInvalidIDsAreRefused(t *testing.T) {
	h := newHost(t, setup{})
	methods := map[string]string{
		"claim_task/worker": `"worker": ID`, "claim_task/run_id": `"worker": "w", "run_id": ID`,
		"create_task/run_id": `"prompt": "x", "run_id": ID`, "create_task/parent_session_id": `"prompt": "x", "parent_session_id": ID`,
		"create_task/depends_on/0": `"prompt": "x", "depends_on": [ID]`,
		"bind_session/task_id":     `"task_id": ID, "attempt_id": "a", "lease_token": "l", "session_id": "s"`,
		"bind_session/attempt_id":  `"task_id": "t", "attempt_id": ID, "lease_token": "l", "session_id": "s"`,
		"bind_session/lease_token": `"task_id": "t", "attempt_id": "a", "lease_token": ID, "session_id": "s"`,
		"bind_session/session_id":  `"task_id": "t", "attempt_id": "a", "lease_token": "l", "session_id": ID`,
		"heartbeat/task_id":        `"task_id": ID, "lease_token": "l"`, "heartbeat/lease_token": `"task_id": "t", "lease_token": ID`,
		"finish_attempt/task_id":          `"task_id": ID, "lease_token": "l", "status": "completed"`,
		"finish_attempt/lease_token":      `"task_id": "t", "lease_token": ID, "status": "completed"`,
		"report_session_event/session_id": `"session_id": ID, "type": "idle"`,
		"retry_task/task_id":              `"task_id": ID`, "cancel_task/task_id": `"task_id": ID`, "get_task/task_id": `"task_id": ID`,
		"get_timeline/task_id": `"task_id": ID`, "reply/task_id": `"task_id": ID, "reply": "x"`,
		"acknowledge/instruction_id": `"instruction_id": ID`, "queue_instruction/session_id": `"content": "x", "session_id": ID`,
		"list_tasks/run_id": `"run_id": ID`, "list_tasks/parent_session_id": `"parent_session_id": ID`,
	}
	bad := []string{"", "a/b", "..%2F", "a b", "tsk_\\u0000", "tsk_\\u043e", "ｔsk", "a\\nb", strings.Repeat("x", 129), strings.Repeat("x", 10<<10), "é"}
	for path, params := range methods {
		method, field, _ := strings.Cut(path, "/")
		for _, id := range bad {
			a := <-h.begin(t.Context(), method, "%s", `{`+strings.Replace(params, "ID", `"`+id+`"`, 1)+`}`)
			require.NotNil(t, a.Err, "%s %q", path, id)
			require.Equal(t, schema.InvalidParams, a.Err.Data.Code, "%s %q: %s", path, id, a.Err.Message)
			require.Equal(t, "/"+field, a.Err.Data.Details["errors"].([]schema.Problem)[0].Pointer, path)
			require.Less(t, len(a.Err.Message), 512, "an error repeats its params")
		}
	}
	require.Zero(t, h.seq())
	for _, id := range []string{"..", strings.Repeat("x", 128), "tsk_nobody"} { // well-formed but unknown
		h.refused(schema.TaskGone, "get_task", `{"task_id": %q}`, id).has(4040, "code")
		h.refused(schema.TaskGone, "reply", `{"task_id": %q, "reply": "x"}`, id).has(id, "data.details.task_id")
		h.refused(schema.TaskGone, "retry_task", `{"task_id": %q}`, id)
		h.refused(schema.TaskGone, "cancel_task", `{"task_id": %q}`, id)
		h.refused(schema.TaskGone, "get_timeline", `{"task_id": %q}`, id)
		h.refused(schema.TaskGone, "heartbeat", `{"task_id": %q, "lease_token": "l"}`, id)
		h.refused(schema.TaskGone, "finish_attempt", `{"task_id": %q, "lease_token": "l", "status": "completed"}`, id)
		h.refused(schema.TaskGone, "bind_session", `{"task_id": %q, "attempt_id": "a", "lease_token": "l", "session_id": "s"}`, id)
	}
	h.call("queue_instruction", `{"content":"x","session_id":"A-z0.9_:%s"}`, strings.Repeat("x", 120))
}
