package plan_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
)

// word is a status as a tool writes it.
type word struct {
	text   string
	status plan.Status
}

func drawWord(t *rapid.T, words ...word) word { return rapid.SampledFrom(words).Draw(t, "status") }

func drawBacklogWord(t *rapid.T) word {
	return drawWord(t, word{"To Do", plan.Pending}, word{"In Progress", plan.InProgress}, word{"Done", plan.Completed},
		word{`"Done"`, plan.Completed}, word{"'in-progress'", plan.InProgress}, word{"Blocked", plan.Blocked}, word{"Draft", plan.Pending})
}

// yamlTitle writes a title as YAML needs it.
func yamlTitle(t *rapid.T, title string) string {
	if rapid.Bool().Draw(t, "quoted") {
		return "'" + strings.ReplaceAll(title, "'", "''") + "'"
	}
	return strconv.Quote(title)
}

// drawBody is what may stand below front matter.
func drawBody(t *rapid.T) string {
	var b strings.Builder
	drawNoise(t, &b)
	return b.String() + rapid.SampledFrom([]string{
		"", "## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [x] #1 it is so\n- [ ] #2 it is not\n<!-- AC:END -->\n",
		"## Definition of Done\n- [ ] 1. swept\n", "## Description\n\nSome text: with a colon.\n---\n",
	}).Draw(t, "body")
}

// backlogTask writes one file, and what it says.
func backlogTask(t *rapid.T, id string, above []wanted) (string, wanted) {
	status := drawBacklogWord(t)
	w := wanted{id: id, title: drawTitle(t), status: status.status, waits: drawSome(t, above)}
	var b strings.Builder
	fmt.Fprintf(&b, "---\nid: %s\ntitle: %s\nstatus: %s\n", id, yamlTitle(t, w.title), status.text)
	switch {
	case rapid.Bool().Draw(t, "inline"):
		fmt.Fprintf(&b, "dependencies: [%s]\n", strings.Join(w.waits, ", "))
	case len(w.waits) > 0:
		fmt.Fprintf(&b, "dependencies:\n- %s\n", strings.Join(w.waits, "\n- "))
	default:
		b.WriteString("dependencies: none\n")
	}
	if len(above) > 0 && rapid.Bool().Draw(t, "child") {
		w.parent = above[rapid.IntRange(0, len(above)-1).Draw(t, "parent")].id
		fmt.Fprintf(&b, "parent_task_id: %s\n", strings.ToLower(w.parent))
	}
	b.WriteString("---\n" + drawBody(t))
	return b.String(), w
}

func writeBacklog(t *rapid.T) (string, []wanted) {
	text, w := backlogTask(t, fmt.Sprintf("task-%d.1", rapid.IntRange(1, 99).Draw(t, "id")), nil)
	return text, []wanted{w}
}

func drawTaskWord(t *rapid.T) word {
	return drawWord(t, word{"pending", plan.Pending}, word{"in-progress", plan.InProgress}, word{"done", plan.Completed},
		word{"review", plan.InProgress}, word{"deferred", plan.Skipped}, word{"cancelled", plan.Skipped}, word{"blocked", plan.Blocked})
}

// writeTaskMaster writes the same tasks as JSON or as text.
func writeTaskMaster(t *rapid.T) (string, []wanted) {
	var all []wanted
	var text, members []string
	for i := range rapid.IntRange(1, 8).Draw(t, "tasks") {
		status := drawTaskWord(t)
		w := wanted{id: strconv.Itoa(i + 1), title: drawTitle(t), status: status.status, waits: drawSome(t, all)}
		all = append(all, w)
		var lines, subs []string
		for k := range rapid.IntRange(0, 3).Draw(t, "subtasks") {
			sub := drawTaskWord(t)
			s := wanted{id: fmt.Sprintf("%s.%d", w.id, k+1), title: drawTitle(t), status: sub.status, parent: w.id}
			waits := "None"
			if k > 0 {
				waits, s.waits = "1", []string{w.id + ".1"}
			}
			all = append(all, s)
			lines = append(lines, fmt.Sprintf("## %d. %s [%s]\n### Dependencies: %s\n### Details:\n# Status: done\n", k+1, s.title, sub.text, waits))
			subs = append(subs, fmt.Sprintf(`{"id": %d, "title": %q, "status": %q, "dependencies": [%s]}`,
				k+1, s.title, sub.text, strings.TrimSuffix(waits, "None")))
		}
		text = append(text, fmt.Sprintf("# Task ID: %s\n# Title: %s\n# Status: %s\n# Dependencies: %s\n# Details:\n```\n# Task ID: 99\n```\n# Priority: none\n",
			w.id, w.title, status.text, strings.Join(w.waits, ", "))+strings.Repeat("# Subtasks:\n", min(1, len(lines)))+strings.Join(lines, "\n"))
		quoted := ""
		if len(w.waits) > 0 {
			quoted = `"` + strings.Join(w.waits, `", "`) + `"`
		}
		members = append(members, fmt.Sprintf(`{"id": %s, "title": %q, "status": %q, "dependencies": [%s], "subtasks": [`+"\n"+`%s]}`,
			w.id, w.title, status.text, quoted, strings.Join(subs, ",\n")))
	}
	switch rapid.IntRange(0, 2).Draw(t, "form") {
	case 0:
		return strings.Join(text, "\n"), all
	case 1:
		return "{\"tasks\": [\n" + strings.Join(members, ",\n") + "\n]}\n", all
	}
	return "\n{\"master\":{\"tasks\":[" + strings.Join(members, ",\n") + "],\"metadata\":{\"tasks\":3}},\"other\":{\"tasks\":[]}}", all
}

// epicTask writes one file, and what it says.
func epicTask(t *rapid.T, id string, above []wanted) (string, wanted) {
	status := drawWord(t, word{"open", plan.Pending}, word{"in-progress", plan.InProgress}, word{"closed", plan.Completed})
	w := wanted{id: id, title: drawTitle(t), status: status.status, waits: drawSome(t, above), parallel: rapid.Bool().Draw(t, "parallel")}
	return fmt.Sprintf("---\nname: %s\nstatus: %s\ndepends_on: [%s]\nparallel: %v\n---\n%s",
		yamlTitle(t, w.title), status.text, strings.Join(w.waits, ", "), w.parallel, drawBody(t)), w
}

func writeEpicTask(t *rapid.T) (string, []wanted) {
	text, w := epicTask(t, "item/1", nil)
	return text, []wanted{w}
}

// gsdPlan writes one plan without a name, and its tasks.
func writeGSD(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	b.WriteString("---\nwave: 2\nautonomous: true\n---\n")
	for i := range rapid.IntRange(1, 6).Draw(t, "tasks") {
		drawNoise(t, &b)
		w := wanted{id: strconv.Itoa(i + 1), title: drawTitle(t), status: plan.Pending}
		fmt.Fprintf(&b, "<task type=\"auto\">\n  <name>Task %s: %s</name>\n  <action>\na < b && c\n- [ ] no task\n</action>\n</task>\n", w.id, w.title)
		all = append(all, w)
	}
	return b.String(), all
}

// writeFolder writes a folder of one of the families that have one.
func writeFolder(t *rapid.T) (files []plan.PlanFile, all []wanted) {
	backlog := rapid.Bool().Draw(t, "backlog")
	for i := range rapid.IntRange(1, 6).Draw(t, "files") {
		if backlog {
			text, w := backlogTask(t, fmt.Sprintf("BACK-%d", i+1), all)
			files, all = append(files, plan.PlanFile{Name: fmt.Sprintf("back-%d - x.md", i+1), Text: text}), append(all, w)
			continue
		}
		id := fmt.Sprintf("%03d", i+1)
		text, w := epicTask(t, id, all)
		files, all = append(files, plan.PlanFile{Name: id + ".md", Text: text}), append(all, w)
	}
	return files, all
}

// A folder is read as it was meant, whatever its line ends; a file that is cut off where its front matter has
// not ended yet takes no other with it, and is an open item.
func TestRandomFoldersAreReadAsTheyWereMeant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files, want := writeFolder(t)
		text := plan.JoinFiles(files)
		checkRecordLaws(t, text)
		r, err := plan.Read(text, plan.Hints{})
		require.NoError(t, err, "%s", text)
		require.Equal(t, want, meant(r), "%s", text)
		for i, it := range r.Items() {
			require.Equal(t, files[i].Name, it.Source)
		}
		for i := range files {
			files[i].Text = strings.ReplaceAll(files[i].Text, "\n", rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end"))
		}
		r, err = plan.Read(plan.JoinFiles(files), plan.Hints{})
		require.NoError(t, err)
		require.Equal(t, want, meant(r))

		k := rapid.IntRange(0, len(files)-1).Draw(t, "broken")
		files[k].Text = files[k].Text[:rapid.IntRange(4, strings.Index(files[k].Text, "status:")).Draw(t, "cut")]
		text = plan.JoinFiles(files)
		checkRecordLaws(t, text)
		r, err = plan.Read(text, plan.Hints{})
		require.NoError(t, err)
		require.Equal(t, len(files), r.Len(), "%s", text)
		for i, got := range meant(r) {
			if i != k {
				require.Equal(t, want[i], got)
				continue
			}
			require.True(t, want[i].id == got.id || len(files) == 1 && strings.EqualFold(want[i].id, got.id), "%s: no neighbour shows the case", got.id)
			require.Equal(t, plan.Pending, got.status)
			require.NotEmpty(t, diagnostics(r, "file_unreadable"))
		}
	})
}
