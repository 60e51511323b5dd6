package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A town is the content of a store after busy hours: things of every kind and in every state.
type town struct {
	asking, running, failed, retried string // tasks
	run                              string
	instruction                      string // that failed
}

const plan = `# A town clock

- [x] 1. Draw the face
  - Twelve hours, no numbers.
- [ ] 2. Build the works
  - [x] 2.1 Cut the wheels
    - _Requirements: 1.1, 1.2_
  - [-] 2.2 Fit the escapement
    - Files: works/escapement.md
  - [ ] 2.3 Hang the pendulum
    - _Depends: 2.2_
- [ ] 3. Ring the bell
  - _Depends: 2_
- [ ]* 4. Gild the hands
`

// settled returns a harness whose store is filled.
func settled(t *testing.T) (*harness, town) {
	t.Helper()
	t.Parallel()
	h := newHarness(t)
	return h, h.settle()
}

// settle fills the store.
func (h *harness) settle() town {
	h.t.Helper()
	var w town
	h.write("tasks.md", plan)
	h.write("specs/garden/tasks.md", "# Garden\n\n- [x] 1. Dig\n- [ ] 2. Sow\n")

	w.failed = h.failing()
	w.retried = h.recovering()
	w.asking = h.asks("Move the garden gate", "The hinges are on the left.\n\nShould the gate open to the street, or to the garden? If to the street, who tells the neighbours?")
	h.asks("Name the bell", "Which name shall be cast into the bell?")
	h.create(map[string]any{"prompt": "Oil the works of the clock.\n\nEvery wheel, and the pendulum.", "description": "Oil the works"})
	w.running = h.claim()
	h.create(map[string]any{"prompt": "Sweep the tower."})
	h.create(map[string]any{"prompt": "Wait for the sweeping.", "depends_on": []string{w.running}})

	h.call("queue_instruction", map[string]any{"content": "The mayor comes at noon."})
	h.call("queue_instruction_with_ack", map[string]any{
		"content": "Stop at the next full hour.", "session_id": "ses_clock", "max_retries": 1, "ack_on": map[string]any{"event_type": "stopped"},
	})
	for range 3 {
		h.call("dispatch_instructions", map[string]any{"session_id": "ses_clock"})
	}
	items := h.call("get_failed_instructions", nil)["items"].([]any)
	require.Len(h.t, items, 1)
	w.instruction = items[0].(map[string]any)["instruction_id"].(string)
	h.call("queue_instruction_with_ack", map[string]any{"content": "Say when the bell is hung.", "session_id": "ses_bell"})

	w.run = h.journey()
	return w
}

// failing returns a task that went through a chain of models and failed with all of them.
func (h *harness) failing() string {
	h.t.Helper()
	id := h.create(map[string]any{
		"prompt": "Wind the clock.", "description": "Wind the clock", "models": []map[string]any{{"provider_id": "acme", "model_id": "large"}, {"provider_id": "other", "model_id": "small"}},
		"parent_session_id": "ses_parent",
	})
	for range 2 {
		require.Equal(h.t, id, h.claim())
		h.finish(id, "error", map[string]any{"error": map[string]any{"class": "provider", "message": "503 service unavailable: the key is in the other coat"}})
	}
	return id
}

// recovering returns a task that failed at first, and was completed then.
func (h *harness) recovering() string {
	h.t.Helper()
	id := h.create(map[string]any{
		"prompt": "Polish the hands.", "models": []map[string]any{{"provider_id": "acme", "model_id": "large"}, {"provider_id": "other", "model_id": "small"}},
	})
	require.Equal(h.t, id, h.claim())
	h.finish(id, "error", map[string]any{"error": map[string]any{"class": "provider", "message": "overloaded"}})
	require.Equal(h.t, id, h.claim())
	h.finish(id, "completed", map[string]any{"output": "Both hands shine."})
	return id
}

// journey returns a run that a reviewer has sent back.
func (h *harness) journey() string {
	h.t.Helper()
	run := h.call("init_run", map[string]any{"plan": "tasks.md", "item_id": "2.2"})["run"].(map[string]any)["run_id"].(string)
	h.call("compile_prompt", map[string]any{"run_id": run, "role": "worker"})
	h.call("ingest_output", map[string]any{
		"run_id": run, "role": "worker",
		"output": "role: worker\ntask_id: 2.2\nstatus: pass\ngit_range: a1..b2\nissues: none\nfiles_changed: works/escapement.md\nconfidence: high\n",
	})
	h.call("report_check", map[string]any{
		"run_id": run, "check": "make-test", "outcome": "red", "exit_code": 2, "command": "make test", "output": "the anchor does not move\n",
	})
	h.call("ingest_output", map[string]any{
		"run_id": run, "role": "spec-reviewer",
		"output": "BEGIN_DISPATCH_RESULT\n{\"task_id\":\"2.2\",\"assessment\":\"needs_changes\",\"strengths\":[\"quiet\"]," +
			"\"issues\":[{\"severity\":\"important\",\"file\":\"works/escapement.md\",\"message\":\"The anchor is bent.\",\"fix\":\"Straighten it.\"}]," +
			"\"required_fixes\":[\"Straighten the anchor.\"]}\nEND_DISPATCH_RESULT\n",
	})
	return run
}
