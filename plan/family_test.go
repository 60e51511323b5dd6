package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
)

// wanted is what a random plan was made of, and what has to be read from it.
type wanted struct {
	id, title string
	status    plan.Status
	parent    string
	waits     []string
	parallel  bool
	optional  bool
}

// writers make a random plan of each dialect and write it as its authors do,
// with what is no task in between.
var writers = map[string]func(t *rapid.T) (string, []wanted){
	"spec-context":  writeSpecContext,
	"spec-workflow": writeSpecWorkflow,
	"kiro":          writeKiro,

	"spec-kit": writeSpecKit,
	"openspec": writeOpenSpec,
	"loose":    writeLoose,

	"cc-sdd":       writeCCSDD,
	"ai-dev-tasks": writeAIDev,

	"superpowers": writeSuperpowers,
	"tina":        writeTina,
	"agent-os":    writeAgentOS,
	"conductor":   writeConductor,
	"bmad":        writeBMAD,
	"ccpm":        writeCCPM,
	"table":       writeTable,

	"backlog":     writeBacklog,
	"task-master": writeTaskMaster,
	"ccpm-files":  writeEpicTask,
	"gsd":         writeGSD,
}

// noise is what stands between the tasks of a plan and is none.
var noise = []string{
	"", "", "Some text.", "```\n- [ ] a sample\n```", "````md\n```\n- [x] deeper\n```\n````",
	"<!-- - [ ] a remark -->", "<!--\n- [x] a longer\n-->", "~~~\n# no heading\n~~~",
}

func drawNoise(t *rapid.T, b *strings.Builder) {
	if text := rapid.SampledFrom(noise).Draw(t, "noise"); text != "" {
		b.WriteString("\n" + text + "\n\n")
	}
}

func drawTitle(t *rapid.T) string {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{
		"Draw", "the", "rows", "in", "blue", "(again)", "naïve", "表", "a_b", "`code`", "and", "more",
	}), 1, 5).Draw(t, "title")
	return "Do " + strings.Join(words, " ")
}

// drawMark draws a mark of a dialect; marks are in the order of the statuses.
func drawMark(t *rapid.T, marks string, statuses ...plan.Status) (string, plan.Status) {
	i := rapid.IntRange(0, len(marks)-1).Draw(t, "mark")
	return marks[i : i+1], statuses[i]
}

// drawSome draws ids of items that stand above.
func drawSome(t *rapid.T, above []wanted) (ids []string) {
	if len(above) == 0 {
		return nil
	}
	for range rapid.IntRange(0, 2).Draw(t, "waits") {
		id := above[rapid.IntRange(0, len(above)-1).Draw(t, "for")].id
		if (len(ids) == 0 || ids[0] != id) && !strings.Contains(id, "/") { // nobody writes a derived id
			ids = append(ids, id)
		}
	}
	return ids
}

func writeSpecKit(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	b.WriteString("# Tasks\n")
	for range rapid.IntRange(1, 12).Draw(t, "items") {
		drawNoise(t, &b)
		mark, status := drawMark(t, " xX-", plan.Pending, plan.Completed, plan.Completed, plan.Skipped)
		w := wanted{
			id: fmt.Sprintf("T%03d", len(all)+1), title: drawTitle(t), status: status,
			waits: drawSome(t, all), parallel: rapid.Bool().Draw(t, "parallel"),
		}
		if len(w.waits) > 0 {
			w.title += " (depends on " + strings.Join(w.waits, ", ") + ")"
		}
		tag := ""
		if w.parallel {
			tag = "[P] "
		}
		fmt.Fprintf(&b, "- [%s] %s %s%s\n", mark, w.id, tag, w.title)
		all = append(all, w)
	}
	return b.String(), all
}

func writeOpenSpec(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	for group := range rapid.IntRange(1, 4).Draw(t, "groups") {
		fmt.Fprintf(&b, "## %d. Group\n", group+1)
		for i := range rapid.IntRange(1, 4).Draw(t, "items") {
			drawNoise(t, &b)
			mark, status := drawMark(t, " xX~", plan.Pending, plan.Completed, plan.Completed, plan.Pending)
			w := wanted{id: fmt.Sprintf("%d.%d", group+1, i+1), title: drawTitle(t), status: status, waits: drawSome(t, all)}
			if len(w.waits) > 0 {
				w.title += " (depends on " + strings.Join(w.waits, ", ") + ")"
			}
			fmt.Fprintf(&b, "%s [%s] %s %s\n", rapid.SampledFrom([]string{"-", "*", "+", "1.", "1)"}).Draw(t, "marker"), mark, w.id, w.title)
			all = append(all, w)
			for child := range rapid.IntRange(0, 2).Draw(t, "children") {
				mark, status := drawMark(t, " x", plan.Pending, plan.Completed)
				c := wanted{id: fmt.Sprintf("%s/%d", w.id, child+1), title: drawTitle(t), status: status, parent: w.id}
				fmt.Fprintf(&b, "  - [%s] %s\n", mark, c.title)
				all = append(all, c)
			}
		}
	}
	return b.String(), all
}

func writeLoose(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	for section := range rapid.IntRange(0, 3).Draw(t, "sections") + 1 {
		prefix := "item"
		if section > 0 {
			prefix = fmt.Sprintf("part-%d", section)
			fmt.Fprintf(&b, "## Part %d\n", section)
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "items") {
			drawNoise(t, &b)
			mark, status := drawMark(t, " xX-", plan.Pending, plan.Completed, plan.Completed, plan.Pending)
			w := wanted{id: fmt.Sprintf("%s/%d", prefix, i+1), title: drawTitle(t), status: status}
			all = append(all, w)
			if rapid.Bool().Draw(t, "sign") {
				all[len(all)-1].status = plan.InProgress
				fmt.Fprintf(&b, "- ⏳ %s\n", w.title)
				continue
			}
			fmt.Fprintf(&b, "%s [%s] %s\n", rapid.SampledFrom([]string{"-", "*", "+", "7.", "7)"}).Draw(t, "marker"), mark, w.title)
		}
	}
	return b.String(), all
}

func writeCCSDD(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	b.WriteString("# Implementation Plan\n- [ ] 1. First (P)\n")
	all = append(all, wanted{id: "1", title: "First", status: plan.Pending, parallel: true})
	for i := range rapid.IntRange(1, 8).Draw(t, "items") {
		drawNoise(t, &b)
		mark, status := drawMark(t, " xX-~", plan.Pending, plan.Completed, plan.Completed, plan.InProgress, plan.Pending)
		w := wanted{
			id: fmt.Sprintf("1.%d", i+1), title: drawTitle(t), status: status, parent: "1", waits: drawSome(t, all),
			parallel: rapid.Bool().Draw(t, "parallel"), optional: rapid.Bool().Draw(t, "optional"),
		}
		star, tag := "", ""
		if w.optional {
			star = "*"
		}
		if w.parallel {
			tag = "(P) "
		}
		fmt.Fprintf(&b, "- [%s]%s %s %s%s\n", mark, star, w.id, tag, w.title)
		if len(w.waits) > 0 {
			fmt.Fprintf(&b, "  - _Depends: %s_\n", strings.Join(w.waits, ", "))
		}
		all = append(all, w)
	}
	return b.String(), all
}

func writeAIDev(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	b.WriteString("## Relevant Files\n- `kiln/curve.go` - heating curve\n## Tasks\n")
	for group := range rapid.IntRange(1, 4).Draw(t, "groups") {
		mark, status := drawMark(t, " xX", plan.Pending, plan.Completed, plan.Completed)
		parent := wanted{id: fmt.Sprintf("%d.0", group), title: drawTitle(t), status: status}
		fmt.Fprintf(&b, "- [%s] %s %s\n", mark, parent.id, parent.title)
		all = append(all, parent)
		for i := range rapid.IntRange(0, 11).Draw(t, "items") {
			drawNoise(t, &b)
			mark, status := drawMark(t, " x-", plan.Pending, plan.Completed, plan.Pending)
			w := wanted{id: fmt.Sprintf("%d.%d", group, i+1), title: drawTitle(t), status: status, parent: parent.id}
			fmt.Fprintf(&b, "  - [%s] %s %s\n", mark, w.id, w.title)
			all = append(all, w)
		}
	}
	return b.String(), all
}

// What a plan was written from is read from it again, and nothing else; line
// ends do not matter, and neither does what was read before.
func TestRandomPlansOfEachDialectAreReadAsTheyWereMeant(t *testing.T) {
	for _, dialect := range plan.Dialects() {
		write, ok := writers[dialect]
		require.True(t, ok, "no random plans of the dialect %s", dialect)
		t.Run(dialect, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text, want := write(t)
				checkLaws(t, []byte(text))
				r, err := plan.Parse([]byte(text))
				require.NoError(t, err, "%s", text)
				require.Equal(t, dialect, r.Dialect, "%s", text)
				require.Equal(t, want, meant(r), "%s", text)
				require.Equal(t, meaningOf(t, text), meaningOf(t, text))
				require.Equal(t, meaningOf(t, text), meaningOf(t, strings.ReplaceAll(text, "\n", "\r\n")))
			})
		})
	}
}

// meant returns what a reading says in the form of what it was made of.
func meant(r *plan.Reading) (all []wanted) {
	for _, it := range r.Items() {
		all = append(all, wanted{it.ID, it.Title, it.Status, it.ParentID, it.DependsOn, it.Parallel, it.Optional})
	}
	return all
}

// A file without a task was answered with 1,200 characters that listed every dialect and did not name the file.
func TestAPlanErrorNamesTheFileAndOneCause(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# Notes\nnothing to do\n", `specs/a/tasks.md: no task was found: a task is a line such as "- [ ] 1.2 Write the report"`},
		{"```\n- [ ] 1. a\n```\n", `specs/a/tasks.md: its only checkbox is not a task; line 2: a checkbox in a code fence is not a task: "1. a"`},
		{
			"```\n- [ ] 1. a\n- [ ] 2. b\n```\n",
			"specs/a/tasks.md: none of its 2 checkboxes is a task; line 2: a checkbox in a code fence is not a task: \"1. a\"; `waybill plan specs/a/tasks.md` shows the rest",
		},
		{"- [ ] 1. a \xff\n", "specs/a/tasks.md: "},
	} {
		_, err := plan.Read(c.text, plan.Hints{Path: "specs/a/tasks.md"})
		require.ErrorContains(t, err, c.want)
		require.Less(t, len(err.Error()), 300)
		require.NotContains(t, err.Error(), "spec-kit")
	}
}
