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
	"waybill/prompt"
	"waybill/schema"
	"waybill/store"
)

// preview previews the prompt of a role.
func (h *host) preview(run, role string) object {
	h.t.Helper()
	return h.call("compile_prompt", `{"run_id": %q, "role": %q, "preview": true}`, run, role)
}

// noLastPrompt checks that a role has no last prompt.
func (h *host) noLastPrompt(run, role string) {
	h.t.Helper()
	shown := h.preview(run, role)
	shown.lacks("last_prompt")
	shown.lacks("last_prompt_lost")
}

// A preview shows the last prompt of a role. It is neither counted nor kept.
func TestPreviewShowsTheLastPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newSharedStore(t)
		h, run := hostWithClock(t, setup{store: st})
		h.noLastPrompt(run, "worker")
		h.noLastPrompt(run, "worker")
		h.telemetry(run).has(0, "dispatch.prompts")

		given := h.compile(run)
		given.lacks("last_prompt")
		shown := h.preview(run, "worker")
		shown.has(given.at("prompt"), "prompt")
		want := map[string]any{
			"prompt": given.at("prompt"), "compiled_at": shown.at("last_prompt.compiled_at"), "cursor": given.at("packet.cursor"),
			"prompt_version": prompt.PromptVersion, "prompt_tokens": given.at("prompt_tokens_after"),
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

// Previews of many runs show their last prompts before these are stored.
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

func TestPreviewOfAnOverflowIsNotCounted(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.refused(schema.PromptOverflow, "compile_prompt",
		`{"run_id": %q, "role": "worker", "preview": true, "max_input_tokens": 100, "max_output_tokens": 90}`, run)
	h.telemetry(run).has(0, "dispatch.overflows")
}

// A prompt that is too large to keep is returned, and no older one is shown as the last.
func TestLastPromptThatIsTooLarge(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.compile(run)
	h.call("compile_prompt", `{"run_id": %q, "role": "worker", "task_prompt": %q, "max_input_tokens": 1000000}`,
		run, strings.Repeat("word ", store.MaxPromptText/5))
	shown := h.preview(run, "worker")
	shown.has("too_large", "last_prompt_lost")
	shown.lacks("last_prompt")
	h.compile(run)
	h.preview(run, "worker").lacks("last_prompt_lost")
}

// A preview reports a damaged last prompt and shows the new one.
func TestPreviewWithDamagedLastPrompt(t *testing.T) {
	h, run := hostWithClock(t, setup{store: damagedPrompts{newSharedStore(t)}})
	shown := h.preview(run, "worker")
	shown.has("damaged", "last_prompt_lost")
	shown.lacks("last_prompt")
	shown.has(h.compile(run).at("prompt"), "prompt")
}

// damagedPrompts is a store whose prompts are all damaged.
type damagedPrompts struct{ *sharedStore }

func (s damagedPrompts) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.sharedStore.View(ctx, func(tx store.Tx) error { return fn(damagedPromptsTx{tx}) })
}

type damagedPromptsTx struct{ store.Tx }

func (damagedPromptsTx) Prompt(string, core.Role) (store.Prompt, bool, error) {
	return store.Prompt{}, false, &store.Error{Kind: store.Corrupt, Message: "the prompt is not what was written"}
}
