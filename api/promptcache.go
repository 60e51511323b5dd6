package api

import (
	"context"
	"errors"
	"sync"

	"waybill/api/entity"
	"waybill/core"
	"waybill/engine"
	"waybill/prompt"
	"waybill/schema"
	"waybill/store"
)

// maxCached bounds the cached prompts, and maxCachedBytes the size of each in bytes.
const (
	maxCached      = 64
	maxCachedBytes = 64 << 10
)

// A promptKey holds everything that a worker's prompt depends on. Prompts of reviewers are not cached, because their
// criteria are in other files.
type promptKey struct {
	stamp         engine.Stamp
	taskPrompt    string
	since         string
	output, input int
	tokenizer     string
	blocks        bool
}

// A promptCache holds compiled prompts, so that a repeated call does not compile again. The zero value is empty.
type promptCache struct {
	mu  sync.Mutex // guards all
	all map[promptKey]compilation
}

// A compilation is a compiled prompt and its answer. Both are immutable.
type compilation struct {
	compiled prompt.Compiled
	answer   *schema.CompilePromptResult
}

// cacheKey returns the cache key of a call, if its prompt may be cached.
func cacheKey(view engine.RunView, role core.Role, l limits, p *schema.CompilePromptParams) (promptKey, bool) {
	stamp, ok := view.Stamp()
	if !ok || role.Reviewer() || p.Preview || p.Compaction != nil {
		return promptKey{}, false
	}
	return promptKey{
		stamp: stamp, taskPrompt: p.TaskPrompt, since: p.Since, output: l.output, input: l.input,
		tokenizer: l.tokenizer, blocks: p.Blocks,
	}, true
}

func (m *promptCache) get(key promptKey) (compilation, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.all[key]
	return c, ok
}

func (m *promptCache) put(key promptKey, c compilation) {
	if len(c.compiled.Prompt)+len(key.taskPrompt)+len(key.since) > maxCachedBytes {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil || len(m.all) >= maxCached {
		m.all = make(map[promptKey]compilation)
	}
	m.all[key] = c
}

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
			Prompt: last.Text, CompiledAt: entity.Time(last.At), Cursor: last.Cursor,
			PromptVersion: last.Version, PromptTokens: last.Tokens,
		}
	}
	return nil
}
