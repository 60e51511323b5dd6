package api_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/ledger"
	"waybill/schema"
	"waybill/store"
)

// preview gives what would be sent to a role.
func (h *host) preview(run, role string) object {
	h.t.Helper()
	return h.call("compile_prompt", `{"run_id": %q, "role": %q, "preview": true}`, run, role)
}

// noLastPrompt checks that nothing is known to have been given to a role.
func (h *host) noLastPrompt(run, role string) {
	h.t.Helper()
	shown := h.preview(run, role)
	shown.lacks("last_prompt")
	shown.lacks("last_prompt_lost")
}

// What was given last for a role is shown by a preview, which neither counts nor is kept itself.
func TestPreviewShowsTheLastPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newLasting()
		h, run := clocked(t, setup{store: st})
		h.noLastPrompt(run, "worker")
		h.noLastPrompt(run, "worker")
		h.telemetry(run).has(0, "dispatch.prompts")

		given := h.compile(run)
		given.lacks("last_prompt")
		shown := h.preview(run, "worker")
		shown.has(given.at("prompt"), "prompt")
		want := map[string]any{
			"prompt": given.at("prompt"), "compiled_at": shown.at("last_prompt.compiled_at"), "cursor": given.at("packet.cursor"),
			"prompt_version": ledger.PromptVersion, "prompt_tokens": given.at("prompt_tokens_after"),
		}
		shown.has(want, "last_prompt")
		require.NotEmpty(t, want["compiled_at"])
		h.noLastPrompt(run, "reviewer")
		h.telemetry(run).has(1, "dispatch.prompts")

		reviewer := h.call("compile_prompt", `{"run_id": %q, "role": "reviewer"}`, run)
		for _, role := range []string{"reviewer", "spec-reviewer"} {
			h.preview(run, role).has(reviewer.at("prompt"), "last_prompt.prompt")
		}
		h.preview(run, "implementer").has(want, "last_prompt")

		time.Sleep(time.Second)
		synctest.Wait()
		h.stop()
		other := newHost(t, setup{dir: h.dir, store: st}) // which knows only what is stored
		other.preview(run, "worker").has(want, "last_prompt")
		other.stop()
	})
}

// Many runs are given prompts in one second, and then a preview shows each of them what it was given last: not what
// was stored before that.
func TestPreviewAfterPromptsForManyRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		var plan strings.Builder
		for n := 1; n <= 70; n++ {
			fmt.Fprintf(&plan, "- [ ] %d. Piece\n", n)
		}
		h.write("tasks.md", plan.String(), time.Hour)
		var runs []string
		for n := 1; n <= 70; n++ {
			runs = append(runs, h.run(strconv.Itoa(n)))
		}
		h.compile(runs[0])
		time.Sleep(time.Second)
		synctest.Wait()
		for _, run := range runs {
			h.call("compile_prompt", `{"run_id": %q, "role": "worker", "task_prompt": "the newest"}`, run)
		}
		for _, run := range runs {
			require.Contains(t, h.preview(run, "worker").at("last_prompt.prompt"), "the newest")
		}
	})
}

// A preview of a prompt that cannot be made small enough is refused as the prompt is, and not counted.
func TestPreviewOfAnOverflowIsNotCounted(t *testing.T) {
	h, run := clocked(t, setup{})
	h.refused(schema.PromptOverflow, "compile_prompt",
		`{"run_id": %q, "role": "worker", "preview": true, "max_input_tokens": 100, "max_output_tokens": 90}`, run)
	h.telemetry(run).has(0, "dispatch.overflows")
}

// A prompt that is too large to be kept is given all the same, and no older one passes for it.
func TestLastPromptThatIsTooLarge(t *testing.T) {
	h, run := clocked(t, setup{})
	h.compile(run)
	h.call("compile_prompt", `{"run_id": %q, "role": "worker", "task_prompt": %q, "max_input_tokens": 1000000}`,
		run, strings.Repeat("word ", store.MaxPromptText/5))
	shown := h.preview(run, "worker")
	shown.has("too_large", "last_prompt_lost")
	shown.lacks("last_prompt")
	h.compile(run)
	h.preview(run, "worker").lacks("last_prompt_lost")
}

// TestFaultS4_DamagedPromptHoldsUpNoPreview: the prompt that was given last is not what was written. A preview
// says so, and shows what would be sent.
func TestFaultS4_DamagedPromptHoldsUpNoPreview(t *testing.T) {
	h, run := clocked(t, setup{store: spoiltPrompts{newLasting()}})
	shown := h.preview(run, "worker")
	shown.has("damaged", "last_prompt_lost")
	shown.lacks("last_prompt")
	shown.has(h.compile(run).at("prompt"), "prompt")
}

// spoiltPrompts is a store whose prompts are all damaged.
type spoiltPrompts struct{ *lasting }

func (s spoiltPrompts) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.lasting.View(ctx, func(tx store.Tx) error { return fn(spoiltPromptsTx{tx}) })
}

type spoiltPromptsTx struct{ store.Tx }

func (spoiltPromptsTx) Prompt(string, core.Role) (store.Prompt, bool, error) {
	return store.Prompt{}, false, &store.Error{Kind: store.Corrupt, Message: "the prompt is not what was written"}
}
