package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/schema"
	"waybill/test/slow"
)

func TestDialectIsToldWithItsReasons(t *testing.T) {
	h := newHost(t, setup{dialects: []engine.DialectRule{{Pattern: "docs/*.md", Dialect: "openspec"}}})
	h.write("docs/tasks.md", "- [ ]* 1. First\n", time.Hour)
	h.write(".spec-workflow/specs/a/tasks.md", twoItems, time.Hour)
	list := h.call("list_plans", `{}`)
	list.has("spec-workflow", "items.0.dialect")
	list.has("box with a number", "items.0.dialect_reason")
	list.has("openspec", "items.1.dialect")
	list.has("set by configuration for docs/*.md", "items.1.dialect_reason")
	plan := h.call("get_plan", `{"plan":"docs/tasks.md"}`)
	plan.has("openspec", "evidence.0.dialect")
	plan.lacks("evidence.0.line")
	plan.has("kiro", "evidence.1.dialect")
	plan.has("star after a box", "evidence.1.signal")
	plan.has(1, "evidence.1.line")
	plan = h.call("get_plan", `{"plan":"a"}`)
	plan.has("path that begins with .spec-workflow/", "evidence.1.signal")
	plan.lacks("evidence.1.line")
	status := h.call("get_status", `{}`)
	status.has("docs/*.md", "dialects.0.pattern")
	status.has("openspec", "dialects.0.dialect")
	status.lacks("dialects.1")
}

func TestListSaysWhyAFileIsNoPlan(t *testing.T) {
	h := newHost(t, setup{})
	h.write("docs/plans/a.md", twoItems, time.Hour)
	h.write("docs/plans/notes.md", "# Notes\n", time.Hour)
	list := h.call("list_plans", `{}`)
	list.has("docs/plans/a.md", "items.0.path")
	list.lacks("items.1")
	list.has("docs/plans/notes.md", "others.0.path")
	list.has("progress_ledger_parse_failed", "others.0.why.code")
	list.has("no_items", "others.0.why.reason")
	list.lacks("others.1")
	list.lacks("problems.0")
	require.NotContains(t, h.call("get_status", `{}`).text, "notes.md")
	h.remove("docs/plans/notes.md")
	h.call("list_plans", `{}`).lacks("others.0")
}

func TestListOfTooManyPlans(t *testing.T) {
	h := newHost(t, setup{})
	for i := range 101 {
		h.write(fmt.Sprintf("specs/%03d/tasks.md", i), twoItems, time.Hour-time.Duration(i)*time.Second)
	}
	list := h.call("list_plans", `{}`)
	require.Contains(t, list.str("problems.0"), "there are 101 plans")
	list.has("specs/001/tasks.md", "items.0.path")
	list.has("specs/100/tasks.md", "items.99.path")
	list.lacks("items.100")
	h.call("get_plan", `{"plan":"specs/000/tasks.md"}`)
}

// A folder without plans, a missing one and one with too many files have the errors of files.
func TestFolderWithoutPlans(t *testing.T) {
	h := newHost(t, setup{})
	h.write("backlog/tasks/notes.txt", "x", time.Hour)
	for _, plan := range []string{"backlog/tasks", "backlog/drafts"} {
		fault := h.refused(schema.LedgerMissing, "get_plan", `{"plan":%q}`, plan)
		fault.has("missing", "data.details.reason")
		fault.has(plan, "data.details.path")
	}
	h.call("list_plans", `{}`).lacks("items.0")
}

func TestFolderWithTooManyFiles(t *testing.T) {
	slow.Test(t)
	h := newHost(t, setup{})
	for i := range 5001 {
		h.write(fmt.Sprintf("backlog/tasks/task-%d.md", i), "", time.Hour)
	}
	fault := h.refused(schema.LedgerUnparsed, "get_plan", `{"plan":"backlog/tasks"}`)
	fault.has("too_many_files", "data.details.reason")
	fault.has(5001, "data.details.size")
	fault.has(5000, "data.details.limit")
	list := h.call("list_plans", `{}`)
	list.has("backlog/tasks", "items.0.path")
	list.has("too_many_files", "items.0.error.reason")
}
