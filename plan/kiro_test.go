package plan_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"waybill/plan"
)

// writeWaves writes a plan with waves. Optional items hold nothing up, and a wave without others hands on.
func writeWaves(t *rapid.T) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	waves := make([][]int, 4)
	b.WriteString("# Implementation Plan\n")
	for i := range rapid.IntRange(1, 10).Draw(t, "items") {
		drawNoise(t, &b)
		mark, status := drawMark(t, " xX-~", plan.Pending, plan.Completed, plan.Completed, plan.InProgress, plan.Pending)
		w := wanted{id: fmt.Sprint(i + 1), title: drawTitle(t), status: status, waits: drawSome(t, all), optional: rapid.Bool().Draw(t, "optional")}
		star := ""
		if w.optional {
			star = "*"
		}
		fmt.Fprintf(&b, "- [%s]%s %s. %s\n", mark, star, w.id, w.title)
		if len(w.waits) > 0 {
			fmt.Fprintf(&b, "  - _Depends: %s_\n", strings.Join(w.waits, ", "))
		}
		if wave := rapid.IntRange(-1, 3).Draw(t, "wave"); wave >= 0 {
			waves[wave] = append(waves[wave], i)
		}
		all = append(all, w)
	}
	b.WriteString("\n## Task Dependency Graph\n\n```json\n" + drawWaves(t, waves) + "\n```\n")
	var gate []string
	for _, wave := range waves {
		var next []string
		for _, i := range wave {
			for _, id := range gate {
				if !slices.Contains(all[i].waits, id) {
					all[i].waits = append(all[i].waits, id)
				}
			}
			if !all[i].optional {
				next = append(next, all[i].id)
			}
		}
		if next != nil {
			gate = next
		}
	}
	return b.String(), all
}

// drawWaves writes waves in one of their spellings.
func drawWaves(t *rapid.T, waves [][]int) string {
	spelling := rapid.SampledFrom([]string{"[%[2]s]", "{\"id\": %[1]d, \"tasks\": [%[2]s]}", "{\"tasks\": [%[2]s],\n \"wave\": \"%[1]d\", \"description\": \"]}\"}"}).Draw(t, "spelling")
	var all []string
	for k, wave := range waves {
		var ids []string
		for _, i := range wave {
			ids = append(ids, fmt.Sprintf(rapid.SampledFrom([]string{"%d", "\"%d\"", "\"%d.\"", "{\"id\": \"%d\"}"}).Draw(t, "id"), i+1))
		}
		all = append(all, fmt.Sprintf(spelling, k, strings.Join(ids, ", ")))
	}
	return "{\"waves\": [" + strings.Join(all, ",\n  ") + "]}"
}
