package prompt_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/prompt"
)

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
