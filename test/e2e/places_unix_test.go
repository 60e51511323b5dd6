//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/slow"
)

// A plan appears while the program runs, where nothing had been: nobody asks for it, and its changes are told.
func TestPlanThatAppearsIsWatched(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	for plan, args := range map[string][]string{
		".kiro/specs/new/tasks.md": nil, "docs/plans/2026-01-05-new.md": nil, "specs/007-new/tasks.md": {"--poll"},
	} {
		t.Run(plan, func(t *testing.T) {
			w := newWorld(t)
			p := w.serve(t, args...)
			p.must("get_plan", `{"plan":"tasks.md"}`, nil)
			text := "# Plan\n\n- [ ] 1. First\n"
			for round := 2; !p.told(w, plan, fmt.Sprint(90+round)); round++ {
				require.Less(t, round, 50, "nobody noticed the plan")
				text += fmt.Sprintf("- [ ] %d. Another one\n", round)
				w.put(t, plan, text)
			}
			require.NoError(t, os.RemoveAll(filepath.Dir(filepath.Join(w.workspace, plan))))
			p.await(plan, func(n schema.LedgerNote) bool { return n.Gone })
			w.put(t, plan, "- [ ] 1. First\n- [ ] 99. Last\n")
			p.await(plan, func(n schema.LedgerNote) bool { return !n.Gone })
		})
	}
}

func (w world) put(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(w.workspace, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// told reports whether a change of the plan is told of before one that is made now in another.
func (p *peer) told(w world, plan, marker string) (told bool) {
	p.t.Helper()
	w.edit(p.t, marker)
	p.await("tasks.md", func(n schema.LedgerNote) bool {
		return slices.Contains(n.ChangedIDs, marker)
	}, func(n schema.LedgerNote) { told = told || n.Plan == plan })
	return told
}

// await passes over everything until a change of the plan is told of that is the one which is meant.
func (p *peer) await(plan string, meant func(schema.LedgerNote) bool, others ...func(schema.LedgerNote)) {
	p.t.Helper()
	for {
		line, err := p.out.ReadBytes('\n')
		require.NoError(p.t, err)
		var note struct {
			Method string            `json:"method"`
			Params schema.LedgerNote `json:"params"`
		}
		require.NoError(p.t, json.Unmarshal(line, &note))
		if note.Method != "ledger/changed" {
			continue
		}
		for _, see := range others {
			see(note.Params)
		}
		if note.Params.Plan == plan && meant(note.Params) {
			return
		}
	}
}
