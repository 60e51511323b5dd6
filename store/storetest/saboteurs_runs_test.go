package storetest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
	"waybill/store/storetest"
)

func runSaboteurs() map[string]sabotage {
	return map[string]sabotage{
		"the latest runs of a plan are those of its items, in order":      txs(func(tx store.Tx) store.Tx { return byRun{tx} }),
		"runs are listed by plan and state, the last first, page by page": txs(func(tx store.Tx) store.Tx { return byID{tx} }),
		"how a run stands comes back":                                     forgets(func(r *core.Run) { r.Sole = false }),
		"tallies add up, by run and over all runs":                        txs(func(tx store.Tx) store.Tx { return talliesOnce{tx} }),
		"tallies belong to a run, and have a plain name and no sign":      txs(func(tx store.Tx) store.Tx { return lenientTallies{tx} }),
		"a tally stops at the largest number":                             txs(func(tx store.Tx) store.Tx { return goesRound{tx} }),
		"prune leaves tallies alone":                                      prunesTallies,
		"the last prompt of each role of a run comes back":                txs(func(tx store.Tx) store.Tx { return firstPrompt{tx} }),
		"a prompt belongs to a run and a role, and has its limits":        txs(func(tx store.Tx) store.Tx { return cutsPrompts{tx} }),
		"prune removes old prompts, the oldest first":                     txs(func(tx store.Tx) store.Tx { return prunesNoPrompts{tx} }),
	}
}

// forgets gives a saboteur that forgets something of a run.
func forgets(something func(*core.Run)) sabotage {
	return txs(func(tx store.Tx) store.Tx { return forgetful{tx, something} })
}

type forgetful struct {
	store.Tx
	something func(*core.Run)
}

func (f forgetful) PutRun(run core.Run) error {
	f.something(&run)
	return f.Tx.PutRun(run)
}

// TestNothingOfARunIsForgotten: the law that how a run stands comes back fails for each single thing that a
// store may forget.
func TestNothingOfARunIsForgotten(t *testing.T) {
	laws := storetest.Laws()
	law := laws[slices.IndexFunc(laws, func(l storetest.Law) bool { return l.Name == "how a run stands comes back" })]
	for name, something := range map[string]func(*core.Run){
		"why it is blocked": func(r *core.Run) { r.Halt = "" },
		"its reviewers":     func(r *core.Run) { r.Policy.Reviewers &= core.RolesOf(core.Worker, core.SpecReviewer) },
		"the worker":        func(r *core.Run) { r.Standing[0] = core.Awaited },
		"a reviewer":        func(r *core.Run) { r.Standing[1] &= 3 },
		"the other":         func(r *core.Run) { r.Standing[2] = core.Awaited },
		"its host":          func(r *core.Run) { r.Sole = false },
		"who reported":      func(r *core.Run) { r.Named = false },
		"the newest issues": func(r *core.Run) { r.Findings[0].Last = "" },
		"those before":      func(r *core.Run) { r.Findings[1].Before = "" },
		"how often":         func(r *core.Run) { r.Findings[1].Same = 0 },
		"in turns":          func(r *core.Run) { r.Findings[0].Swaps = 0 },
		"whose they are":    func(r *core.Run) { r.Findings[0], r.Findings[1] = r.Findings[1], r.Findings[0] },
		"its frontier":      func(r *core.Run) { r.Frontier = "" },
	} {
		require.NotEmpty(t, breaches(t, law, place(forgets(something))), name)
	}
}

// byRun gives the latest runs by their own ids.
type byRun struct{ store.Tx }

func (b byRun) LatestRuns(plan string) ([]core.Run, error) {
	runs, err := b.Tx.LatestRuns(plan)
	slices.SortFunc(runs, func(a, b core.Run) int { return strings.Compare(a.ID, b.ID) })
	return runs, err
}

// byID gives each page of runs by their ids.
type byID struct{ store.Tx }

func (b byID) Runs(q store.RunQuery) ([]core.Run, error) {
	runs, err := b.Tx.Runs(q)
	slices.SortFunc(runs, func(a, b core.Run) int { return strings.Compare(b.ID, a.ID) })
	return runs, err
}

// TestListsOfRunsAreSelected: the law of the lists of runs fails for a store that heeds only a part of a query.
func TestListsOfRunsAreSelected(t *testing.T) {
	laws := storetest.Laws()
	law := laws[slices.IndexFunc(laws, func(l storetest.Law) bool { return strings.HasPrefix(l.Name, "runs are listed") })]
	for name, bend := range map[string]func(*store.RunQuery){
		"the plan":  func(q *store.RunQuery) { q.Plan = "" },
		"the state": func(q *store.RunQuery) { q.State = "" },
		"the place": func(q *store.RunQuery) { q.Behind = "" },
		"the limit": func(q *store.RunQuery) { q.Limit = max(q.Limit, manyMore) },
	} {
		bent := txs(func(tx store.Tx) store.Tx { return bentRuns{tx, bend} })
		require.NotEmpty(t, breaches(t, law, place(bent)), name)
	}
}

const manyMore = 10_000

type bentRuns struct {
	store.Tx
	bend func(*store.RunQuery)
}

func (b bentRuns) Runs(q store.RunQuery) ([]core.Run, error) {
	b.bend(&q)
	return b.Tx.Runs(q)
}

// talliesOnce adds each name once in a call.
type talliesOnce struct{ store.Tx }

func (o talliesOnce) AddTallies(runID string, counts []store.Tally) error {
	names := make(map[string]bool)
	return o.Tx.AddTallies(runID, slices.DeleteFunc(slices.Clone(counts), func(c store.Tally) bool {
		twice := names[c.Name]
		names[c.Name] = true
		return twice
	}))
}

// lenientTallies adds what can be added.
type lenientTallies struct{ store.Tx }

func (l lenientTallies) AddTallies(runID string, counts []store.Tally) error {
	var errs []error
	for _, c := range counts {
		errs = append(errs, l.Tx.AddTallies(runID, []store.Tally{c}))
	}
	return errors.Join(errs...)
}

// goesRound adds up as computers do.
type goesRound struct{ store.Tx }

func (g goesRound) Tallies(runID string) ([]store.Tally, error) {
	if runID != "" {
		return g.Tx.Tallies(runID)
	}
	r, err := g.Tx.Tallies("r")
	if err != nil {
		return nil, err
	}
	other, err := g.Tx.Tallies("other")
	r[0].N += other[0].N
	return r, err
}

// prunesTallies shows no tally any more once Prune was called.
func prunesTallies(s store.Store) store.Store {
	pruned := new(bool)
	return txs(func(tx store.Tx) store.Tx { return uncounted{gone{tx, pruned}} })(s)
}

type uncounted struct{ gone }

func (u uncounted) Tallies(runID string) ([]store.Tally, error) {
	if *u.pruned {
		return nil, nil
	}
	return u.Tx.Tallies(runID)
}

// firstPrompt keeps the prompt that was put first.
type firstPrompt struct{ store.Tx }

func (f firstPrompt) PutPrompt(p store.Prompt) error {
	if _, ok, err := f.Prompt(p.RunID, p.Role); ok || err != nil {
		return err
	}
	return f.Tx.PutPrompt(p)
}

// cutsPrompts keeps as much of a prompt as there is room for.
type cutsPrompts struct{ store.Tx }

func (c cutsPrompts) PutPrompt(p store.Prompt) error {
	p.Text = p.Text[:min(len(p.Text), store.MaxPromptText)]
	return c.Tx.PutPrompt(p)
}

// prunesNoPrompts finds prompts that were pruned.
type prunesNoPrompts struct{ store.Tx }

func (n prunesNoPrompts) Prune(before core.Instant, limit int) (int, error) {
	var kept []store.Prompt
	for role := core.Worker; role <= core.Roles; role++ {
		if p, ok, _ := n.Prompt("r", role); ok {
			kept = append(kept, p)
		}
	}
	removed, err := n.Tx.Prune(before, limit)
	for _, p := range kept {
		err = errors.Join(err, n.PutPrompt(p))
	}
	return removed, err
}

// TestEachPartOfAPromptComesBack: the law of prompts fails for each single thing that a store may forget.
func TestEachPartOfAPromptComesBack(t *testing.T) {
	laws := storetest.Laws()
	law := laws[slices.IndexFunc(laws, func(l storetest.Law) bool { return l.Name == "the last prompt of each role of a run comes back" })]
	for name, forget := range map[string]func(*store.Prompt){
		"when":    func(p *store.Prompt) { p.At = 0 },
		"version": func(p *store.Prompt) { p.Version = "" },
		"cursor":  func(p *store.Prompt) { p.Cursor = "" },
		"tokens":  func(p *store.Prompt) { p.Tokens = 0 },
		"end":     func(p *store.Prompt) { p.Text, _, _ = strings.Cut(p.Text, "\x00") },
	} {
		require.NotEmpty(t, breaches(t, law, place(txs(func(tx store.Tx) store.Tx { return forgetsOfPrompts{tx, forget} }))), name)
	}
}

type forgetsOfPrompts struct {
	store.Tx
	something func(*store.Prompt)
}

func (f forgetsOfPrompts) PutPrompt(p store.Prompt) error {
	f.something(&p)
	return f.Tx.PutPrompt(p)
}
