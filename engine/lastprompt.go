package engine

import (
	"context"

	"waybill/core"
	"waybill/store"
)

// The engine keeps the last prompt of each role of a run, so that a preview can show what changed since. Prompts are
// stored together with the tallies, in a commit of their own. A prompt that cannot be stored stays in memory and is
// not tried again.

// maxUnstoredText bounds the bytes of prompts in memory. Beyond it, the oldest lose their texts. The entries stay, so
// that an older stored prompt is not returned in their place.
const maxUnstoredText = 64 << 20

// promptOf is the key of a last prompt.
type promptOf struct {
	run  string
	role core.Role
}

// An unstoredPrompt is a prompt that is not stored, or not yet.
type unstoredPrompt struct {
	store.Prompt
	number int64 // the order of KeepPrompt calls, which does not depend on the clock
	tried  bool  // a commit was submitted
}

// size returns the bytes that count towards maxUnstoredText.
func (p unstoredPrompt) size() int { return len(p.Text) + len(p.Cursor) }

// unstoredPrompts are the last prompts that are not stored. They are guarded by Engine.mu.
type unstoredPrompts struct {
	of    map[promptOf]unstoredPrompt
	size  int   // the sum of their sizes
	given int64 // the number of all prompts, stored or not
}

// put replaces the prompt of the same role and run.
func (u *unstoredPrompts) put(p store.Prompt) {
	u.given++
	u.set(unstoredPrompt{Prompt: p, number: u.given})
	for u.size > maxUnstoredText {
		first := u.first()
		first.Text, first.Cursor = "", ""
		u.set(first)
	}
}

func (u *unstoredPrompts) set(p unstoredPrompt) {
	of := promptOf{p.RunID, p.Role}
	u.size += p.size() - u.of[of].size()
	u.of[of] = p
}

// clear removes all prompts.
func (u *unstoredPrompts) clear() { u.of, u.size = map[promptOf]unstoredPrompt{}, 0 }

// first returns the oldest prompt that has a text. There must be one.
func (u *unstoredPrompts) first() (first unstoredPrompt) {
	for _, p := range u.of {
		if p.size() > 0 && (first.number == 0 || p.number < first.number) {
			first = p
		}
	}
	return first
}

// drop removes a prompt unless a newer one replaced it.
func (u *unstoredPrompts) drop(p unstoredPrompt) {
	of := promptOf{p.RunID, p.Role}
	if last := u.of[of]; last.number == p.number {
		u.size -= last.size()
		delete(u.of, of)
	}
}

// untried returns the prompts that must be stored, and marks them as tried.
func (u *unstoredPrompts) untried() (list []unstoredPrompt) {
	for _, p := range u.of {
		if !p.tried {
			p.tried = true
			u.set(p)
			list = append(list, p)
		}
	}
	return list
}

// KeepPrompt stores a prompt soon, in place of the last one of the same role and run. A text that is too large for
// the store is left out.
func (e *Engine) KeepPrompt(p store.Prompt) {
	e.meters.prompts.Observe(int64(len(p.Text)))
	if len(p.Text) > store.MaxPromptText {
		p.Text = ""
	}
	if err := p.Check(); err != nil {
		e.o.Logger.Debug("a prompt is not kept", "run", p.RunID, "err", err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.changes.Stopped() {
		return
	}
	e.prompts.put(p)
	e.scheduleStore()
}

// storePrompts submits the prompts that must be stored. Prompts are large, so they get a commit of their own in case
// the disk has no room.
func (e *Engine) storePrompts() {
	e.mu.Lock()
	prompts := e.prompts.untried()
	e.mu.Unlock()
	if len(prompts) == 0 {
		return
	}
	apply := func(tx *Tx) (any, error) {
		for _, p := range prompts {
			if err := tx.PutPrompt(p.Prompt); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	e.Submit(context.Background(), Change{Apply: apply, Alone: true}, func(_ any, err error) {
		if err != nil {
			e.o.Logger.Debug("prompts were not stored", "err", err)
			return
		}
		e.forgetPrompts(prompts)
	})
}

// forgetPrompts removes stored prompts from memory.
func (e *Engine) forgetPrompts(stored []unstoredPrompt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range stored {
		e.prompts.drop(p)
	}
}

// LastPrompt returns the last prompt of a role of a run, if one is known. Its Text is "" if it was too large to keep.
// A damaged record is an error of kind store.Corrupt.
func (e *Engine) LastPrompt(ctx context.Context, run string, role core.Role) (p store.Prompt, ok bool, err error) {
	e.mu.Lock()
	unstored, ok := e.prompts.of[promptOf{run, role}]
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
