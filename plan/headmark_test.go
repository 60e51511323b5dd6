package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// A word or a sign in a heading was read as its status, and could not be set.
func TestTheWordInAHeadingIsItsMark(t *testing.T) {
	for _, c := range []struct {
		heading string
		to      plan.Status
		want    string
	}{
		{"#### Task Group 1: oak (COMPLETED)", plan.InProgress, "#### Task Group 1: oak (IN PROGRESS)"},
		{"#### Task Group 1: oak (IN PROGRESS)", plan.Completed, "#### Task Group 1: oak (COMPLETED)"},
		{"### Task 1: oak (Completed 2024-10-02)", plan.Skipped, "### Task 1: oak (Skipped 2024-10-02)"},
		{"### Task 1: oak (done)", plan.InProgress, "### Task 1: oak (in progress)"},
		{"### Task 1: oak [DONE] ##", plan.Blocked, "### Task 1: oak [BLOCKED] ##"},
		{"### Task 1: oak ✅", plan.InProgress, "### Task 1: oak ⏳"},
		{"### Task 1: oak ⏳", plan.Completed, "### Task 1: oak ✅"},
		{"### ✔️ Task 1: oak", plan.InProgress, "### ⏳ Task 1: oak"},
		{"### Task 1: ✅ oak", plan.InProgress, "### Task 1: ⏳ oak"},
		{"### Task 1 [x]: oak", plan.Pending, "### Task 1 [ ]: oak"},
		{"### Task 1: oak [ ]", plan.Completed, "### Task 1: oak [x]"},
		{"### **Task 1: oak** (**COMPLETED**)", plan.InProgress, "### **Task 1: oak** (**IN PROGRESS**)"},
		{"### Task 1: oak (✅ Done)", plan.Blocked, "### Task 1: oak (Blocked)"},
		{"### Task 1: oak ✅ COMPLETE", plan.InProgress, "### Task 1: oak ⏳"},
		{"### Task 1: oak (COMPLETED)\n### Task 2: b (wip)", plan.InProgress, "### Task 1: oak (wip)\n### Task 2: b (wip)"},
		{"### Task 1: oak (COMPLETED)\n### Task 2: b (Pending)", plan.Pending, "### Task 1: oak (Pending)\n### Task 2: b (Pending)"},
	} {
		marked, err := markOf(t, c.heading+"\n\n- [ ] 1.1 b\n", "1", 1, c.to)
		require.NoError(t, err, c.heading)
		require.Equal(t, c.want+"\n\n- [ ] 1.1 b\n", marked.Text)
		require.True(t, marked.Item.Worded)
	}
}

// What no heading says is refused, with what is written there and without saying that the items below count.
func TestAStatusThatNoHeadingSaysIsRefused(t *testing.T) {
	for heading, c := range map[string]struct {
		to   plan.Status
		want string
	}{
		"### Task 1: oak (COMPLETED)": {plan.Pending, "no word or sign for pending fits a heading such as the one on line 1, only those for in_progress, completed, blocked, skipped"},
		"### Task 1: oak ✅":           {plan.Blocked, "only those for in_progress, completed;"},
		"### Task 1: oak [x]":         {plan.InProgress, "only those for pending, completed;"},
		"### ~~Task 1: oak~~":         {plan.Completed, "it is struck through on line 1"},
	} {
		_, err := markOf(t, heading+"\n- [ ] **Step 1: b**\n", "1", 0, c.to)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "no box to mark")
	}
	_, err := markOf(t, "### Task 1: oak\n- [ ] **Step 1: b**\n", "1", 0, plan.Completed)
	refusal, ok := errors.AsType[*plan.MarkError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, plan.MarkBoxless, refusal.Reason)
}

// A word in a heading is no box, so it does not make a plan without boxes one of superpowers.
func TestAWordInAHeadingIsNoBox(t *testing.T) {
	r := parse(t, "### Task 1: oak (COMPLETED)\n### Task 2: b ⏳\n")
	require.Equal(t, "tina", r.Dialect)
	require.Zero(t, r.Checkboxes)
}

func TestEveryWordInAHeadingIsSetInEveryForm(t *testing.T) {
	const text = "# Plan\n### Task 1: oak (COMPLETED)\n- [ ] **Step 1: b**\n#### ✅ Task 2: **c**\n\t### Task 3: d ⏳\n> ### Task 4 (wip)\n### Task 5: e [x] ##\n"
	for form, of := range forms {
		t.Run(form, func(t *testing.T) { checkEveryMark(t, of(text)) })
	}
	checkEveryMark(t, strings.ReplaceAll(text, "Task ", "Task Group "))
}
