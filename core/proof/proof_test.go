package proof_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core/proof"
	"waybill/test/golden"
)

func names(t rapid.TB, list ...string) proof.Names {
	n, err := proof.ParseNames(list...)
	require.NoError(t, err)
	return n
}

func after(t rapid.TB, p proof.Proof, events ...proof.Event) proof.Proof {
	for _, event := range events {
		next, _, err := p.Step(event)
		require.NoError(t, err)
		p = next
	}
	return p
}

// on returns a receipt of the first round for files that did not change while the check ran.
func on(tree, check string, outcome proof.Outcome) proof.Receipt {
	return proof.Receipt{Check: check, Round: 1, Outcome: outcome, Before: tree, After: tree}
}

func take(r proof.Receipt) proof.Take { return proof.Take{Receipt: r} }

func TestProofMatrix(t *testing.T) {
	required := after(t, proof.Proof{Required: names(t, "lint", "test")}, proof.Submit{})
	facts := after(t, proof.Proof{Required: names(t, proof.Facts)}, proof.Submit{})
	half := after(t, required, take(on("A", "test", proof.Green)))
	proven := after(t, half, take(on("A", "lint", proof.Green)))
	unbound, protected := on("", "lint", proof.Green), on("A", "lint", proof.Protected)
	notRun := on("", "lint", proof.NotRun)
	situations := []struct {
		name string
		p    proof.Proof
	}{
		{"nothing required", after(t, proof.Proof{}, proof.Submit{})},
		{"facts required", facts},
		{"facts required, one is false", after(t, facts, take(on("A", proof.Facts, proof.Red)))},
		{"facts required, they hold", after(t, facts, take(on("A", proof.Facts, proof.Green)))},
		{"no receipt", required},
		{"one of two green", half},
		{"one of two red", after(t, required, take(on("A", "test", proof.Red)))},
		{"proven", proven},
		{"proven, one without a tree", after(t, half, take(unbound))},
		{"a protected file changed", after(t, half, take(protected))},
		{"one not trusted", after(t, half, take(notRun))},
		{"files changed", after(t, proven, proof.Look{Tree: "B"})},
	}
	changing, late, lateOther, other := on("A", "lint", proof.Green), on("A", "lint", proof.Green), on("B", "lint", proof.Green), on("A", "other", proof.Green)
	changing.After, late.Round, lateOther.Round = "B", 0, 0
	events := []struct {
		name  string
		event proof.Event
	}{
		{"submit", proof.Submit{}},
		{"lint green on A", take(on("A", "lint", proof.Green))},
		{"lint green on B", take(on("B", "lint", proof.Green))},
		{"lint red on A", take(on("A", "lint", proof.Red))},
		{"lint green without a tree", take(unbound)},
		{"lint green, but a protected file changed", take(protected)},
		{"lint not run, not trusted", take(notRun)},
		{"lint green, files changed while it ran", take(changing)},
		{"lint green on A, of an earlier round", take(late)},
		{"lint green on B, of an earlier round", take(lateOther)},
		{"a check that is not required", take(other)},
		{"facts false", take(on("A", proof.Facts, proof.Red))},
		{"facts true", take(on("A", proof.Facts, proof.Green))},
		{"look at A", proof.Look{Tree: "A"}},
		{"look at B", proof.Look{Tree: "B"}},
		{"look, no tree", proof.Look{}},
		{"a person accepts", proof.Accept{}},
	}
	var b strings.Builder
	for _, s := range situations {
		fmt.Fprintf(&b, "%s: %s\n", s.name, show(s.p))
		for _, e := range events {
			next, effects, err := s.p.Step(e.event)
			require.NoError(t, err)
			result := "unchanged"
			if next != s.p {
				result = show(next)
			}
			if len(effects) > 0 {
				result += ", counts"
			}
			fmt.Fprintf(&b, "  %-42s %s\n", e.name, result)
		}
	}
	golden.Equal(t, "matrix.golden", b.String())
}

func show(p proof.Proof) string {
	text := p.State().String()
	if due := p.Due(); due != "" {
		text += ", due " + string(due)
	}
	return text
}

func TestAReceiptNeedsTheNameOfACheck(t *testing.T) {
	for _, name := range []string{"", "a b", "a,b", "../a", "é", strings.Repeat("a", 129)} {
		_, _, err := proof.Proof{}.Step(take(on("A", name, proof.Green)))
		require.ErrorIs(t, err, proof.ErrNoCheck, name)
		_, err = proof.ParseNames("ok", name)
		require.Error(t, err, name)
	}
	n := names(t, "b", "a.1", "b")
	require.Equal(t, []string{"a.1", "b"}, n.List())
	require.True(t, n.Has("b"))
	require.False(t, n.Has("a"))
}

// A model keeps the last receipt of each check and judges it when it is asked.
type model struct {
	round   int
	tree    string
	last    map[string]proof.Receipt
	spent   map[string]bool // checks whose last receipt no longer counts
	unbound bool            // a receipt since the files were last unknown had no tree
	counted bool
}

// moved makes every receipt stale.
func (m *model) moved() {
	for check, r := range m.last {
		m.spent[check] = m.spent[check] || r.Outcome != proof.NotRun
	}
	m.tree, m.unbound = "", false
}

// step reports whether the event counts as a failure.
func (m *model) step(event proof.Event, required []string) bool {
	switch e := event.(type) {
	case proof.Submit:
		*m = model{round: m.round + 1, last: map[string]proof.Receipt{}, spent: map[string]bool{}}
	case proof.Accept:
		for check, r := range m.last {
			switch {
			case r.Outcome == proof.Protected:
				r.Outcome = proof.Green
				m.last[check] = r
			case r.Outcome != proof.Green && !m.spent[check]:
				delete(m.last, check)
			}
		}
		m.counted = false
	case proof.Look:
		if e.Tree == "" || e.Tree != m.tree || m.unbound {
			m.moved()
		}
	case proof.Take:
		return m.take(e.Receipt, required)
	}
	return false
}

func (m *model) take(r proof.Receipt, required []string) bool {
	exact := m.tree != "" && r.Before == m.tree && r.After == m.tree
	if r.Round != m.round && !exact || !slices.Contains(required, r.Check) {
		return false
	}
	if m.tree != "" && r.After != "" && m.tree != r.After {
		m.moved()
	}
	if r.Before == r.After && r.After != "" {
		m.tree = r.After
	}
	if r.Before == "" && r.After == "" && r.Outcome != proof.NotRun {
		m.unbound = true
	}
	m.last[r.Check], m.spent[r.Check] = r, r.Before != r.After
	if r.Outcome != proof.Red || m.spent[r.Check] || m.counted {
		return false
	}
	m.counted = true
	return true
}

// state finds the worst of the receipts.
func (m *model) state(required []string) proof.State {
	missing, stale, asked, refuted, commands := false, false, false, false, false
	for _, check := range required {
		r, ok := m.last[check]
		commands = commands || check != proof.Facts
		switch {
		case !ok:
			missing = true
		case m.spent[check]:
			stale = true
		case r.Outcome == proof.Red:
			refuted = true
		case r.Outcome != proof.Green:
			asked = true
		}
	}
	switch {
	case refuted:
		return proof.Refuted
	case asked:
		return proof.Untrusted
	case missing:
		return proof.Missing
	case stale:
		return proof.Stale
	case commands:
		return proof.Proven
	}
	return proof.NoneRequired
}

func TestProofIsThatOfTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		required := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", proof.Facts}), rapid.ID).Draw(t, "required")
		p := proof.Proof{Required: names(t, required...)}
		m := &model{last: map[string]proof.Receipt{}, spent: map[string]bool{}}
		for _, event := range rapid.SliceOfN(rapid.Custom(drawEvent), 0, 40).Draw(t, "events") {
			next, effects, err := p.Step(event)
			require.NoError(t, err)
			require.Equal(t, m.step(event, required), len(effects) == 1, "a submission fails once: %+v", event)
			require.Equal(t, m.state(required), next.State(), "%+v\n%+v\n%+v", event, next, m)
			require.Equal(t, next.Holds(), next.State() == proof.Proven || next.State() == proof.NoneRequired)
			p = next
		}
	})
}

func drawEvent(t *rapid.T) proof.Event {
	tree := rapid.SampledFrom([]string{"", "A", "B"})
	switch rapid.IntRange(0, 11).Draw(t, "event") {
	case 0:
		return proof.Submit{}
	case 1:
		return proof.Accept{}
	case 2:
		return proof.Look{Tree: tree.Draw(t, "tree")}
	}
	r := proof.Receipt{
		Check:   rapid.SampledFrom([]string{"a", "b", "other", proof.Facts}).Draw(t, "check"),
		Round:   rapid.IntRange(0, 2).Draw(t, "round"),
		Outcome: rapid.SampledFrom([]proof.Outcome{proof.Green, proof.Green, proof.Red, proof.Protected, proof.NotRun}).Draw(t, "outcome"),
		Before:  tree.Draw(t, "before"),
	}
	r.After = r.Before
	if rapid.IntRange(0, 5).Draw(t, "changes") == 0 {
		r.After = tree.Draw(t, "after")
	}
	return proof.Take{Receipt: r}
}

func TestOutcomesHaveTexts(t *testing.T) {
	for o := proof.Red; o <= proof.NotRun; o++ {
		again, ok := proof.ParseOutcome(o.String())
		require.True(t, ok)
		require.Equal(t, o, again)
	}
	_, ok := proof.ParseOutcome("blue")
	require.False(t, ok)
}
