package engine

import (
	"context"

	"waybill/core"
	"waybill/store"
)

// The prompt that was given last for a role of a run is kept for who wants to see what has changed since. It
// is stored as counts are, and only the newest of a moment. One that could not be stored is not tried again,
// so that it takes no counts with it; this process goes on to know it until the next one.

// maxUnstored bounds the prompts that are only in memory. There are that many only while nothing is stored.
const maxUnstored = 64

// promptOf names what has one last prompt.
type promptOf struct {
	run  string
	role core.Role
}

// An unstoredPrompt was given and is not stored, or not yet.
type unstoredPrompt struct {
	store.Prompt
	tried bool // to store it
}

// KeepPrompt keeps a prompt that was given, soon, in the place of an older one for the same role of the same
// run. Of one with a text that no store keeps, the text is left out.
func (e *Engine) KeepPrompt(p store.Prompt) {
	if len(p.Text) > store.MaxPromptText {
		p.Text = ""
	}
	if err := p.Check(); err != nil {
		e.o.Logger.Debug("a prompt is not kept", "run", p.RunID, "err", err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	of := promptOf{p.RunID, p.Role}
	last, ok := e.prompts[of]
	if e.stopped || ok && last.At > p.At {
		return
	}
	if !ok && len(e.prompts) >= maxUnstored {
		delete(e.prompts, e.oldestPrompt())
	}
	e.prompts[of] = unstoredPrompt{Prompt: p}
	e.gather()
}

// oldestPrompt names the one of e.prompts that was given first. The caller holds e.mu, and there is one.
func (e *Engine) oldestPrompt() (oldest promptOf) {
	at := core.Instant(0)
	for of, p := range e.prompts {
		if oldest.run == "" || p.At < at {
			oldest, at = of, p.At
		}
	}
	return oldest
}

// untried gives the prompts that are to be stored. The caller holds e.mu.
func (e *Engine) untried() []store.Prompt {
	var list []store.Prompt
	for of, p := range e.prompts {
		if !p.tried {
			p.tried = true
			e.prompts[of] = p
			list = append(list, p.Prompt)
		}
	}
	return list
}

// forgetPrompts drops from memory what is stored by now, unless there is a newer one.
func (e *Engine) forgetPrompts(stored []store.Prompt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range stored {
		of := promptOf{p.RunID, p.Role}
		if e.prompts[of].Prompt == p {
			delete(e.prompts, of)
		}
	}
}

// LastPrompt gives the prompt that was given last for a role of a run; ok is false if none is known. Its Text
// is "" if it was too large to be kept. A store that has it, but damaged, says so with an error of kind
// store.Corrupt.
func (e *Engine) LastPrompt(ctx context.Context, run string, role core.Role) (p store.Prompt, ok bool, err error) {
	e.mu.Lock()
	unstored, ok := e.prompts[promptOf{run, role}]
	e.mu.Unlock()
	if ok {
		return unstored.Prompt, true, nil
	}
	err = e.View(ctx, func(tx store.Tx) (err error) {
		p, ok, err = tx.Prompt(run, role)
		return err
	})
	return p, ok, err
}
