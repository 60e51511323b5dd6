package plan_test

import (
	"strings"
	"testing"
)

func TestEveryWordInAHeadingIsSetInEveryForm(t *testing.T) {
	const text = "# Plan\n### Task 1: oak (COMPLETED)\n- [ ] **Step 1: b**\n#### ✅ Task 2: **c**\n\t### Task 3: d ⏳\n> ### Task 4 (wip)\n### Task 5: e [x] ##\n"
	for form, of := range forms {
		t.Run(form, func(t *testing.T) { checkEveryMark(t, of(text)) })
	}
	checkEveryMark(t, strings.ReplaceAll(text, "Task ", "Task Group "))
}
