package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

const numbersInHeadings = `# Implementation Plan

## 1. Ferry timetable

### 1.1 First thing
- [x] draw the piers
- [-] name them
  - _Requirements: 1.2_

### 1.2 Second thing (COMPLETED)
- [x] print it
- [ ]* frame it

## 2. Departure board
_Depends: 1.1_
- [ ] hang it up

## Task Dependency Graph
` + "```json\n{\"waves\": [{\"id\": 0, \"tasks\": [\"1.1\"]}, {\"id\": 1, \"tasks\": [\"1.2\"]}]}\n```\n"

func TestKiroPlanWithNumbersInHeadingsIsWritten(t *testing.T) {
	marked, err := markOf(t, numbersInHeadings, "2/1", 0, plan.InProgress)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(numbersInHeadings, "- [ ] hang", "- [-] hang", 1), marked.Text)
	_, err = markOf(t, numbersInHeadings, "2", 0, plan.Completed)
	require.ErrorContains(t, err, "its status follows from the items below it")
	for form, of := range forms {
		t.Run(form, func(t *testing.T) { checkEveryMark(t, of(numbersInHeadings)) })
	}
}
