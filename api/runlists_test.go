package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/schema"
	"waybill/store"
	"waybill/test/slow"
)

// runPages returns the run ids of a list by page.
func (h *host) runPages(more string) (pages [][]string) {
	h.t.Helper()
	for cursor := ""; ; {
		page := h.call("list_runs", `{"limit":2,"cursor":%q%s}`, cursor, more)
		pages = append(pages, page.each("items", "run_id"))
		next, ok := page.find("next_cursor")
		if !ok {
			return pages
		}
		cursor = next.(string)
	}
}

// The list has the runs of all plans, newest first, or those of a plan by its path or short name.
func TestListOfRuns(t *testing.T) {
	p := newStoreCase(t)
	h := p.host(t)
	h.write("tasks.md", clockPlan, time.Hour)
	h.write("specs/tower/tasks.md", clockPlan, time.Hour)
	start := func(plan, item string) string {
		return h.call("init_run", `{"plan":%q,"item_id":%q,"resume":"new"}`, plan, item).str("run.run_id")
	}
	superseded, first := start("tasks.md", "1"), start("tasks.md", "1")
	tower := start("specs/tower/tasks.md", "1")
	other := start("tasks.md", "2")
	require.Equal(t, [][]string{{other, tower}, {first, superseded}}, h.runPages(""))
	require.Equal(t, [][]string{{other, first}, {superseded}}, h.runPages(`,"plan":"tasks.md"`))
	require.Equal(t, [][]string{{other, first}, {superseded}}, h.runPages(`,"plan":"./tasks.md"`))
	require.Equal(t, [][]string{{tower}}, h.runPages(`,"plan":"tower"`))
	require.Equal(t, [][]string{{other, first}}, h.runPages(`,"plan":"tasks.md","state":"running"`))
	require.Equal(t, [][]string{{superseded}}, h.runPages(`,"state":"failed"`))
	require.Equal(t, [][]string{{}}, h.runPages(`,"state":"done"`))
	require.Equal(t, h.resume("tower", "1").at("run"), h.call("list_runs", `{"plan":"tower"}`).at("items.0"))

	require.Equal(t, []string{superseded}, h.call("list_runs", `{"run_id":%q}`, superseded).each("items", "run_id"))

	require.NoError(t, os.RemoveAll(filepath.Join(h.dir, "specs")))
	require.Equal(t, []string{tower}, h.call("list_runs", `{"run_id":%q}`, tower).each("items", "run_id"), "its plan is gone")
	require.Equal(t, [][]string{{tower}}, h.runPages(`,"plan":"specs/tower/tasks.md"`))
	require.Equal(t, [][]string{{}}, h.runPages(`,"plan":"specs/none/tasks.md"`))
}

func TestListOfRunsRefuses(t *testing.T) {
	h, _ := hostWithClock(t, setup{})
	for _, cursor := range []string{"1", "-1", "run_none", "ins_1"} {
		fault := h.refused(schema.InvalidParams, "list_runs", `{"cursor":%q}`, cursor)
		fault.has("/cursor", "data.details.errors.0.pointer")
	}
	h.refused(schema.InvalidParams, "list_runs", `{"limit":501}`)
	h.refused(schema.InvalidParams, "list_runs", `{"state":"lost"}`)
	h.refused(schema.PlanGone, "list_runs", `{"plan":"nowhere"}`)
	h.refused(schema.RunGone, "list_runs", `{"run_id":"run_none"}`)
	for _, other := range []string{`"plan":"tasks.md"`, `"state":"done"`, `"cursor":"run_1"`} {
		fault := h.refused(schema.InvalidParams, "list_runs", `{"run_id":"run_none",%s}`, other)
		fault.has("absent when run_id is given", "data.details.errors.0.expected")
	}
}

func TestHundredThousandRunsByPages(t *testing.T) {
	slow.Test(t)
	many := slow.Size(100_000)
	st := newSharedStore(t)
	require.NoError(t, st.Update(t.Context(), func(tx store.Tx) error {
		for i := 1; i <= many; i++ {
			run, _ := run.Start(fmt.Sprintf("run_%d", i), "tasks.md", fmt.Sprint(i%100), "", coretest.Policy(), 1)
			if err := tx.PutRun(run); err != nil {
				return err
			}
		}
		return nil
	}))
	h := newHost(t, setup{store: st})
	left := many
	for cursor := ""; ; {
		page := h.call("list_runs", `{"limit":500,"cursor":%q}`, cursor)
		for _, id := range page.each("items", "run_id") {
			require.Equal(t, fmt.Sprintf("run_%d", left), id)
			left--
		}
		more, ok := page.find("next_cursor")
		if !ok {
			break
		}
		cursor = more.(string)
	}
	require.Zero(t, left)
}
