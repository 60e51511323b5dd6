package plan_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"waybill/plan"
)

// This file writes random plans of the dialects that have words, sections and
// tables where others have numbers.

func writeConductor(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	b.WriteString("# Plan\n")
	for track := range rapid.IntRange(1, 2).Draw(t, "tracks") {
		mark, status := drawMark(t, " ~x", plan.Pending, plan.InProgress, plan.Completed)
		head := wanted{id: fmt.Sprintf("song-%d", track+1), title: fmt.Sprintf("Song %d", track+1), status: status}
		fmt.Fprintf(&b, rapid.SampledFrom([]string{"## [%s] Track: %s\n", "- [%s] **Track: %s**\n", "# [%s] Track: %s\n"}).Draw(t, "form"), mark, head.title)
		all = append(all, head)
		for phase := range rapid.IntRange(0, 2).Draw(t, "phases") {
			fmt.Fprintf(&b, "## Phase %d%s\n", phase+1, rapid.SampledFrom([]string{"", " [checkpoint: 4c1d9aa]"}).Draw(t, "checkpoint"))
			prefix := fmt.Sprintf("%s/phase-%d", head.id, phase+1)
			all = append(all, writeTasks(t, &b, prefix, head.id)...)
		}
	}
	return b.String(), all
}

// writeTasks writes the tasks of one phase.
func writeTasks(t *rapid.T, b *strings.Builder, prefix, parent string) (all []wanted) {
	for i := range rapid.IntRange(1, 3).Draw(t, "tasks") {
		drawNoise(t, b)
		mark, status := drawMark(t, " ~xX-", plan.Pending, plan.InProgress, plan.Completed, plan.Completed, plan.Pending)
		w := wanted{id: fmt.Sprintf("%s/%d", prefix, i+1), title: drawTitle(t), status: status, parent: parent}
		commit := rapid.SampledFrom([]string{"", " 7be20f1", " [90ab3ce]", " `a1b2c3d4`"}).Draw(t, "commit")
		fmt.Fprintf(b, "- [%s] Task: %s%s\n", mark, w.title, commit)
		all = append(all, w)
		for k := range rapid.IntRange(0, 2).Draw(t, "subtasks") {
			mark, status := drawMark(t, " x", plan.Pending, plan.Completed)
			sub := wanted{id: fmt.Sprintf("%s/%d", w.id, k+1), title: drawTitle(t), status: status, parent: w.id}
			fmt.Fprintf(b, "    - [%s] %s\n", mark, sub.title)
			all = append(all, sub)
		}
	}
	return all
}

func writeBMAD(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	b.WriteString("# Story\n## Acceptance Criteria\n- [ ] it works\n## Tasks / Subtasks\n")
	for i := range rapid.IntRange(1, 6).Draw(t, "tasks") {
		drawNoise(t, &b)
		mark, status := drawMark(t, " xX~", plan.Pending, plan.Completed, plan.Completed, plan.Pending)
		w := wanted{id: fmt.Sprint(i + 1), title: drawTitle(t), status: status}
		form := rapid.SampledFrom([]string{"- [%s] Task %s: %s (AC: 1, #2)\n", "- [%s] **Task %s: %s** (AC: 3)\n", "- [%s] **T%s. %s**\n", "* [%s] %s. %s\n"}).Draw(t, "form")
		fmt.Fprintf(&b, form, mark, w.id, w.title)
		if strings.Contains(form, "T%s") {
			w.id = "T" + w.id
		}
		all = append(all, w)
		for k := range rapid.IntRange(0, 2).Draw(t, "subtasks") {
			mark, status := drawMark(t, " x", plan.Pending, plan.Completed)
			sub := wanted{id: fmt.Sprintf("%s/%d", w.id, k+1), title: drawTitle(t), status: status, parent: w.id}
			fmt.Fprintf(&b, "  - [%s] %s\n", mark, sub.title)
			all = append(all, sub)
		}
	}
	b.WriteString("## Dev Notes\n- [ ] Task 1: of nobody\n")
	return b.String(), all
}

func writeCCPM(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	b.WriteString("# Epic\n- [ ] no task\n## Tasks Created\n")
	for range rapid.IntRange(1, 8).Draw(t, "tasks") {
		drawNoise(t, &b)
		mark, status := drawMark(t, " xX-", plan.Pending, plan.Completed, plan.Completed, plan.Pending)
		w := wanted{
			id: fmt.Sprintf("%03d", len(all)+1), title: drawTitle(t), status: status,
			waits: drawSome(t, all), parallel: rapid.Bool().Draw(t, "parallel"),
		}
		waits := ""
		if len(w.waits) > 0 {
			waits = ", depends on " + strings.Join(w.waits, ", ")
		}
		fmt.Fprintf(&b, "- [%s] %s.md - %s (parallel: %t%s)\n", mark, w.id, w.title, w.parallel, waits)
		all = append(all, w)
	}
	return b.String(), all
}

// writeTable writes its columns in any order, with and without bars at the ends.
func writeTable(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	order := rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(t, "order")
	bars := rapid.Bool().Draw(t, "bars")
	line := func(texts ...string) {
		row := make([]string, len(order))
		for i, column := range order {
			row[i] = texts[column]
		}
		if bars || row[len(row)-1] == "" || row[0] == "" {
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
			return
		}
		b.WriteString(strings.Join(row, " | ") + "\n")
	}
	drawNoise(t, &b)
	line("ID", "Title", "Status", "Depends on", "Parallel")
	line("---", ":--", "--:", "---", "-----")
	for range rapid.IntRange(1, 8).Draw(t, "rows") {
		state := rapid.SampledFrom([]struct {
			text   string
			status plan.Status
		}{
			{"todo", plan.Pending},
			{"[ ]", plan.Pending},
			{"", plan.Pending},
			{"🤷", plan.Pending},
			{"In Progress", plan.InProgress},
			{"⏳ doing", plan.InProgress},
			{"**done** (in May)", plan.Completed},
			{"[x]", plan.Completed},
			{"✅", plan.Completed},
			{"blocked: no wood", plan.Blocked},
			{"cancelled", plan.Skipped},
		}).Draw(t, "state")
		w := wanted{
			id: fmt.Sprintf("T%03d", len(all)+1), title: drawTitle(t), status: state.status,
			waits: drawSome(t, all), parallel: rapid.Bool().Draw(t, "parallel"),
		}
		parallel := map[bool]string{true: "yes", false: "no"}[w.parallel]
		w.title += rapid.SampledFrom([]string{"", " | more"}).Draw(t, "bar")
		line(w.id, strings.ReplaceAll(w.title, "|", `\|`), state.text, strings.Join(w.waits, ", "), parallel)
		all = append(all, w)
	}
	b.WriteString("\nText below.\n")
	return b.String(), all
}
