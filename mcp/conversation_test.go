package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"waybill/test/golden"

	"github.com/stretchr/testify/require"
)

// A transcript is what a model did and was told, with names in place of what differs from one run to the next.
type transcript struct {
	t     *testing.T
	g     *sdkClient
	text  bytes.Buffer
	names map[string]string
	count map[string]int
}

func newTranscript(t *testing.T, era string) (*harness, *transcript) {
	t.Helper()
	h := newHarness(t, setup{asleep: true})
	return h, &transcript{t: t, g: h.connect(era, nil), names: map[string]string{}, count: map[string]int{}}
}

var varying = regexp.MustCompile(`\b(ins|tsk|att|run|lease)_[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z|\b(rest|since)_[a-z0-9]{6}|\b[0-9a-f]{32,64}\b|(key:|their key) [A-Z2-7]{8}\b`)

// call calls a tool and records its answer.
func (tr *transcript) call(name, arguments string, values ...any) object {
	tr.t.Helper()
	r := tr.g.call(name, arguments, values...)
	fmt.Fprintf(&tr.text, "=== %s %s\n", name, tr.captured(fmt.Sprintf(arguments, values...)))
	for i, text := range texts(r) {
		fmt.Fprintf(&tr.text, "--- block %d%s\n%s\n", i+1, map[bool]string{true: " (error)"}[r.IsError], tr.captured(text))
	}
	if r.StructuredContent == nil {
		return nil
	}
	raw, err := json.MarshalIndent(r.StructuredContent, "", "  ")
	require.NoError(tr.t, err)
	fmt.Fprintf(&tr.text, "--- structured\n%s\n", tr.captured(string(raw)))
	o := structured(tr.t, r)
	requireFact(tr.t, map[string]any(o), strings.Join(texts(r), "\n"))
	return o
}

// requireFact checks that a text has all values of an object, because hosts show a model only one of the two.
func requireFact(t *testing.T, value any, text string) {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			require.Contains(t, text, strings.TrimSuffix(name, "_cursor"))
			requireFact(t, inner, text)
		}
	case []any:
		for _, inner := range v {
			requireFact(t, inner, text)
		}
	default:
		require.Contains(t, oneLine(text), oneLine(fmt.Sprint(v)))
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// captured puts names in place of what varies.
func (tr *transcript) captured(text string) string {
	return varying.ReplaceAllStringFunc(text, func(found string) string {
		if tr.names[found] == "" {
			kind, _, ok := strings.Cut(found, "_")
			switch {
			case strings.HasPrefix(found, "key: "), strings.HasPrefix(found, "their key "):
				return found[:strings.LastIndex(found, " ")] + " KEY"
			case strings.HasSuffix(found, "Z"):
				return "TIME"
			case !ok:
				kind = "hash"
			}
			tr.count[kind]++
			tr.names[found] = fmt.Sprintf("%s_%d", kind, tr.count[kind])
		}
		return tr.names[found]
	})
}

// plan writes a plan into the workspace.
func (h *harness) plan(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o644))
}

const clockPlan = `# Clock

- [x] 1. Cut the face
- [ ] 2. Make the hands
- [ ] 3. Wind it up
  - _Depends: 2_
`

func TestModelCanWorkThroughAPlan(t *testing.T) {
	h, tr := newTranscript(t, modern)
	h.plan("tasks.md", clockPlan)
	tr.call("ready_items", `{}`)
	tr.call("ready_items", `{"plan":"tasks.md"}`)
	run := tr.call("init_run", `{"plan":"tasks.md","item_id":"2"}`).str("run_id")
	tr.call("compile_prompt", `{"run_id":%q,"role":"worker"}`, run)
	tr.call("ingest_output", `{"run_id":%q,"role":"worker","output":"I think that it works."}`, run)
	tr.call("ingest_output", `{"run_id":%q,"role":"worker","output":%q}`, run,
		"role: worker\ntask_id: 2\nstatus: pass\ngit_range: a1..b2\nissues: none\nfiles_changed: hands.go")
	tr.call("init_run", `{"plan":"tasks.md","item_id":"9"}`)
	golden.Equal(t, "plan.txt", tr.text.String())
}

func TestModelCanWorkOnATask(t *testing.T) {
	_, tr := newTranscript(t, modern)
	tr.call("claim_task", `{}`)
	tr.call("create_task", `{"prompt":"Migrate the loans.","description":"loans"}`)
	claim := tr.call("claim_task", `{}`)
	id, token := claim.str("task_id"), claim.str("lease_token")
	tr.call("create_task", `{"prompt":"Check them.","depends_on":[%q]}`, id)
	tr.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"awaiting_response","output":"I looked.","question":"Keep the old column?"}`, id, token)
	tr.call("reply", `{}`)
	tr.call("reply", `{"task_id":%q}`, id)
	tr.call("reply", `{"task_id":%q,"reply":"Drop it."}`, id)
	tr.call("reply", `{"task_id":%q,"reply":"Keep it."}`, id)
	claim = tr.call("claim_task", `{"worker":"other"}`)
	tr.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"error","error":"429 Too Many Requests","error_class":"user"}`, id, claim.str("lease_token"))
	tr.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed"}`, id, token)
	tr.call("get_task", `{"task_id":%q}`, id)
	golden.Equal(t, "task.txt", tr.text.String())
}

func TestModelReceivesInstructions(t *testing.T) {
	_, tr := newTranscript(t, legacy)
	tr.call("dispatch_instructions", `{}`)
	id := tr.call("queue_instruction_with_ack", `{"content":"Run the tests.","max_retries":1}`).str("instruction_id")
	tr.call("queue_instruction_with_ack", `{"content":"Commit.\nThen push.","max_retries":0,"priority":true}`)
	tr.call("dispatch_instructions", `{}`)
	tr.call("acknowledge", `{"instruction_id":%q}`, id)
	tr.call("acknowledge", `{"instruction_id":%q}`, id)
	tr.call("dispatch_instructions", `{}`)
	tr.call("acknowledge", `{"instruction_id":"ins_nobody"}`)
	golden.Equal(t, "instructions.txt", tr.text.String())
}
