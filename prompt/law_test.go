package prompt_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
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

// A need is something that a prompt has to say, whatever it costs.
type need struct {
	name string
	// head is the section that says it. The fact, if any, is in the packet with its whole value.
	head, fact string
	// reviewers means that only reviewers need it.
	reviewers bool
	says      func(*prompt.CompileInput, *prompt.Compiled) []string // nothing if there is nothing to say
}

// needs are all that there are, but for the contract.
var needs = []need{
	{"id", "Task", "ledger.progress.item_id", false, ofItem(func(it *plan.Item) string { return it.ID })},
	{"title", "Task", "", false, ofItem(func(it *plan.Item) string { return it.Title })},
	{"prompt", "Task Prompt", "", false, asked},
	{"details", "Details", "", false, ofItems(func(it *plan.Item) []string { return it.Details })},
	{"place in the plan", "Task", "", false, placeIfNeeded},
	{"criteria or their place", "Acceptance Criteria", "", true, criteriaOrPlace},
	{"commits", "Work", "ledger.task.git_range", true, ofInput(func(in *prompt.CompileInput) []string { return []string{in.Task.GitRange} })},
	{"files of the work", "Work", "", true, filesLeft},
	{"summary of a failed attempt", "Last Attempt", "ledger.task.summary", false, ifFailed(func(task *ledger.TaskLedger) string { return task.Summary })},
	{"assessment of a failed attempt", "Last Attempt", "ledger.task.reviewer_assessment", false, ifFailed(func(task *ledger.TaskLedger) string { return task.ReviewerAssessment })},
	{"fixes of the spec review", "Required Fixes", "ledger.task.required_fixes", false, fixes(0)},
	{"fixes of the quality review", "Required Fixes", "ledger.task.required_fixes", false, fixes(1)},
	{"fixes of failed checks", "Required Fixes", "ledger.task.required_fixes", false, fixes(2)},
	{"blockers", "Blockers", "ledger.task.blockers", false, ofInput(func(in *prompt.CompileInput) []string { return in.Task.Blockers })},
	{"what the plan says is in the way", "Blockers", "", false, ofItem(func(it *plan.Item) string { return it.BlockedReason })},
	{"issues of the spec review", "Review Issues", "ledger.task.reviewer_issues", false, issues(0)},
	{"issues of the quality review", "Review Issues", "ledger.task.reviewer_issues", false, issues(1)},
	{"what to do about the issues", "Review Issues", "ledger.task.reviewer_issues", false, cures},
	{"replan hint", "Replan Hint", "ledger.task.replan_hint", false, ofInput(func(in *prompt.CompileInput) []string { return []string{in.Task.ReplanHint} })},
	{"status", "Now", "", false, ofItem(func(it *plan.Item) string { return it.Status.String() })},
	{"that the plan could not be read", "Now", "", false, ofInput(func(in *prompt.CompileInput) []string { return []string{in.Degraded} })},
	{"limit of the answer", "Now", "", false, ofInput(func(in *prompt.CompileInput) []string { return []string{strconv.Itoa(in.MaxOutputTokens)} })},
}

func ofInput(texts func(*prompt.CompileInput) []string) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return func(in *prompt.CompileInput, _ *prompt.Compiled) []string { return texts(in) }
}

func ofItem(text func(*plan.Item) string) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return ofItems(func(it *plan.Item) []string { return []string{text(it)} })
}

func ofItems(texts func(*plan.Item) []string) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return func(in *prompt.CompileInput, _ *prompt.Compiled) []string { return texts(in.Progress.CurrentItem) }
}

// asked returns the one text that is the prompt, which the override is only where the prompt says so.
func asked(in *prompt.CompileInput, c *prompt.Compiled) []string {
	switch it := in.Progress.CurrentItem; {
	case saidOf(c, "task_prompt"):
		return []string{in.Compaction.PromptOverride}
	case in.TaskPrompt != "":
		return []string{in.TaskPrompt}
	case it.Prompt != "":
		return []string{it.Prompt}
	default:
		return []string{it.Title}
	}
}

// placeIfNeeded returns the line at which the item stands, if the prompt was shortened.
func placeIfNeeded(in *prompt.CompileInput, c *prompt.Compiled) []string {
	if !stageWas(c, prompt.StageShorten) {
		return nil
	}
	return []string{fmt.Sprintf("%s:%d", in.Progress.SourcePath, in.Progress.CurrentItem.Line)}
}

func criteriaOrPlace(in *prompt.CompileInput, c *prompt.Compiled) (texts []string) {
	for _, criterion := range in.Criteria.List {
		if saidOf(c, "acceptance_criteria") {
			texts = append(texts, in.Criteria.Source, strconv.Itoa(criterion.Line))
			continue
		}
		texts = append(texts, criterion.ID, criterion.Text)
	}
	return texts
}

// filesLeft returns the files that a prompt still has to name: the last 50, the last 10 in one that was pruned, and none
// in one of the last stage.
func filesLeft(in *prompt.CompileInput, c *prompt.Compiled) []string {
	most, files := 50, in.Task.FilesChanged
	if stageWas(c, prompt.StagePrune) {
		most = 10
	}
	if stageWas(c, prompt.StageEmergency) {
		most = 0
	}
	return files[max(0, len(files)-most):]
}

// failed reports whether somebody has to know how the last attempt went.
func failed(task *ledger.TaskLedger) bool {
	for _, r := range task.Reviews {
		if r.Assessment == "needs_changes" || r.Assessment == "blocked" {
			return true
		}
	}
	return len(task.Blockers) > 0 || task.Stalled.ConsecutiveNonProgress > 0
}

func ifFailed(text func(*ledger.TaskLedger) string) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return func(in *prompt.CompileInput, _ *prompt.Compiled) []string {
		if !failed(&in.Task) {
			return nil
		}
		return []string{text(&in.Task)}
	}
}

func open(in *prompt.CompileInput, i int) ledger.Review {
	if r := in.Task.Reviews[i]; r.Rejects() {
		return r
	}
	return ledger.Review{}
}

func fixes(i int) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return func(in *prompt.CompileInput, _ *prompt.Compiled) []string { return open(in, i).RequiredFixes }
}

func issues(i int) func(*prompt.CompileInput, *prompt.Compiled) []string {
	return func(in *prompt.CompileInput, _ *prompt.Compiled) (texts []string) {
		for _, issue := range open(in, i).Issues {
			texts = append(texts, issue.Severity, issue.File, issue.Message)
		}
		return texts
	}
}

func cures(in *prompt.CompileInput, _ *prompt.Compiled) (texts []string) {
	for i := range in.Task.Reviews {
		for _, issue := range open(in, i).Issues {
			texts = append(texts, issue.Fix)
		}
	}
	return texts
}

// A part is something that a prompt may leave out, if it says so.
type part struct {
	// what it is called among the omissions, and head the section that has it.
	what, head string
	texts      func(*prompt.CompileInput) []string
}

var parts = []part{
	{"item.purpose", "Task", func(in *prompt.CompileInput) []string { return []string{in.Progress.CurrentItem.Purpose} }},
	{"item.depends_on", "Task", func(in *prompt.CompileInput) []string { return in.Progress.CurrentItem.DependsOn }},
	{"item.below", "Task", func(in *prompt.CompileInput) []string { return in.Progress.CurrentItem.Below }},
	{"item.requirements", "Requirements", func(in *prompt.CompileInput) []string { return in.Progress.CurrentItem.Requirements }},
	{"item.files", "Files", func(in *prompt.CompileInput) []string { return in.Progress.CurrentItem.Files }},
	{"item.leverage", "Leverage", func(in *prompt.CompileInput) []string { return []string{in.Progress.CurrentItem.Leverage} }},
	{"acceptance_criteria", "Acceptance Criteria", func(in *prompt.CompileInput) (texts []string) {
		for _, c := range in.Criteria.List {
			texts = append(texts, c.Text)
		}
		return texts
	}},
	{"compaction.context", "Context", func(in *prompt.CompileInput) []string { return in.Compaction.Context }},
	{"compaction.prompt_override", "Task Prompt", func(in *prompt.CompileInput) []string {
		return []string{in.Compaction.PromptOverride}
	}},
	{"item.prompt", "Task Prompt", func(in *prompt.CompileInput) []string {
		if in.TaskPrompt == "" {
			return nil
		}
		return []string{in.Progress.CurrentItem.Prompt}
	}},
	{"task_prompt", "Task Prompt", func(in *prompt.CompileInput) []string { return []string{in.TaskPrompt} }},
}

// requireAccountedFor wants each part and each fact in the prompt or among what was left out, and not in both, and
// nothing else there.
func requireAccountedFor(t *testing.T, in *prompt.CompileInput, c *prompt.Compiled) {
	t.Helper()
	sections, may := sectionsOf(strings.TrimPrefix(c.Prompt, c.StablePrefix)), []string{}
	for _, p := range parts {
		if texts := strings.Join(p.texts(in), ""); texts == "" {
			continue
		}
		may = append(may, p.what)
		said := !slices.ContainsFunc(p.texts(in), func(text string) bool {
			return !strings.Contains(sections[p.head], oneSpaced(text))
		})
		require.NotEqual(t, said, saidOf(c, p.what), p.what)
	}
	for key, value := range told(in) {
		may = append(may, key)
		has := slices.Contains(c.Packet.Facts, ledger.Fact{Key: key, Value: value})
		require.NotEqual(t, has, saidOf(c, key), key)
	}
	var names []string
	for _, o := range c.Omitted {
		require.NotEmpty(t, o.Why, o.What)
		require.NotContains(t, names, o.What, "twice")
		require.Contains(t, may, o.What, "nothing to leave out")
		names = append(names, o.What)
	}
	requireCut(t, c)
	requireFactsSaid(t, in, c, sections["Ledger Facts"])
}

// requireCut wants what was left out among what was cut, but for what the agent was told before, what the host
// gave to no purpose, and what it put something else in the place of.
func requireCut(t *testing.T, c *prompt.Compiled) {
	t.Helper()
	var cut []string
	for _, o := range c.Omitted {
		if !strings.HasPrefix(o.Why, "unchanged ") && !strings.HasPrefix(o.What, "compaction.") && o.What != "item.prompt" {
			cut = append(cut, o.What)
		}
	}
	require.Equal(t, cut, c.Cut)
}

// requireFactsSaid wants each fact of the packet in the line of facts as it is, or in a section of its own, and each
// one that is gone named below the line.
func requireFactsSaid(t *testing.T, in *prompt.CompileInput, c *prompt.Compiled, section string) {
	t.Helper()
	line := json.NewDecoder(strings.NewReader(section))
	facts := map[string]json.RawMessage{}
	require.NoError(t, line.Decode(&facts))
	want, got := map[string]string{}, map[string]string{}
	apart := inSections(in)
	for _, f := range c.Packet.Facts {
		if !apart[f.Key] {
			want[f.Key] = oneSpaced(f.Value)
		}
	}
	for key, value := range facts {
		var text string
		if got[key] = string(value); json.Unmarshal(value, &text) == nil {
			got[key] = oneSpaced(text)
		}
	}
	require.Equal(t, want, got)
	for _, key := range c.Packet.Removed {
		require.Contains(t, section[line.InputOffset():], key)
		require.Equal(t, ledger.PacketDelta, c.Packet.Mode)
	}
}

// inSections returns the facts that stand in sections of their own.
func inSections(in *prompt.CompileInput) map[string]bool {
	apart := map[string]bool{
		"ledger.progress.item_id": true, "ledger.task.reviewer_issues": true, "ledger.task.blockers": true,
		"ledger.task.required_fixes": true, "ledger.task.replan_hint": true,
	}
	if failed(&in.Task) {
		maps.Copy(apart, map[string]bool{"ledger.task.summary": true, "ledger.task.reviewer_assessment": true})
	}
	if in.Role != ledger.RoleWorker {
		maps.Copy(apart, map[string]bool{"ledger.task.git_range": true, "ledger.task.files_changed": true})
	}
	return apart
}
