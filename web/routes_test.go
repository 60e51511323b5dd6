package web_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/web"
)

func declared(t *testing.T, name string) schema.Method {
	t.Helper()
	i := slices.IndexFunc(schema.Methods, func(m schema.Method) bool { return m.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return schema.Methods[i]
}

// Every change is a POST; every other call is a GET, which can be repeated.
func TestChangesArePOSTAndReadsAreGET(t *testing.T) {
	for _, r := range web.Routes {
		if r.Method == "" {
			require.NotEmpty(t, r.Doc, r.Path)
			continue
		}
		m := declared(t, r.Method)
		if m.Name == "compile_prompt" { // whose params are too much for a query
			require.Equal(t, `"preview":true`, r.Fixed)
			continue
		}
		require.Equal(t, m.Kind == schema.Change, r.Verb == "POST", "%s %s", r.Verb, r.Path)
	}
}

// An answer that hands out work must not get lost, and HTTP does not report lost answers.
func TestNoRouteHandsOutWork(t *testing.T) {
	for _, r := range web.Routes {
		require.NotContains(t, []string{
			"dispatch_instructions", "claim_task", "bind_session", "heartbeat", "finish_attempt", "report_session_event", "ingest_output",
		}, r.Method)
	}
}

// Every part of a path is a param of its method, and no path can be taken for two.
func TestParamsOfPathsExistInTheirMethods(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range web.Routes {
		require.False(t, seen[r.Verb+r.Path], r.Path)
		seen[r.Verb+r.Path] = true
		for part := range strings.SplitSeq(r.Path, "/") {
			if name, ok := strings.CutPrefix(part, "{"); ok {
				params := declared(t, r.Method).Params
				_, known := web.KindsOf(params)[strings.TrimSuffix(name, "}")]
				require.True(t, known, "%s has no %s", r.Method, name)
			}
		}
	}
}

// Every route reaches its method, with the params of its path, its query and its body.
func TestRoutesReachTheirMethods(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "specs", "boats"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "specs", "boats", "tasks.md"), []byte("- [ ] 1. Build a boat\n- [ ] 2. Launch it\n"), 0o644))
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{dir: dir})
		plan := "/api/plans/" + url.PathEscape("specs/boats/tasks.md")
		first := h.taskThatAsks()
		h.call("queue_instruction_with_ack", `{"content":"row"}`)
		instruction := h.call("queue_instruction_with_ack", `{"content":"sail","session_id":"s"}`).str("instruction_id")

		require.Len(t, h.ask("GET", "/api/tasks?status=AWAITING_RESPONSE&limit=1", "").requireOK().at("items"), 1)
		require.Empty(t, h.ask("GET", "/api/tasks?status=QUEUED", "").requireOK().at("items"))
		require.Len(t, h.ask("GET", "/api/awaiting", "").requireOK().at("items"), 1)
		require.Len(t, h.ask("GET", "/api/tasks/"+first+"/timeline?max_lines=1", "").requireOK().at("attempts"), 1)
		reply := "/api/tasks/" + h.taskThatAsks() + "/reply"
		o := h.ask("POST", reply, ` { "reply" : "elm \"{[" , "by":"me", "x-note": 1 } `+"\n").requireOK()
		require.Equal(t, "AWAITING_RESPONSE QUEUED", o.str("old_status")+" "+o.str("new_status"))
		require.Equal(t, `elm "{[`, h.ask("GET", strings.TrimSuffix(reply, "/reply"), "").requireOK().str("task.user_reply"))
		o = h.ask("POST", reply, `{"reply":"oak"}`).requireError(409, schema.AlreadyResolved)
		require.Equal(t, "QUEUED", o.str("error.data.details.status"))
		require.Equal(t, "CANCELLED", h.ask("POST", "/api/tasks/"+first+"/cancel", `{"reason":"no wood"}`).requireOK().str("task.status"))
		require.Equal(t, "QUEUED", h.ask("POST", "/api/tasks/"+first+"/retry", "").requireOK().str("task.status"))

		require.Len(t, h.ask("GET", "/api/instructions?state=queued&session_id=s", "").requireOK().at("items"), 1)
		one := h.ask("GET", "/api/instructions/"+instruction, "").requireOK().at("items").([]any)
		require.Len(t, one, 1)
		require.Equal(t, "sail", one[0].(map[string]any)["content"])
		h.ask("GET", "/api/instructions/"+instruction+"?state=queued", "").requireError(400, schema.InvalidParams)
		h.ask("GET", "/api/instructions/"+instruction+"?instruction_id=x", "").requireError(400, schema.DuplicateKey)
		require.Equal(t, "cancelled", h.ask("POST", "/api/instructions/"+instruction+"/cancel", "").requireOK().str("instruction.state"))
		require.Equal(t, "1", h.ask("POST", "/api/instructions/cancel", `{"session_id":"default","all":true}`).requireOK().str("cancelled"))
		require.Empty(t, h.ask("GET", "/api/instructions/failed", "").requireOK().at("items"))

		require.Len(t, h.ask("GET", "/api/plans", "").requireOK().at("items"), 1)
		require.Len(t, h.ask("GET", plan, "").requireOK().at("items"), 2)
		require.Len(t, h.ask("GET", plan+"/ready?limit=1", "").requireOK().at("ready"), 1)
		require.Equal(t, "in_progress", h.ask("POST", plan+"/items/1/status", `{"status":"in_progress"}`).requireOK().str("item.status"))
		h.ask("POST", plan+"/items/9/status", `{"status":"completed"}`).requireError(422, schema.ItemGone)

		run := h.ask("POST", plan+"/items/1/run", "").requireOK().str("run.run_id")
		require.Equal(t, run, h.ask("GET", plan+"/items/1/run", "").requireOK().str("run.run_id"))
		require.Equal(t, run, h.ask("GET", "/api/runs/"+run, "").requireOK().str("run_id"))
		etag := h.ask("GET", "/api/runs/"+run+"/ledger?kind=task", "").requireOK().str("etag")
		require.Equal(t, true, h.ask("GET", "/api/runs/"+run+"/ledger?kind=task&if_none_match="+url.QueryEscape(etag), "").requireOK().at("not_modified"))
		require.Contains(t, h.ask("POST", "/api/runs/"+run+"/prompt", `{"role":"worker"}`, "Idempotency-Key: k").requireOK().str("prompt"), "Build a boat")
		require.Equal(t, "0", h.ask("GET", "/api/runs/"+run+"/telemetry", "").requireOK().str("dispatch.prompts"), "a preview is not counted")
		h.ask("POST", "/api/runs/"+run+"/prompt", `{"role":"worker","preview":false}`).requireError(400, schema.DuplicateKey)
		require.Equal(t, run, h.ask("POST", "/api/runs/"+run+"/replan", `{"summary":"smaller","plan_items":["1"]}`).requireOK().str("run.run_id"))
		h.ask("GET", "/api/telemetry", "").requireOK()

		notices := h.ask("GET", "/api/notices", "").requireOK().at("items").([]any)
		require.NotEmpty(t, notices)
		notice := notices[0].(map[string]any)["notice_id"].(string)
		h.call("consume_notices", `{"notice_ids":["ntc_nobody"]}`) // behind a tally, if there were one
		handed := h.call("list_notices", `{"peek":true}`).at("items").([]any)[0].(map[string]any)
		require.Equal(t, "0", fmt.Sprint(handed["deliveries"]), "what a person looks at is not handed to a host")
		require.Equal(t, []any{notice}, h.ask("POST", "/api/notices/consume", `{"notice_ids":["`+notice+`"]}`).requireOK().at("consumed"))
		require.Len(t, h.ask("GET", "/api/log?cursor=0&types=task.created&types=task.retried", "").requireOK().at("events"), 3)
		require.Equal(t, first, h.ask("GET", "/api/explain?subject_id="+first, "").requireOK().str("subject"))
		require.Equal(t, "sqlite", h.ask("GET", "/api/status", "").requireOK().str("store.kind"))
		require.Equal(t, "1.3.2", h.ask("GET", "/api/openrpc", "").requireOK().str("openrpc"))
	})
}
