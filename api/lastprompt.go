package api

import (
	"context"
	"errors"

	"waybill/core"
	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

// keepPrompt stores the last prompt of a role of a run.
func keepPrompt(e *engine.Engine, run string, role core.Role, w *schema.CompilePromptResult) {
	e.KeepPrompt(store.Prompt{
		RunID: run, Role: role, At: e.Now(), Version: w.PromptVersion, Cursor: w.Packet.Cursor,
		Tokens: int64(w.PromptTokensAfter), Text: w.Prompt,
	})
}

// showLastPrompt adds the last prompt to a preview. A damaged one does not fail the preview.
func showLastPrompt(ctx context.Context, e *engine.Engine, run string, role core.Role, w *schema.CompilePromptResult) error {
	last, ok, err := e.LastPrompt(ctx, run, role)
	fault, failed := errors.AsType[*store.Error](err)
	switch {
	case failed && fault.Kind == store.Corrupt:
		w.LastPromptLost = "damaged"
	case err != nil:
		return err
	case ok && last.Text == "":
		w.LastPromptLost = "too_large"
	case ok:
		w.LastPrompt = &schema.LastPrompt{
			Prompt: last.Text, CompiledAt: wireTime(last.At), Cursor: last.Cursor,
			PromptVersion: last.Version, PromptTokens: last.Tokens,
		}
	}
	return nil
}
