package engine

import (
	"context"

	"waybill/core"
	"waybill/store"
)

// The prompt that was given last for a role of a run is kept for who wants to see what has changed since. It
// is stored when counts are, and only the newest of a moment, in a commit that it shares with nothing else. One
// that could not be stored is not tried again; this process goes on to know it until the next one.

// maxUnstoredText bounds the bytes of the prompts that are only in memory. Beyond it the texts go of those that
// were given first. That they were given stays known, so that no older one which is stored passes for one of
// them; there are no more of these than runs have roles.
const maxUnstoredText = 64 << 20

// promptOf names what has one last prompt.
type promptOf struct {
	run  string
	role core.Role
}

// An unstoredPrompt was given and is not stored, or not yet.
type unstoredPrompt struct {
	store.Prompt
	number int64 // in the order in which they were given, which a clock that is set back does not change
	tried  bool  // to store it
}

// size is what counts towards maxUnstoredText.
func (p unstoredPrompt) size() int { return len(p.Text) + len(p.Cursor) }

// unstoredPrompts are the last ones that were given and are not stored, or not yet. They are guarded by Engine.mu.
type unstoredPrompts struct {
	of    map[promptOf]unstoredPrompt
	size  int   // the sum of theirs
	given int64 // counts those that were given, stored or not
}

// put takes a prompt in, in the place of an older one for the same role of the same run.
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

// clear forgets all that were given so far.
func (u *unstoredPrompts) clear() { u.of, u.size = map[promptOf]unstoredPrompt{}, 0 }

// first gives the one with a text that was given first; there is one.
func (u *unstoredPrompts) first() (first unstoredPrompt) {
	for _, p := range u.of {
		if p.size() > 0 && (first.number == 0 || p.number < first.number) {
			first = p
		}
	}
	return first
}

// drop forgets a prompt, unless there is a newer one.
func (u *unstoredPrompts) drop(p unstoredPrompt) {
	of := promptOf{p.RunID, p.Role}
	if last := u.of[of]; last.number == p.number {
		u.size -= last.size()
		delete(u.of, of)
	}
}

// untried gives the prompts that are to be stored.
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

// KeepPrompt keeps a prompt that was given, soon, in the place of the one for the same role of the same run that
// it was called with before, whatever their times are. Of one with a text that no store keeps, the text is left out.
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
	if e.stopped {
		return
	}
	e.prompts.put(p)
	e.gather()
}

// storePrompts submits the prompts that are to be stored, behind the counts. They are large, so that they may be what
// a disk has no room for, and then they take nothing with them.
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

// forgetPrompts drops from memory what is stored by now.
func (e *Engine) forgetPrompts(stored []unstoredPrompt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range stored {
		e.prompts.drop(p)
	}
}

// LastPrompt gives the prompt that was given last for a role of a run; ok is false if none is known. Its Text
// is "" if it was too large to be kept, by itself or together with others. A store that has it, but damaged, says
// so with an error of kind store.Corrupt.
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
