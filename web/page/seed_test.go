package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A town is the content of a store after busy hours: what the pictures show, and things in every other state.
type town struct {
	*story
	failed, instruction string // a task and an instruction
}

// settled returns a harness whose store is filled.
func settled(t *testing.T) (*harness, town) {
	t.Helper()
	t.Parallel()
	h := town{story: newStory(t, true)}
	h.write("specs/garden/tasks.md", "# Garden\n\n- [x] 1. Dig\n- [ ] 2. Sow\n")
	h.failed = h.failing()
	h.create(map[string]any{"prompt": "Sweep the tower."})
	h.create(map[string]any{"prompt": "Wait for the sweeping.", "depends_on": []string{h.running}})

	h.call("queue_instruction", map[string]any{"content": "The mayor comes at noon."})
	h.call("queue_instruction_with_ack", map[string]any{
		"content": "Stop at the next full hour.", "session_id": "ses_clock", "max_retries": 1, "ack_on": map[string]any{"event_type": "stopped"},
	})
	for range 3 {
		h.call("dispatch_instructions", map[string]any{"session_id": "ses_clock"})
	}
	items := h.call("get_failed_instructions", nil)["items"].([]any)
	require.Len(t, items, 1)
	h.instruction = items[0].(map[string]any)["instruction_id"].(string)
	h.call("queue_instruction_with_ack", map[string]any{"content": "Say when the bell is hung.", "session_id": "ses_bell"})
	return h.harness, h
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
