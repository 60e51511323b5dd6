package plan_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"waybill/plan"
)

// writeSuperpowers writes tasks that are headings, with steps below.
func writeSuperpowers(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	b.WriteString("# Heap Implementation Plan\n> Steps are written as `- [ ]`.\n")
	for task := range rapid.IntRange(1, 4).Draw(t, "tasks") {
		head := wanted{id: fmt.Sprint(task + 1), title: drawTitle(t), waits: drawSome(t, all)}
		fmt.Fprintf(&b, "### Task %s: %s\n**Files:**\n- Create: `a.go`\n", head.id, head.title)
		if len(head.waits) > 0 {
			fmt.Fprintf(&b, "\n**Depends on:** Task %s\n", strings.Join(head.waits, " and "))
		}
		at, marks := len(all), ""
		all = append(all, head)
		for i := range rapid.IntRange(0, 4).Draw(t, "steps") {
			drawNoise(t, &b)
			mark, status := drawMark(t, " xX-", plan.Pending, plan.Completed, plan.Completed, plan.Pending)
			w := wanted{id: fmt.Sprintf("%s.%d", head.id, i+1), title: drawTitle(t), status: status, parent: head.id}
			step := rapid.SampledFrom([]string{
				"- [%s] **Step %d: %s**\n", "* [%s] **Step %d:** %s\n", "- [%s] Step %d - %s\n", "- [%s] %d. %s\n",
			}).Draw(t, "spelling")
			if i == 0 {
				step = "- [%s] **Step %d: %s**\n" // one such at least is what tells the dialect
			}
			fmt.Fprintf(&b, step, mark, i+1, w.title)
			all, marks = append(all, w), marks+mark
		}
		all[at].status = followed(marks)
	}
	b.WriteString("- [ ] the last\n")
	last := &all[len(all)-1]
	parent := last.parent
	if parent == "" {
		parent = last.id
	}
	all = append(all, wanted{id: parent + "/1", title: "the last", status: plan.Pending, parent: parent})
	for i := range all {
		if all[i].id == parent {
			all[i].status = unfinished(all[i].status)
		}
	}
	return b.String(), all
}

// unfinished is a status with one more step, which is open.
func unfinished(status plan.Status) plan.Status {
	if status == plan.Completed {
		return plan.InProgress
	}
	return status
}

// followed is the status of a heading with steps of these marks.
func followed(marks string) plan.Status {
	done := len(marks) - strings.Count(marks, " ") - strings.Count(marks, "-")
	switch done {
	case 0:
		return plan.Pending
	case len(marks):
		return plan.Completed
	}
	return plan.InProgress
}

// writeTina writes tasks that are headings, without a box.
func writeTina(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	spelling := rapid.SampledFrom([]string{"", "Task ", "task #"})
	for task := range rapid.IntRange(1, 6).Draw(t, "tasks") {
		drawNoise(t, &b)
		w := wanted{id: fmt.Sprint(task + 1), title: drawTitle(t) + " seed", status: plan.Pending, waits: drawSome(t, all)}
		waits := []string{rapid.SampledFrom([]string{"none", "None (the first)", "-", "n/a"}).Draw(t, "none")}
		for i, id := range w.waits {
			waits = append(waits[:i], spelling.Draw(t, "spelling")+id)
		}
		said, status := drawSaid(t)
		if status != 0 {
			w.status = status
		}
		fmt.Fprintf(&b, "### Task %s: %s%s\n**Model:** small\n**Depends on:** %s\n", w.id, w.title, said, strings.Join(waits, ", "))
		all = append(all, w)
	}
	return b.String(), all
}

// drawSaid draws what the end of a heading says about its task.
func drawSaid(t *rapid.T) (text string, status plan.Status) {
	said := []struct {
		text   string
		status plan.Status
	}{
		{"", 0},
		{" ##", 0},
		{" (COMPLETED)", plan.Completed},
		{" ✅", plan.Completed},
		{" [x]", plan.Completed},
		{" ✅ DONE", plan.Completed},
		{" (In Progress)", plan.InProgress},
		{" 🚧", plan.InProgress},
		{" [SKIPPED]", plan.Skipped},
		{" (blocked)", plan.Blocked},
	}
	s := said[rapid.IntRange(0, len(said)-1).Draw(t, "said")]
	return s.text, s.status
}

// writeAgentOS writes task groups with parents such as 1.0 and criteria.
func writeAgentOS(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	for group := range rapid.IntRange(1, 4).Draw(t, "groups") {
		group++
		head := wanted{id: fmt.Sprint(group), title: drawTitle(t)}
		waits := "None (can run beside Task Group 1 and 2)"
		if group > 1 {
			waits = rapid.SampledFrom([]string{"Task Groups 1-%d", "Task Groups 1 through %d", "Groups 1–%d (all)"}).Draw(t, "range")
			waits = fmt.Sprintf(waits, group-1)
			for i := 1; i < group; i++ {
				head.waits = append(head.waits, fmt.Sprint(i))
			}
		}
		fmt.Fprintf(&b, "### Layer %d\n#### Task Group %d: %s\n**Dependencies:** %s\n\n", group, group, head.title, waits)
		at, marks := len(all), ""
		all = append(all, head)
		parent := wanted{id: fmt.Sprintf("%d.0", group), title: drawTitle(t), status: plan.Pending, parent: head.id}
		fmt.Fprintf(&b, "- [ ] %s %s\n", parent.id, parent.title)
		all = append(all, parent)
		for i := range rapid.IntRange(1, 11).Draw(t, "steps") {
			drawNoise(t, &b)
			mark, status := drawMark(t, " x", plan.Pending, plan.Completed)
			w := wanted{id: fmt.Sprintf("%d.%d", group, i+1), title: drawTitle(t), status: status, parent: parent.id}
			fmt.Fprintf(&b, "  - [%s] %s %s\n", mark, w.id, w.title)
			all, marks = append(all, w), marks+mark
		}
		all[at].status = followed(marks)
		b.WriteString("**Acceptance Criteria:**\n- [ ] 3 of them work\n")
	}
	return b.String(), all
}
