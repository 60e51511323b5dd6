package prompt_test

import (
	"fmt"
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
