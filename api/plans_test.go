package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/schema"
)

const twoItems = "# Plan\n\n- [ ] 1. First\n  - _Prompt: Do the first thing._\n- [x] 2. Second\n"

// planned returns a host with a plan and a run of its item 1.
func planned(t *testing.T, s setup) (h *host, run string) {
	t.Helper()
	h = newHost(t, s)
	h.write("tasks.md", twoItems, time.Hour)
	return h, h.run("1")
}

// run starts a run of an item of tasks.md.
func (h *host) run(item string) string {
	h.t.Helper()
	return h.call("init_run", `{"plan":"tasks.md","item_id":%q}`, item).str("run.run_id")
}

// compile compiles the worker's prompt of a run.
func (h *host) compile(run string) object {
	h.t.Helper()
	return h.call("compile_prompt", `{"run_id":%q,"role":"worker"}`, run)
}

// ready calls ready_items for tasks.md; rest are further params.
func (h *host) ready(rest string) object {
	h.t.Helper()
	return h.call("ready_items", "%s", `{"plan": "tasks.md"`+rest+`}`)
}

// held returns why each item cannot be started, in plan order.
func (o object) held() []string {
	o.t.Helper()
	list := []string{}
	for i, id := range o.each("waiting", "item_id") {
		reasons := []string{}
		for j, kind := range o.each(fmt.Sprintf("waiting.%d.because", i), "kind") {
			if about, ok := o.find(fmt.Sprintf("waiting.%d.because.%d.item_id", i, j)); ok {
				kind += " " + about.(string)
			}
			reasons = append(reasons, kind)
		}
		list = append(list, id+": "+strings.Join(reasons, ", "))
	}
	return list
}

func TestListPlans(t *testing.T) {
	h := newHost(t, setup{})
	h.call("list_plans", `{}`).has([]any{}, "items")
	h.write("specs/login/tasks.md", twoItems, time.Hour)
	h.write("specs/logout/tasks.md", "no plan\n", time.Hour)
	list := h.call("list_plans", `{}`)
	list.has("specs/login/tasks.md", "items.0.plan", "specs/login/tasks.md", "items.0.path", 2, "items.0.totals.total")
	list.has(0, "items.0.diagnostics_count")
	list.lacks("items.0.error")
	list.has("progress_ledger_parse_failed", "items.1.error.code", "no_items", "items.1.error.reason")
	plan := h.call("get_plan", `{"plan":"login"}`)
	plan.has("specs/login/tasks.md", "plan", list.at("items.0.fingerprint"), "fingerprint")
	plan.has(list.at("items.0.dialect"), "dialect", []any{}, "diagnostics", "Do the first thing.", "items.0.prompt")
	plan.has([]any{}, "items.0.depends_on", "completed", "items.1.status")
	plan.lacks("stale")
	h.write("specs/login/tasks.md", "", time.Minute)
	list = h.call("list_plans", `{}`)
	list.has("empty", "items.0.error.reason", "progress_ledger_parse_failed", "items.0.error.code")
	list.has(2, "items.0.totals.total")
	h.call("get_plan", `{"plan":"login"}`).has("empty", "stale")
	require.NoError(t, os.RemoveAll(filepath.Join(h.dir, "specs")))
	h.call("list_plans", `{}`).has([]any{}, "items")
}

func TestPlanShowsDerivedStatusAndDiagnostics(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [x] 1. Parent\n  - [x] 1.1 Child\n  - [ ] 1.2 Other\n- [ ] no id\n", time.Hour)
	plan := h.call("get_plan", `{"plan":"tasks.md"}`)
	plan.has("completed", "items.0.status", "in_progress", "items.0.derived_status", "1", "items.1.parent_id")
	plan.has(1, "items.1.level")
	plan.lacks("items.1.derived_status")
	plan.has(1, "totals.groups")
	lines := []any{}
	for i := range plan.each("diagnostics", "code") {
		lines = append(lines, plan.at(fmt.Sprintf("diagnostics.%d.line", i)))
	}
	require.Contains(t, lines, 4.0)
	h.call("list_plans", `{}`).has(len(lines), "items.0.diagnostics_count")
}

func TestPlanNamesItsDialectAndTheEvidence(t *testing.T) {
	h := newHost(t, setup{dialects: []engine.DialectRule{{Pattern: "docs/*.md", Dialect: "openspec"}}})
	h.write("docs/tasks.md", "- [ ]* 1. First\n", time.Hour)
	h.write(".spec-workflow/specs/a/tasks.md", twoItems, time.Hour)
	list := h.call("list_plans", `{}`)
	list.has("spec-workflow", "items.0.dialect", "box with a number", "items.0.dialect_reason")
	list.has("openspec", "items.1.dialect", "set by configuration for docs/*.md", "items.1.dialect_reason")
	plan := h.call("get_plan", `{"plan":"docs/tasks.md"}`)
	plan.has("openspec", "evidence.0.dialect")
	plan.lacks("evidence.0.line")
	plan.has("kiro", "evidence.1.dialect", "star after a box", "evidence.1.signal", 1, "evidence.1.line")
	plan = h.call("get_plan", `{"plan":"a"}`)
	plan.has("path that begins with .spec-workflow/", "evidence.1.signal")
	plan.lacks("evidence.1.line")
	status := h.call("get_status", `{}`)
	status.has("docs/*.md", "dialects.0.pattern", "openspec", "dialects.0.dialect")
	status.lacks("dialects.1")
}

func TestListSaysWhyAFileIsNoPlan(t *testing.T) {
	h := newHost(t, setup{})
	h.write("docs/plans/a.md", twoItems, time.Hour)
	h.write("docs/plans/notes.md", "# Notes\n", time.Hour)
	list := h.call("list_plans", `{}`)
	list.has("docs/plans/a.md", "items.0.path")
	list.lacks("items.1")
	list.has("docs/plans/notes.md", "others.0.path", "progress_ledger_parse_failed", "others.0.why.code")
	list.has("no_items", "others.0.why.reason")
	list.lacks("others.1", "problems.0")
	require.NotContains(t, h.call("get_status", `{}`).text, "notes.md")
	h.remove("docs/plans/notes.md")
	h.call("list_plans", `{}`).lacks("others.0")
}

func TestListOfTooManyPlansReportsAProblem(t *testing.T) {
	h := newHost(t, setup{})
	for i := range 101 {
		h.write(fmt.Sprintf("specs/%03d/tasks.md", i), twoItems, time.Hour-time.Duration(i)*time.Second)
	}
	list := h.call("list_plans", `{}`)
	require.Contains(t, list.str("problems.0"), "there are 101 plans")
	list.lacks("items.100")
	require.Contains(t, h.call("get_status", `{}`).at("degraded"), list.at("problems.0"))
}

func TestPlanThatCannotBeReadIsRefused(t *testing.T) {
	mkdir := func(h *host) { require.NoError(h.t, os.Mkdir(filepath.Join(h.dir, "tasks.md"), 0o755)) }
	text := func(text string) func(h *host) {
		return func(h *host) { h.write("tasks.md", text, time.Hour) }
	}
	for reason, c := range map[string]struct {
		code    schema.Code
		make    func(h *host)
		details map[string]any
	}{
		"missing":     {schema.LedgerMissing, func(*host) {}, map[string]any{"path": "tasks.md"}},
		"not_regular": {schema.LedgerUnparsed, func(h *host) { mkdir(h) }, nil},
		"too_large":   {schema.LedgerUnparsed, text(strings.Repeat("x", 65<<10)), map[string]any{"size": 65 << 10, "limit": 64 << 10}},
		"not_text":    {schema.LedgerUnparsed, text("a\x00\x01\x02"), nil},
		"no_items":    {schema.LedgerUnparsed, text("```\n- [ ] 1. sample\n```\n"), map[string]any{"checkboxes": 1}},
	} {
		h := newHost(t, setup{})
		c.make(h)
		for method, params := range map[string]string{
			"get_plan": `{"plan":"tasks.md"}`, "ready_items": `{"plan":"tasks.md"}`, "init_run": `{"plan":"tasks.md","item_id":"1"}`,
			"set_item_status": `{"plan":"tasks.md","item_id":"1","status":"completed"}`,
		} {
			fault := h.refused(c.code, method, "%s", params)
			fault.has(reason, "data.details.reason")
			for name, want := range c.details {
				fault.has(want, "data.details."+name)
			}
		}
		h.repairPlan(twoItems)
		h.run("1")
	}
}

func TestNameOfNoPlanIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	h.write("backlog/tasks/notes.txt", "x", time.Hour)
	for method, more := range map[string]string{
		"get_plan": ``, "ready_items": ``, "init_run": `,"item_id":"1"`, "set_item_status": `,"item_id":"1","status":"completed"`,
	} {
		h.refused(schema.PlanGone, method, `{"plan":"login"%s}`, more).has("login", "data.details.plan")
		for _, folder := range []string{"backlog/tasks", "backlog/drafts"} { // neither has plans
			h.refused(schema.LedgerMissing, method, `{"plan":%q%s}`, folder, more).has(folder, "data.details.path")
		}
		for _, path := range []string{"../tasks.md", "a/../../tasks.md", "/etc/passwd", `C:\\tasks.md`, "CON.md", "tasks.md."} {
			h.refused(schema.PathOutside, method, `{"plan":"%s"%s}`, path, more)
		}
	}
}

func TestPlanThatBecameUnreadableIsNotComplete(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [x] 1. First\n", time.Hour)
	before := h.ready("")
	before.has(true, "completed")
	before.lacks("stale_reason")
	h.write("tasks.md", "nothing to do\n", time.Hour)
	h.ready("").has(false, "completed")
	h.breakPlan()
	h.ready("").has(false, "completed")
}

func TestDeletedWorkspaceHasACode(t *testing.T) {
	h, run := planned(t, setup{})
	if err := os.RemoveAll(h.dir); err != nil {
		t.Skipf("this system does not remove a folder that is open: %v", err)
	}
	h.degraded(run, "rebuild_failed")
	h.refused(schema.NoWorkspace, "list_plans", `{}`)
	h.refused(schema.NoWorkspace, "get_plan", `{"plan":"login"}`)
	require.Contains(t, h.call("get_status", `{}`).text, "find plans")
	h.call("queue_instruction", `{"content":"the store is intact"}`)
}

const wholePlan = "- [x] 1. First\n- [ ] 2. Second\n  - _Depends: 1_\n- [ ] 3. Third\n  - _Depends: 2_\n- [ ] 4. (P) Fourth\n" +
	"- [ ] 5. Group\n  - [ ] 5.1 One (P)\n  - [-] 5.2 Two\n- [ ] 6. Sixth\n  - _Depends: 5, 9_\n"

func TestReadyItemsSayWhatHoldsTheOthersBack(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", wholePlan, time.Hour)
	all := h.ready("")
	all.has([]any{"2", "4", "5.1"}, "ready", []any{"4", "5.1"}, "parallel", 3, "ready_total")
	require.Equal(t, []string{"1: done", "3: depends_on 2", "5: parent", "5.2: in_progress", "6: depends_on 5"}, all.held())
	all.has(6, "left", false, "completed")
	all.lacks("stale", "unread")
	few := h.ready(`, "limit": 2`)
	few.has([]any{"2", "4"}, "ready", []any{"4"}, "parallel", 3, "ready_total")
	require.Equal(t, all.at("waiting"), few.at("waiting"))
	for _, limit := range []string{"0", "-1", "501", "1.5"} {
		h.bad("/limit", "ready_items", `{"plan": "tasks.md", "limit": %s}`, limit)
	}

	run := h.run("2")
	require.Contains(t, h.ready("").held(), "2: in_progress")
	for range 2 {
		h.ingest(run, "worker", "nonsense")
	}
	blocked := h.ready("").held()
	require.Contains(t, blocked, "2: blocked 2")
	require.Contains(t, blocked, "3: depends_on 2, blocked 2")
	h.replan(run, `"plan_items": ["another way"]`)
	require.Contains(t, h.ready("").held(), "2: in_progress")
}

// Boxes without an id keep the plan from being completed.
func TestPlanWithUnreadBoxesIsNotCompleted(t *testing.T) {
	h := newHost(t, setup{})
	const plan = "# Implementation Plan\n- [ ] 1. First\n## Acceptance\n- [x] asked\n"
	h.write("tasks.md", plan+"- [ ] test it\n", time.Hour)
	run := h.run("1")
	h.walk(run, "worker pass", "spec pass", "quality pass").has("halt_and_escalate", "next_action")
	require.Empty(t, h.call("list_notices", `{}`).each("items", "kind"))
	now := h.ready("")
	now.has(1, "left", 1, "unread", false, "completed")
	h.write("tasks.md", plan, 0)
	h.ready("").has(true, "completed")
}

// A run approves an item, not any later item with its id.
func TestApprovalIsOfAnItemAndNotOfItsID(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	h.walk(run, "worker pass", "spec pass", "quality pass").has("done", "run.state")
	h.call("ready_items", `{"plan": "tasks.md"}`).has("done", "waiting.0.because.0.kind")
	h.write("tasks.md", "# Clock\n\n- [ ] 1. Draw the  face\n  - _Prompt: Draw it anew._\n", time.Minute)
	h.call("ready_items", `{"plan": "tasks.md"}`).has(true, "completed")
	h.write("tasks.md", "# Clock\n\n- [ ] 1. Sell the clock\n", time.Minute/2)
	h.call("ready_items", `{"plan": "tasks.md"}`).has([]any{"1"}, "ready")
	h.start("1", "").has(true, "created")
}

// degraded asserts that a prompt was compiled from the last good reading, and returns it.
func (h *host) degraded(run, reason string) object {
	h.t.Helper()
	prompt := h.compile(run)
	prompt.has("ledger_plus_fallback", "ledger_mode", reason, "fallback_reason")
	require.NotEmpty(h.t, prompt.str("fallback_detail"))
	require.Contains(h.t, prompt.str("prompt"), "Do the first thing.")
	prompt.has(false, "rebuilt")
	return prompt
}

// stalled returns a host with a run of a plan that was written an hour ago.
func stalled(t *testing.T) (h *host, run string, c *clock, written schema.Time) {
	t.Helper()
	c = newClock(time.Now().Truncate(time.Second))
	h, run = planned(t, setup{now: c.now})
	c.move(time.Minute)
	return h, run, c, schema.TimeOf(c.now().Add(-time.Hour - time.Minute))
}

// breakPlan replaces tasks.md by a folder.
func (h *host) breakPlan() {
	h.t.Helper()
	path := filepath.Join(h.dir, "tasks.md")
	require.NoError(h.t, os.RemoveAll(path))
	require.NoError(h.t, os.Mkdir(path, 0o755))
}

// repairPlan writes tasks.md in place of anything.
func (h *host) repairPlan(text string) {
	h.t.Helper()
	require.NoError(h.t, os.RemoveAll(filepath.Join(h.dir, "tasks.md")))
	h.write("tasks.md", text, time.Hour)
}

// aged asserts that an answer says why and since when a plan is unreadable, and how old the used version is.
func (o object) aged(at, prefix string, reason string, since time.Time, names [2]string, written schema.Time) {
	o.t.Helper()
	o.has(reason, at+prefix+"_reason")
	o.has(string(schema.TimeOf(since)), at+names[0])
	o.has(string(written), at+names[1])
}

var (
	staleNames    = [2]string{"stale_since", "as_of"}
	fallbackNames = [2]string{"fallback_since", "ledger_as_of"}
)

func TestUnreadablePlanIsReportedUntilItIsBack(t *testing.T) {
	for _, c := range []struct {
		fallback, reason string
		damage           func(h *host)
	}{
		{"rebuild_failed", "missing", func(h *host) { h.remove("tasks.md") }},
		{"rebuild_failed", "not_regular", func(h *host) { h.breakPlan() }},
		{"empty", "empty", func(h *host) { h.repairPlan("") }},
	} {
		h, run, clock, written := stalled(t)
		c.damage(h)
		began := clock.now()
		for range 3 {
			prompt := h.degraded(run, c.fallback)
			prompt.aged("", "fallback", c.fallback, began, fallbackNames, written)
			require.Contains(t, prompt.str("prompt"), c.fallback, "the agent must know")
			ledgers := h.call("get_ledger", `{"run_id":%q}`, run)
			ledgers.aged("", "fallback", c.fallback, began, fallbackNames, written)
			ledgers.has(prompt.at("fallback_detail"), "fallback_detail")
			for _, method := range []string{"get_plan", "ready_items"} {
				plan := h.call(method, `{"plan":"tasks.md"}`)
				plan.has(c.fallback, "stale")
				plan.aged("", "stale", c.reason, began, staleNames, written)
			}
			clock.move(2 * time.Second)
		}
		telemetry := h.telemetry(run)
		telemetry.has(map[string]any{c.fallback: 3.0}, "rebuilds.fallbacks", 3, "ledger_modes.ledger_plus_fallback")
		telemetry.has(0+2000+4000, "rebuilds.fallback_ms")
		status := fmt.Sprint(h.call("get_status", `{}`).at("degraded"))
		require.Contains(t, status, "plan tasks.md: ")
		require.Contains(t, status, "("+c.reason+" since "+string(schema.TimeOf(began))+")")
		require.Contains(t, status, "its version of "+string(written))
		if c.reason != "missing" {
			list := h.call("list_plans", `{}`)
			list.aged("items.0.", "stale", c.reason, began, staleNames, written)
			list.has(c.fallback, "items.0.stale", c.reason, "items.0.error.reason")
		}

		h.repairPlan(twoItems + "- [ ] 3. Third\n")
		for _, answer := range []object{h.compile(run), h.call("get_ledger", `{"run_id":%q}`, run)} {
			answer.has("ledger_only", "ledger_mode")
			for _, field := range []string{"fallback_reason", "fallback_detail", "fallback_since", "ledger_as_of"} {
				answer.lacks(field)
			}
		}
		list := h.call("list_plans", `{}`)
		for _, field := range []string{"stale", "stale_reason", "stale_since", "as_of", "error"} {
			list.lacks("items.0." + field)
		}
		require.NotContains(t, h.call("get_status", `{}`).text, "plan tasks.md")
	}
}

func TestUnreadPlanHasNoVersion(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "no plan\n", time.Hour)
	list := h.call("list_plans", `{}`)
	list.has("no_items", "items.0.stale_reason")
	list.lacks("items.0.stale", "items.0.as_of")
	require.Contains(t, h.call("get_status", `{}`).text, "it was never read, so its runs use their stored facts")
}

// During the settle period the last good reading counts, then the truncated file.
func TestHalfWrittenPlanIsReportedWithItsAge(t *testing.T) {
	h, run, c, written := stalled(t)
	h.write("tasks.md", "# Plan\n\n- [ ] 1. First\n  - _Prompt: Do it._\n", 0)
	began := c.now()
	h.degraded(run, "settling").aged("", "fallback", "settling", began, fallbackNames, written)
	c.move(149 * time.Millisecond)
	h.degraded(run, "settling").aged("", "fallback", "settling", began, fallbackNames, written)
	h.telemetry(run).has(149, "rebuilds.fallback_ms")
	c.move(time.Millisecond)
	prompt := h.compile(run)
	prompt.has("ledger_only", "ledger_mode", true, "rebuilt")
	require.Contains(t, prompt.str("prompt"), "Do it.")
}

// A run whose item is gone from the plan gets no prompt, whether or not the file is readable.
func TestRunOfARemovedItemGetsNoPrompt(t *testing.T) {
	h, run := planned(t, setup{})
	h.compile(run)
	h.write("tasks.md", "- [x] 2. Second\n", time.Hour)
	a := <-h.begin(t.Context(), "compile_prompt", `{"run_id":%q,"role":"worker"}`, run)
	require.Equal(t, schema.ItemGone, a.Err.Data.Code) // this call changes the facts
	removed := func() {
		t.Helper()
		for range 2 {
			fault := h.refused(schema.ItemGone, "compile_prompt", `{"run_id":%q,"role":"worker"}`, run)
			require.NotContains(t, fault.text, "Do the first thing.")
		}
		ledger := h.call("get_ledger", `{"run_id":%q}`, run)
		ledger.lacks("progress_ledger.current_item")
		ledger.has(1, "progress_ledger.totals.total")
	}
	removed()
	h.breakPlan()
	removed()
	h = h.restart() // which has only the stored facts
	removed()
	h.repairPlan(twoItems)
	h.compile(run).has("ledger_only", "ledger_mode")
}
