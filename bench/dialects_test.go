package bench

import (
	"fmt"
	"strings"

	"waybill/plan"
)

// planWriters write a plan of that many items in each dialect, half of them done, with the usual lines below each.
var planWriters = map[string]func(items int) string{
	"spec-context":  boxes("spec-context", numbered),
	"spec-workflow": boxes("spec-workflow", numbered),
	"kiro":          boxes("kiro", numbered),
	"cc-sdd":        boxes("cc-sdd", numbered),
	"openspec":      boxes("openspec", numbered),
	"ai-dev-tasks":  boxes("ai-dev-tasks", numbered),
	"loose":         boxes("loose", "- [%[4]s] Calibrate the rain gauge of station %[3]d\n"),
	"spec-kit":      boxes("spec-kit", "- [%[4]s] T%03[3]d [US1] Calibrate the rain gauge in gauge/station%[3]d.go\n"),
	"superpowers":   boxes("superpowers", "### Task %[3]d: Calibrate the rain gauge of station\n"),
	"tina":          boxes("tina", "### Task %[3]d: Calibrate the rain gauge of station\n"),
	"agent-os":      boxes("agent-os", "#### Task Group %[3]d: Calibrate the rain gauge of station\n"),
	"conductor":     boxes("conductor", "- [%[4]s] Task: Calibrate the rain gauge of station %[3]d\n"),
	"bmad":          boxes("bmad", "- [%[4]s] Task %[3]d: Calibrate the rain gauge of station\n"),
	"ccpm":          boxes("ccpm", "- [%[4]s] %03[3]d.md - Calibrate the rain gauge of station (parallel: true)\n"),

	"table":       table,
	"task-master": taskJSON,
	"backlog": files("back-%d - Calibrate.md",
		"---\nid: BACK-%d\ntitle: Calibrate the rain gauge\nstatus: %s\nlabels: [gauge]\ndependencies: []\n---\n", "To Do", "Done"),
	"ccpm-files": files("%d.md", "---\nname: Calibrate the rain gauge %d\nstatus: %s\ndepends_on: []\nparallel: true\n---\n", "open", "closed"),
	"gsd": files("%02d-01-PLAN.md",
		"---\nphase: \"%02d\"\nplan: 01\nwave: 1 # %s\ndepends_on: []\n---\n<task type=\"auto\">\n<name>Task 1: Calibrate the rain gauge</name>\n</task>\n", "", ""),
}

const numbered = "- [%[4]s] %[1]d.%[2]d Calibrate the rain gauge of station %[3]d\n"

// boxes writes items by a format: of its group, which one of the group it is, which one of all, and its mark.
func boxes(dialect, format string) func(items int) string {
	return func(items int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "<!-- waybill: dialect=%s -->\n# Plan\n\n## Tasks\n\n", dialect)
		for i := range items {
			fmt.Fprintf(&b, format, i/10+1, i%10+1, i+1, []string{"x", " "}[i%2])
			below(&b, i)
		}
		return b.String()
	}
}

// below writes what stands below an item.
func below(b *strings.Builder, i int) {
	b.WriteString("  - keep the old readings as they are, add the new\n")
	if i%2 == 0 {
		b.WriteString("  - Files: gauge/station.go, gauge/station_test.go\n")
	}
	fmt.Fprintf(b, "  - _Requirements: %d.1, %d.2_\n", i/10+1, i%10+1)
}

func table(items int) string {
	var b strings.Builder
	b.WriteString("# Plan\n\n| ID | Title | Status | Depends on | Files | Notes |\n|---|---|---|---|---|---|\n")
	for i := range items {
		fmt.Fprintf(&b, "| %d | Calibrate the rain gauge of station %d | %s | %d | gauge/station.go | keep the old readings as they are, add the new |\n",
			i+1, i+1, []string{"done", "todo"}[i%2], max(1, i))
	}
	return b.String()
}

// files writes a folder: a format of the names, and one of the files with the number of the item and its word.
func files(name, format string, open, done string) func(items int) string {
	return func(items int) string {
		all := make([]plan.PlanFile, items)
		for i := range all {
			var b strings.Builder
			fmt.Fprintf(&b, format, i+1, []string{done, open}[i%2])
			b.WriteString("## Description\n\n")
			below(&b, i)
			all[i] = plan.PlanFile{Name: fmt.Sprintf(name, i+1), Text: b.String()}
		}
		return plan.JoinFiles(all)
	}
}

func taskJSON(items int) string {
	all := make([]string, items)
	for i := range all {
		all[i] = fmt.Sprintf(`    {
      "id": %d,
      "title": "Calibrate the rain gauge of station %d",
      "description": "keep the old readings as they are, add the new",
      "status": %q,
      "dependencies": [%d],
      "priority": "high"
    }`, i+1, i+1, []string{"done", "pending"}[i%2], max(1, i))
	}
	return "{\n  \"tasks\": [\n" + strings.Join(all, ",\n") + "\n  ]\n}\n"
}

func taskText(items int) string {
	var b strings.Builder
	for i := range items {
		fmt.Fprintf(&b, "# Task ID: %d\n# Title: Calibrate the rain gauge\n# Status: %s\n# Dependencies: %d\n# Priority: high\n# Details:\nkeep the old readings as they are, add the new\n\n",
			i+1, []string{"done", "pending"}[i%2], max(1, i))
	}
	return b.String()
}
