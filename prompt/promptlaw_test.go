package prompt_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/prompt"
)

// wanted returns what a prompt has to say, with one space between words.
func (n *need) wanted(in *prompt.CompileInput, c *prompt.Compiled) (texts []string) {
	if n.reviewers && in.Role == ledger.RoleWorker {
		return nil
	}
	for _, text := range n.says(in, c) {
		if text != "" {
			texts = append(texts, oneSpaced(text))
		}
	}
	return texts
}

// met reports whether the prompt says it, and the packet has its fact.
func (n *need) met(l *law, c *prompt.Compiled, sections map[string]string) bool {
	texts := n.wanted(l.in, c)
	for _, text := range texts {
		if !strings.Contains(sections[n.head], text) {
			return false
		}
	}
	return len(texts) == 0 || n.fact == "" || slices.Contains(c.Packet.Facts, ledger.Fact{Key: n.fact, Value: l.facts[n.fact]})
}

// A law is what prompts for an input have to keep.
type law struct {
	in       *prompt.CompileInput
	contract string
	facts    map[string]string
}

func lawOf(t *testing.T, in *prompt.CompileInput) *law {
	contract, err := os.ReadFile(filepath.Join("testdata", "prefixes", roleFiles[in.Role]+".golden"))
	require.NoError(t, err)
	return &law{in, string(contract), told(in)}
}

// lost names what the input has and the prompt ought to say and does not.
func (l *law) lost(c *prompt.Compiled) (names []string) {
	tail, ok := strings.CutPrefix(c.Prompt, l.contract)
	if !ok {
		names = append(names, contractName)
	}
	sections := sectionsOf(tail)
	for i := range needs {
		if !needs[i].met(l, c, sections) {
			names = append(names, needs[i].name)
		}
	}
	return names
}

const contractName = "contract"

var promptHead = regexp.MustCompile(`(?m)^\[([A-Z][A-Za-z ]*)\] \(from [a-z, ]+; (?:un)?trusted\)$`)

// sectionsOf returns the texts of the sections of a prompt by their names, with one space between words.
func sectionsOf(tail string) map[string]string {
	sections, name, begin := map[string]string{}, "", 0
	for _, m := range promptHead.FindAllStringSubmatchIndex(tail, -1) {
		sections[name] = oneSpaced(tail[begin:m[0]])
		name, begin = tail[m[2]:m[3]], m[1]
	}
	sections[name] = oneSpaced(tail[begin:])
	return sections
}

func oneSpaced(s string) string { return strings.Join(strings.Fields(s), " ") }

func saidOf(c *prompt.Compiled, what string) bool {
	return slices.ContainsFunc(c.Omitted, func(o prompt.Omission) bool { return o.What == what })
}

func stageWas(c *prompt.Compiled, s prompt.Stage) bool {
	return slices.ContainsFunc(c.Trace, func(step prompt.TraceStep) bool { return step.Stage == s })
}

// toldKeys are the facts that packets are made of.
var toldKeys = []string{
	"ledger.progress.plan", "ledger.progress.item_id", "ledger.progress.source_path", "ledger.progress.totals",
	"ledger.progress.active_item_id", "ledger.task.plan_version", "ledger.task.summary", "ledger.task.reviewer_assessment",
	"ledger.task.reviewer_issues", "ledger.task.blockers", "ledger.task.required_fixes", "ledger.task.stalled",
	"ledger.task.review_loop", "ledger.task.rejections", "ledger.task.replan_hint", "ledger.task.attempts",
	"ledger.task.plan_summary", "ledger.task.plan_items", "ledger.task.files_changed", "ledger.task.git_range",
	"ledger.task.review_attempts",
}

// told returns the facts of which packets tell, whole, as they are stored.
func told(in *prompt.CompileInput) map[string]string {
	facts := map[string]string{}
	for _, f := range append(ledger.ProgressFacts(in.Progress), ledger.TaskFacts(in.Task)...) {
		if slices.Contains(toldKeys, f.Key) && f.Value != "" && f.Value != "[]" {
			facts[f.Key] = f.Value
		}
	}
	return facts
}
