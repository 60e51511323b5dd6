package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// degraded asserts that a prompt was compiled from the last good reading, and returns it.
func (h *host) degraded(run, reason string) object {
	h.t.Helper()
	prompt := h.compile(run)
	prompt.has("ledger_plus_fallback", "ledger_mode")
	prompt.has(reason, "fallback_reason")
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

func TestMissingPlanIsReportedWithItsAge(t *testing.T) {
	h, run, c, written := stalled(t)
	h.remove("tasks.md")
	began := c.now()
	for range 3 {
		prompt := h.degraded(run, "rebuild_failed")
		prompt.aged("", "fallback", "rebuild_failed", began, fallbackNames, written)
		require.Contains(t, prompt.str("prompt"), "rebuild_failed", "the agent must know")
		ledgers := h.call("get_ledger", `{"run_id":%q}`, run)
		ledgers.aged("", "fallback", "rebuild_failed", began, fallbackNames, written)
		ledgers.has(prompt.at("fallback_detail"), "fallback_detail")
		for _, method := range []string{"get_plan", "ready_items"} {
			h.call(method, `{"plan":"tasks.md"}`).aged("", "stale", "missing", began, staleNames, written)
		}
		c.move(2 * time.Second)
	}
	telemetry := h.telemetry(run)
	telemetry.has(map[string]any{"rebuild_failed": 3.0}, "rebuilds.fallbacks")
	telemetry.has(3, "ledger_modes.ledger_plus_fallback")
	telemetry.has(0+2000+4000, "rebuilds.fallback_ms")
	status := fmt.Sprint(h.call("get_status", `{}`).at("degraded"))
	for _, part := range []string{"plan tasks.md: ", "(missing since " + string(schema.TimeOf(began)) + ")", "its version of " + string(written)} {
		require.Contains(t, status, part)
	}
}

func TestUnreadablePlanIsReportedUntilItIsBack(t *testing.T) {
	for _, c := range []struct {
		fallback, reason string
		damage           func(h *host)
	}{
		{"rebuild_failed", "not_regular", func(h *host) { h.breakPlan() }},
		{"empty", "empty", func(h *host) { h.repairPlan("") }},
	} {
		h, run, clock, written := stalled(t)
		c.damage(h)
		began := clock.now()
		h.degraded(run, c.fallback)
		clock.move(time.Minute)
		h.degraded(run, c.fallback).aged("", "fallback", c.fallback, began, fallbackNames, written)
		list := h.call("list_plans", `{}`)
		list.aged("items.0.", "stale", c.reason, began, staleNames, written)
		list.has(c.fallback, "items.0.stale")
		list.has(c.reason, "items.0.error.reason")
		plan := h.call("get_plan", `{"plan":"tasks.md"}`)
		plan.has(c.fallback, "stale")
		plan.aged("", "stale", c.reason, began, staleNames, written)
		require.Contains(t, h.call("get_status", `{}`).text, "("+c.reason+" since "+string(schema.TimeOf(began))+")")

		h.repairPlan(twoItems + "- [ ] 3. Third\n")
		for _, answer := range []object{h.compile(run), h.call("get_ledger", `{"run_id":%q}`, run)} {
			answer.has("ledger_only", "ledger_mode")
			for _, field := range []string{"fallback_reason", "fallback_detail", "fallback_since", "ledger_as_of"} {
				answer.lacks(field)
			}
		}
		list = h.call("list_plans", `{}`)
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
	list.lacks("items.0.stale")
	list.lacks("items.0.as_of")
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
	prompt.has("ledger_only", "ledger_mode")
	prompt.has(true, "rebuilt")
	require.Contains(t, prompt.str("prompt"), "Do it.")
}

// A run whose item is gone from the plan gets no prompt, whether or not the file is readable.
func TestRunOfARemovedItemGetsNoPrompt(t *testing.T) {
	dir, st := t.TempDir(), newSharedStore(t)
	h, run := planned(t, setup{dir: dir, store: st})
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
	h.stop()
	h = newHost(t, setup{dir: dir, store: st}) // which has only the stored facts
	removed()
	h.repairPlan(twoItems)
	h.compile(run).has("ledger_only", "ledger_mode")
}

func TestPlanEmptiedBetweenProcessesIsDegraded(t *testing.T) {
	dir, st := t.TempDir(), newSharedStore(t)
	h, run := planned(t, setup{dir: dir, store: st})
	h.stop()
	h.write("tasks.md", "", time.Minute)
	h = newHost(t, setup{dir: dir, store: st})
	h.degraded(run, "empty")
	h.refused(schema.LedgerUnparsed, "get_plan", `{"plan":"tasks.md"}`).has("empty", "data.details.reason")
	h.degraded(run, "empty")
	h.repairPlan(twoItems)
	h.compile(run).has("ledger_only", "ledger_mode")
}

// Each change of state is sent once, as a notification and as an event.
func TestUnreadablePlanIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, run := planned(t, setup{})
		listener := h.listen()
		listener.recorded()
		look := func() []note {
			h.compile(run)
			time.Sleep(time.Second)
			for range 3 {
				h.compile(run)
			}
			return listener.recorded()
		}
		hash := h.call("get_plan", `{"plan":"tasks.md"}`).at("fingerprint")
		for _, step := range []struct {
			change        func()
			stale, reason any
		}{
			{h.breakPlan, "rebuild_failed", "not_regular"},
			{func() { h.repairPlan("") }, "empty", "empty"},
			{func() { h.repairPlan(twoItems) }, nil, nil},
		} {
			step.change()
			notes := look()
			require.Len(t, notes, 1)
			require.Equal(t, "ledger/changed", notes[0].method)
			events := h.call("events_since", `{"cursor":"%v"}`, notes[0].at("seq").(float64)-1)
			events.lacks("events.1")
			events.has("ledger.changed", "events.0.type")
			for field, want := range map[string]any{"stale": step.stale, "stale_reason": step.reason} {
				if want == nil {
					notes[0].lacks(field)
					events.lacks("events.0.data." + field)
				} else {
					notes[0].has(want, field)
					events.has(want, "events.0.data."+field)
				}
			}
			notes[0].lacks("gone")
			notes[0].has([]any{}, "changed_ids")
			notes[0].has(hash.(map[string]any)["hash"], "fingerprint.hash")
			require.Empty(t, look(), "nothing has changed since")
		}
	})
}
