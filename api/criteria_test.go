package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	gaugePlan = "- [ ] 1. Draw the face\n  - _Requirements: 1.1_\n  - _Prompt: Draw it._\n" +
		"- [ ] 2. Draw the hands\n  - _Requirements: 7_\n- [ ] 3. Choose a name\n"
	gaugeCriteria = "### Requirement 1\n#### Acceptance Criteria\n1. WHEN it is noon the clock SHALL strike\n2. IF it stops it SHALL say so\n"
)

// prompted returns the prompt of a role and why its criteria are missing.
func (h *host) prompted(run, role string) (prompt, missing string) {
	h.t.Helper()
	c := h.call("compile_prompt", `{"run_id":%q,"role":%q}`, run, role)
	for i, what := range c.each("omitted", "what") {
		if what == "acceptance_criteria" {
			missing = c.each("omitted", "why")[i]
		}
	}
	return c.str("prompt"), missing
}

func TestReviewerPromptHasItemCriteria(t *testing.T) {
	h := newHost(t, setup{})
	h.write("specs/clock/tasks.md", gaugePlan, time.Hour)
	h.write("specs/clock/requirements.md", gaugeCriteria, time.Hour)
	run := h.call("init_run", `{"plan":"clock","item_id":"1"}`).str("run.run_id")
	for _, role := range []string{"spec-reviewer", "code-quality-reviewer", "reviewer"} {
		prompt, missing := h.prompted(run, role)
		require.Contains(t, prompt, "- 1.1 WHEN it is noon the clock SHALL strike\n")
		require.NotContains(t, prompt, "IF it stops")
		require.Empty(t, missing)
	}
	prompt, missing := h.prompted(run, "worker")
	require.NotContains(t, prompt, "it is noon")
	require.Empty(t, missing)

	h.write("specs/clock/requirements.md", strings.ReplaceAll(gaugeCriteria, "noon", "midnight"), time.Minute)
	prompt, _ = h.prompted(run, "spec-reviewer")
	require.Contains(t, prompt, "- 1.1 WHEN it is midnight the clock SHALL strike\n")

	h.ingest(run, "worker", worked())
	retry := h.ingest(run, "spec-reviewer", "Looks fine to me, I would say.").str("retry_prompt")
	require.Contains(t, retry, "- 1.1 WHEN it is midnight the clock SHALL strike\n", "it repeats what the reviewer was given")
}

func TestPromptReportsMissingCriteria(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", gaugePlan, time.Hour)
	one, two, three := h.run("1"), h.run("2"), h.run("3")
	said := func(want, run string) {
		t.Helper()
		prompt, missing := h.prompted(run, "spec-reviewer")
		require.Equal(t, want, missing)
		require.NotContains(t, prompt, "SHALL strike")
	}
	said("", one) // there is no such file, as with most plans

	h.write("requirements.md", gaugeCriteria, time.Hour)
	said("requirements.md lacks criteria that the item names: 7", two)
	said("", three) // which names none

	h.write("requirements.md", gaugeCriteria+strings.Repeat("# x\n", 5<<20), time.Hour)
	said("requirements.md cannot be read: too_large", one)
	h.remove("requirements.md")
	said("", one)
}

func TestCriteriaOfAStoryAreThoseOfItsFile(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "# Story 1\n## Acceptance Criteria\n1. three columns\n2. no prices\n\n## Tasks / Subtasks\n- [ ] Task 1: Menu (AC: 2)\n- [ ] Task 2: Board (AC: 1)\n", time.Hour)
	run := h.run("1")
	prompt, missing := h.prompted(run, "spec-reviewer")
	require.Empty(t, missing)
	require.Contains(t, prompt, "- 2 no prices\n")
	require.NotContains(t, prompt, "three columns")
}

func TestCriteriaOfSpecKitAreThoseOfItsStories(t *testing.T) {
	h := newHost(t, setup{})
	h.write("specs/001-clock/tasks.md", "## Phase 1: User Story 1\n- [ ] T001 [US1] Draw the face\n- [ ] T002 [US2] Draw the hands\n", time.Hour)
	h.write("specs/001-clock/spec.md", "### User Story 1 - Read it\n**Acceptance Scenarios**:\n1. **Given** noon, **When** I look, **Then** I see it\n"+
		"### User Story 2 - Hear it\n**Acceptance Scenarios**:\n1. **Given** noon, **When** I sleep, **Then** I wake\n", time.Hour)
	run := h.call("init_run", `{"plan":"specs/001-clock/tasks.md","item_id":"T002"}`).str("run.run_id")
	prompt, _ := h.prompted(run, "spec-reviewer")
	require.Contains(t, prompt, "- US2.1 Given noon, When I sleep, Then I wake\n")
	require.NotContains(t, prompt, "When I look")
}

// The dialect is stored, so that a process that cannot read the plan finds the right criteria file.
func TestCriteriaAreThoseOfTheDialectAlsoIfTheNextProcessCannotReadThePlan(t *testing.T) {
	dir, st := t.TempDir(), newSharedStore(t)
	h := newHost(t, setup{dir: dir, store: st})
	h.write("specs/001-clock/tasks.md", "## Phase 1: User Story 1\n- [ ] T001 [US1] Draw the face\n- [ ] T002 [US2] Draw the hands\n", time.Hour)
	h.write("specs/001-clock/spec.md", "### User Story 1 - Read it\n**Acceptance Scenarios**:\n1. **Given** noon, **When** I look, **Then** I see it\n", time.Hour)
	h.write("specs/001-clock/requirements.md", "### User Story 1\n**Acceptance Criteria**:\n1. that of another tool\n", time.Hour)
	run := h.call("init_run", `{"plan":"specs/001-clock/tasks.md","item_id":"T001"}`).str("run.run_id")
	h.remove("specs/001-clock/tasks.md")
	for range 2 {
		prompt, missing := h.prompted(run, "spec-reviewer")
		require.Contains(t, prompt, "- US1.1 Given noon, When I look, Then I see it\n")
		require.NotContains(t, prompt, "another tool")
		require.Empty(t, missing)
		h.stop()
		h = newHost(t, setup{dir: dir, store: st})
	}
}

// The criteria of a story are in the plan itself.
func TestCriteriaThatWentWithThePlanAreMissed(t *testing.T) {
	dir, st := t.TempDir(), newSharedStore(t)
	h := newHost(t, setup{dir: dir, store: st})
	h.write("tasks.md", "# Story 1\n## Acceptance Criteria\n1. three columns\n\n## Tasks / Subtasks\n- [ ] Task 1: Menu (AC: 1)\n- [ ] Task 2: Board (AC: 1)\n", time.Hour)
	run := h.run("1")
	h.remove("tasks.md")
	for range 2 {
		_, missing := h.prompted(run, "spec-reviewer")
		require.Equal(t, "tasks.md cannot be read: missing", missing)
		h.stop()
		h = newHost(t, setup{dir: dir, store: st})
	}
}
