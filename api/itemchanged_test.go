package api_test

import (
	"testing"
	"time"
)

// A run whose item was replaced by another one with the same id says so.
func TestReplacedItemIsReported(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [ ] 1. Draw the face\n- [ ] 2. Draw the hands\n", time.Hour)
	run := h.run("1")
	h.compile(run).lacks("item_changed")
	h.write("tasks.md", "- [x] 1. Draw  the face\n  - Twelve hours.\n- [ ] 2. Draw the hands\n", time.Hour)
	h.compile(run).lacks("item_changed")
	h.write("tasks.md", "- [ ] 1. Choose a name\n- [ ] 2. Draw the face\n", time.Hour)
	const told = `item "1" has another title than at the start of the run: if it is another item, ` +
		`start a new run with init_run and resume "new"; if it is the same, replan`
	h.compile(run).has(told, "item_changed")
	h.remove("tasks.md")
	h.compile(run).has(told, "item_changed")

	h.write("tasks.md", "- [ ] 1. Choose a name\n", time.Hour)
	other := h.call("init_run", `{"plan":"tasks.md","item_id":"1","resume":"new"}`).str("run.run_id")
	h.compile(other).lacks("item_changed")
	h.write("tasks.md", "- [ ] 1. Choose a good name\n", time.Hour)
	h.compile(other).has(told, "item_changed")
	h.call("replan", `{"run_id":%q,"summary":"a good one"}`, other)
	h.compile(other).lacks("item_changed")
}
