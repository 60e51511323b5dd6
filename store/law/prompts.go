package law

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/run"
	"waybill/store"
)

func promptLaws() []Law {
	return []Law{
		law("the last prompt of each role of a run comes back", promptsReplaced),
		law("a prompt belongs to a run and a role, and has its limits", promptsRefused),
		law("prune removes old prompts, the oldest first", promptsPruned),
	}
}

// prompt returns the prompt for a role of a run.
func prompt(runID string, role core.Role) store.Prompt {
	return store.Prompt{
		RunID: runID, Role: role, At: start, Version: "1", Cursor: "c1." + runID, Tokens: 1200,
		Text: "ask " + role.String() + " of " + runID,
	}
}

func requirePrompt(t T, tx store.Tx, want store.Prompt) {
	t.Helper()
	got, ok, err := tx.Prompt(want.RunID, want.Role)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, got)
}

func requireNoPrompt(t T, tx store.Tx, runID string, role core.Role) {
	t.Helper()
	_, ok, err := tx.Prompt(runID, role)
	require.NoError(t, err)
	require.False(t, ok)
}

func promptsReplaced(t T, s store.Store) {
	first, other, elsewhere := prompt("r", core.Worker), prompt("r", core.SpecReviewer), prompt("other", core.Worker)
	next := store.Prompt{RunID: "r", Role: core.Worker, At: start - day, Version: "2", Text: "whole\x00\r\n\u2028 and \x1b[1m all"}
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(newRun("r", "1")))
		require.NoError(t, tx.PutRun(newRun("other", "2")))
		requireNoPrompt(t, tx, "r", core.Worker)
		for _, p := range []store.Prompt{first, other, elsewhere} {
			require.NoError(t, tx.PutPrompt(p))
		}
		requirePrompt(t, tx, first)
	})
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(standing(newRun("r", "1"), run.HaltStalled)), "it keeps its prompts")
		require.NoError(t, tx.PutPrompt(next))
	})
	view(t, s, func(tx store.Tx) {
		for _, p := range []store.Prompt{next, other, elsewhere} {
			requirePrompt(t, tx, p)
		}
		requireNoPrompt(t, tx, "r", core.CodeQualityReviewer)
		requireNoPrompt(t, tx, "no such run", core.Worker)
		requireNoPrompt(t, tx, "r", 0)
	})
}

func promptsRefused(t T, s store.Store) {
	kept := prompt("r", core.Worker)
	kept.Text, kept.Version = strings.Repeat("é", store.MaxPromptText/2), strings.Repeat("v", 64)
	update(t, s, func(tx store.Tx) {
		require.Error(t, tx.PutPrompt(kept))
		require.NoError(t, tx.PutRun(newRun("r", "1")))
		require.NoError(t, tx.PutPrompt(kept))
		for name, wrong := range map[string]func(*store.Prompt){
			"another run":    func(p *store.Prompt) { p.RunID = "other" },
			"no role":        func(p *store.Prompt) { p.Role = 0 },
			"a strange role": func(p *store.Prompt) { p.Role = core.Roles + 1 },
			"a long text":    func(p *store.Prompt) { p.Text += "x" },
			"a long cursor":  func(p *store.Prompt) { p.Cursor = p.Text + "x" },
			"a long version": func(p *store.Prompt) { p.Version += "v" },
			"a debt":         func(p *store.Prompt) { p.Tokens = -1 },
		} {
			p := kept
			wrong(&p)
			require.Error(t, tx.PutPrompt(p), name)
		}
	})
	view(t, s, func(tx store.Tx) { requirePrompt(t, tx, kept) })
}

func promptsPruned(t T, s store.Store) {
	all := []store.Prompt{prompt("r", core.Worker), prompt("r", core.SpecReviewer), prompt("other", core.Worker)}
	for i, days := range []core.Instant{2, 1, 3} {
		all[i].At = start + days*day
	}
	prune := func(before core.Instant, want int) {
		update(t, s, func(tx store.Tx) {
			n, err := tx.Prune(before, 1)
			require.NoError(t, err)
			require.Equal(t, want, n)
		})
	}
	update(t, s, func(tx store.Tx) {
		require.NoError(t, tx.PutRun(newRun("r", "1")))
		require.NoError(t, tx.PutRun(newRun("other", "2")))
		for _, p := range all {
			require.NoError(t, tx.PutPrompt(p))
		}
	})
	prune(start+day, 0)
	prune(start+9*day, 1)
	view(t, s, func(tx store.Tx) {
		requireNoPrompt(t, tx, "r", core.SpecReviewer)
		requirePrompt(t, tx, all[0])
	})
	prune(start+3*day, 1)
	prune(start+3*day, 0)
	view(t, s, func(tx store.Tx) {
		requireNoPrompt(t, tx, "r", core.Worker)
		requirePrompt(t, tx, all[2])
	})
}

// allPrompts returns the prompts of a run by role.
func allPrompts(tx store.Tx, runID string) (all []store.Prompt, err error) {
	for role := core.Worker; role <= core.Roles; role++ {
		p, ok, failed := tx.Prompt(runID, role)
		if ok {
			all = append(all, p)
		}
		err = errors.Join(err, failed)
	}
	return all, err
}

func drawPutPrompt(t *rapid.T) verb {
	p := store.Prompt{
		RunID: drawID(t, "run"), Role: core.Role(rapid.IntRange(0, core.Roles+1).Draw(t, "role")), At: drawInstant(t),
		Version: rapid.SampledFrom([]string{"", "1", strings.Repeat("v", 65)}).Draw(t, "version"),
		Cursor:  rapid.StringN(0, 8, 40).Draw(t, "cursor"), Tokens: rapid.Int64Range(-1, 50).Draw(t, "tokens"),
		Text: rapid.StringN(0, 8, 40).Draw(t, "text"),
	}
	return verb{fmt.Sprintf("PutPrompt %+v", p), func(tx store.Tx) string { return answer(tx.PutPrompt(p)) }}
}
