package prompt_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/prompt"
)

// A life is what happens to a run, and what its agents have heard of it. Its choices are bytes, and the same bytes
// make the same life.
type life struct {
	t       *testing.T
	choices []byte
	text    string
	in      prompt.CompileInput
	named   int // files
	// heard is what the agent of a role knew after each packet that reached it, at first nothing.
	heard map[ledger.Role][]hearing
}

// A hearing is what an agent knows, and the cursor that says so.
type hearing struct {
	cursor string
	facts  map[string]string
}

func newLife(t *testing.T, choices []byte) *life {
	l := &life{t: t, choices: choices, text: rainPlan, in: input(t, "2.1"), heard: map[ledger.Role][]hearing{}}
	for _, role := range roles {
		l.heard[role] = []hearing{{}}
	}
	return l
}

// pick returns a number below n.
func (l *life) pick(n int) int {
	if len(l.choices) == 0 {
		return 0
	}
	choice := int(l.choices[0])
	l.choices = l.choices[1:]
	return choice % n
}

func (l *life) flag() bool { return l.pick(2) == 1 }

func (l *life) word() string { return []string{"", "one", "two", "three"}[l.pick(4)] }

func (l *life) words() (words []string) {
	for range l.pick(3) {
		words = append(words, l.word())
	}
	return words
}

func (l *life) live() {
	for len(l.choices) > 0 {
		for range l.pick(4) {
			l.happen()
		}
		l.ask(roles[l.pick(len(roles))])
	}
}

// happen changes something that packets tell of, in the ways in which it changes in a run.
func (l *life) happen() {
	switch task := &l.in.Task; l.pick(7) {
	case 0, 1, 2:
		*task = task.After(l.outcome())
	case 3:
		*task = task.Replanned(task.PlanVersion+1, l.word(), l.words())
	case 4:
		*task = task.Counted(ledger.Counts{
			Stalled:    ledger.Stalled{ConsecutiveNonProgress: l.pick(3), Threshold: 2, Flagged: l.flag()},
			ReviewLoop: ledger.ReviewLoop{Count: l.pick(3), Threshold: 2, Alternating: l.flag(), Flagged: l.flag()},
			Rejections: l.pick(3),
		})
	case 5:
		l.edit()
	case 6:
		l.in.Degraded = l.word()
	}
}

var kindsOf = map[ledger.Role][]ledger.OutcomeKind{
	ledger.RoleWorker: {
		ledger.OutcomeCompleted, ledger.OutcomeStuck, ledger.OutcomeFailed, ledger.OutcomeCrashed, ledger.OutcomeUnusable,
	},
	spec:    {ledger.OutcomeApproved, ledger.OutcomeChangesNeeded, ledger.OutcomeGaveUp, ledger.OutcomeCrashed, ledger.OutcomeUnusable},
	quality: {ledger.OutcomeApproved, ledger.OutcomeChangesNeeded, ledger.OutcomeGaveUp, ledger.OutcomeCrashed, ledger.OutcomeUnusable},
}

func (l *life) outcome() ledger.Outcome {
	o := ledger.Outcome{Role: roles[l.pick(len(roles))], Summary: l.word()}
	o.Kind = kindsOf[o.Role][l.pick(len(kindsOf[o.Role]))]
	if o.Role == ledger.RoleWorker {
		o.GitRange = []string{"", "a1..b2", "b2..c3"}[l.pick(3)]
		o.FollowUps, o.FilesChanged = l.words(), l.files()
		return o
	}
	o.RequiredFixes = l.words()
	for _, word := range l.words() {
		o.Issues = append(o.Issues, ledger.ReviewIssue{Severity: "minor", File: l.word(), Message: word, Fix: l.word()})
	}
	return o
}

// files returns a few files, or many.
func (l *life) files() []string {
	if l.flag() {
		return l.words()
	}
	var files []string
	for range 40 {
		l.named++
		files = append(files, fmt.Sprintf("mail/%d.go", l.named))
	}
	return files
}

// edit changes the plan, and reads it anew.
func (l *life) edit() {
	name, path := l.in.Progress.Plan, l.in.Progress.SourcePath
	switch l.pick(4) {
	case 0, 1:
		boxes := strings.Split(l.text, "- [")
		i := 1 + l.pick(len(boxes)-1)
		boxes[i] = string(" x-~"[l.pick(4)]) + boxes[i][1:]
		l.text = strings.Join(boxes, "- [")
	case 2:
		l.text += fmt.Sprintf("- [ ] %d. More %s\n", 3+strings.Count(l.text, " More "), l.word())
	case 3:
		name = []string{"rain", "storm"}[l.pick(2)]
		path = "plans/" + name + []string{"/tasks.md", "/plan.md"}[l.pick(2)]
	}
	p, err := ledger.Progress(parse(l.t, l.text), name, path, "2.1")
	require.NoError(l.t, err)
	l.in.Progress = p
}

// ask compiles a prompt for a role. Its agent knows what it knew after any packet that reached it, mostly the last
// one, and the new one may be cut, or get lost.
func (l *life) ask(role ledger.Role) {
	in, heard := l.in, l.heard[role]
	in.Role, in.MaxInputTokens = role, 1<<20
	from := heard[len(heard)-1]
	if l.pick(4) == 0 {
		from = heard[l.pick(len(heard))]
	}
	in.Since = from.cursor
	if l.pick(8) == 0 {
		from = l.stranger(&in)
	}
	c := compile(l.t, in)
	want := l.whole(in, &c)
	l.requireNews(from.facts, want, in, &c)
	next := hearing{c.Packet.Cursor, fold(from.facts, c.Packet)}
	require.Equal(l.t, want, next.facts)
	if l.pick(3) == 0 {
		var fits bool
		if next, fits = l.cut(in, from, want, c.TokensAfter); !fits {
			return
		}
	}
	if l.pick(3) == 0 {
		return
	}
	l.heard[role] = append(heard, next)
}

// stranger names the cursor of another role, by which nobody knows anything.
func (l *life) stranger(in *prompt.CompileInput) hearing {
	other := roles[(slices.Index(roles, in.Role)+1)%len(roles)]
	theirs := l.heard[other]
	in.Since = theirs[len(theirs)-1].cursor
	if in.Since != "" {
		require.Equal(l.t, ledger.FullOtherPrompt, compile(l.t, *in).Packet.WhyFull)
	}
	return hearing{}
}

// whole returns the facts as they are stored, but for the files that no packet names, and wants them in the full packet.
func (l *life) whole(in prompt.CompileInput, c *prompt.Compiled) map[string]string {
	since := in.Since
	in.Since = ""
	full := compile(l.t, in).Packet
	require.Equal(l.t, full.Cursor, c.Packet.Cursor, "where the agent comes from does not matter")
	if c.Packet.Mode == ledger.PacketDelta {
		require.Equal(l.t, since, c.Packet.Base)
	}
	if more := len(in.Task.FilesChanged) - 50; more > 0 {
		in.Task.FilesChanged = in.Task.FilesChanged[more:]
	}
	want := told(&in)
	require.Equal(l.t, want, fold(nil, full))
	return want
}

// requireNews wants in a delta nothing that the agent knows, unless it is in every packet, and nothing removed that it
// does not know.
func (l *life) requireNews(knew, want map[string]string, in prompt.CompileInput, c *prompt.Compiled) {
	if c.Packet.Mode == ledger.PacketFull {
		require.Empty(l.t, c.Packet.Removed)
		return
	}
	always := inSections(&in)
	for _, f := range c.Packet.Facts {
		require.True(l.t, always[f.Key] || knew[f.Key] != f.Value, "%s is known", f.Key)
	}
	for key := range knew {
		_, still := want[key]
		require.NotEqual(l.t, still, slices.Contains(c.Packet.Removed, key), key)
	}
	for _, key := range c.Packet.Removed {
		require.Contains(l.t, knew, key)
	}
}

// cut compiles the prompt again for a budget that is too small for it. What the agent does not know then was cut, and
// the packet after it makes up for that.
func (l *life) cut(in prompt.CompileInput, from hearing, want map[string]string, size int) (hearing, bool) {
	const usualOutput = 1200
	in.MaxInputTokens = usualOutput + size*(99-8*l.pick(4))/100
	c, err := prompt.Compile(in)
	if err != nil {
		var overflow *prompt.OverflowError
		require.True(l.t, errors.As(err, &overflow))
		return hearing{}, false
	}
	next := hearing{c.Packet.Cursor, fold(from.facts, c.Packet)}
	for key, value := range next.facts {
		require.Contains(l.t, want, key, "%s is no fact any more", key)
		if want[key] != value {
			require.Contains(l.t, c.Packet.Facts, ledger.Fact{Key: key, Value: value}, "an old value of %s", key)
		}
	}
	for key, value := range want {
		if next.facts[key] != value {
			require.Contains(l.t, c.Cut, key)
		}
	}
	in.Since, in.MaxInputTokens = next.cursor, 1<<20
	require.Equal(l.t, want, fold(next.facts, compile(l.t, in).Packet), "what was cut comes with the next packet")
	return next, true
}

// fold returns what an agent knows that knew facts and gets a packet.
func fold(facts map[string]string, p ledger.Packet) map[string]string {
	next := map[string]string{}
	if p.Mode == ledger.PacketDelta {
		maps.Copy(next, facts)
	}
	for _, f := range p.Facts {
		next[f.Key] = f.Value
	}
	for _, k := range p.Removed {
		delete(next, k)
	}
	return next
}

// lifeOf returns the choices of a life by its number.
func lifeOf(seed int) (choices []byte) {
	for i := range 16 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d.%d", seed, i))
		choices = append(choices, sum[:]...)
	}
	return choices
}

// Everything that a run goes through happens, to all roles. Whichever packets get lost or are cut, an agent knows after
// a packet what the full one says.
func TestNoChangeOfARunGoesUnnoticedInDeltas(t *testing.T) {
	for seed := range 40 {
		newLife(t, lifeOf(seed)).live()
	}
}

func FuzzDeltas(f *testing.F) {
	for seed := range 3 {
		f.Add(lifeOf(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		newLife(t, choices[:min(len(choices), len(lifeOf(0)))]).live()
	})
}
