package memory

import (
	"fmt"

	"waybill/core"
	"waybill/store"
)

// promptKey orders prompts by run and then by the name of the role.
func promptKey(runID string, role core.Role) string { return runID + "\x00" + role.String() }

func (t *tx) Prompt(runID string, role core.Role) (p store.Prompt, ok bool, err error) {
	if err := t.getting(); err != nil {
		return p, false, err
	}
	p, ok = t.state.prompts.get(promptKey(runID, role))
	return p, ok, nil
}

func (t *tx) PutPrompt(p store.Prompt) error {
	if err := t.putting(); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return fmt.Errorf("put prompt of run %q: %w", p.RunID, err)
	}
	if _, ok := t.state.runOrder.get(p.RunID); !ok {
		return fmt.Errorf("put prompt: there is no run %q", p.RunID)
	}
	t.state.prompts = t.state.prompts.put(promptKey(p.RunID, p.Role), p)
	t.writes++
	return nil
}

// prunePrompts removes at most limit prompts that are older than before, and gives how many.
func (s *state) prunePrompts(before core.Instant, limit int) int {
	old := oldest(s.prompts.all(), limit, func(p store.Prompt) (core.Instant, bool) { return p.At, p.At < before })
	for _, p := range old {
		s.prompts = s.prompts.remove(promptKey(p.RunID, p.Role))
	}
	return len(old)
}
