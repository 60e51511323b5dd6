package plan_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"waybill/plan"
)

func writeSpecContext(t *rapid.T) (string, []wanted) {
	return writeNumbered(t, " xX-~", plan.Pending, "  - _Prompt: Role: smith | Task: forge it_\n")
}

func writeSpecWorkflow(t *rapid.T) (string, []wanted) {
	return writeNumbered(t, " xX-~", plan.Blocked, "  - _Blocked: no iron_\n")
}

func writeKiro(t *rapid.T) (string, []wanted) {
	if rapid.Bool().Draw(t, "with waves") {
		return writeWaves(t)
	}
	text, all := writeNumbered(t, " xX-~", plan.Pending, "")
	return "# Implementation Plan\n" + text, all
}

// writeNumbered makes a plan of groups and their items. The last line of the first item says what dialect it is.
func writeNumbered(t *rapid.T, marks string, tilde plan.Status, telling string) (string, []wanted) {
	var b strings.Builder
	var all []wanted
	item := func(id, indent, parent string) {
		drawNoise(t, &b)
		mark, status := drawMark(t, marks, plan.Pending, plan.Completed, plan.Completed, plan.InProgress, tilde)
		w := wanted{id: id, title: drawTitle(t), status: status, parent: parent, waits: drawSome(t, all)}
		bullet := rapid.SampledFrom([]string{"-", "*", "+"}).Draw(t, "bullet")
		star, dot := "", rapid.SampledFrom([]string{"", "."}).Draw(t, "dot")
		if telling == "" {
			w.optional = rapid.Bool().Draw(t, "optional")
		}
		if w.optional {
			star = "*"
		}
		fmt.Fprintf(&b, "%s%s [%s]%s %s%s %s\n", indent, bullet, mark, star, w.id, dot, w.title)
		if len(w.waits) > 0 {
			fmt.Fprintf(&b, "%s  - _Depends: %s_\n", indent, strings.Join(w.waits, ", "))
		}
		if len(all) == 0 {
			b.WriteString(telling)
		}
		all = append(all, w)
	}
	for group := range rapid.IntRange(1, 3).Draw(t, "groups") {
		parent := fmt.Sprint(group + 1)
		item(parent, "", "")
		for i := range rapid.IntRange(0, 3).Draw(t, "items") {
			item(fmt.Sprintf("%s.%d", parent, i+1), rapid.SampledFrom([]string{"", "  ", "\t"}).Draw(t, "indent"), parent)
		}
	}
	return b.String(), all
}
