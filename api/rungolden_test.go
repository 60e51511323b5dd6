package api_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"waybill/test/golden"

	"github.com/stretchr/testify/require"
)

// numbered returns a setup with reproducible ids and times.
func numbered() setup {
	return setup{
		newID: counted(),
		now:   func() time.Time { return time.Now().Truncate(time.Second) }, // without the rests of the feed
	}
}

// ingestion returns an ingest_output call for a conversation script.
func ingestion(run string, s step) string {
	role, output := s.result()
	return "> ingest_output " + ingestParams(run, role, output)
}

func TestLifeOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, numbered())
		h.write("specs/clock/tasks.md", "# Clock\n\n- [ ] 1. Draw the face\n  - _Prompt: Draw the face of the clock._\n"+
			"- [ ] 2. Draw the hands\n  - _Depends: 1_\n", time.Hour)
		h.write("specs/clock/requirements.md", "# Clock\n\n1. WHEN it is noon THEN the clock SHALL strike twelve\n"+
			"2. The hands are black\n3. IF it stops THEN it SHALL say so\n", time.Hour)
		second := func(s step) string {
			return strings.ReplaceAll(ingestion("run_2", s), `task_id: 1\n`, `task_id: 2\n`)
		}
		golden.Equal(t, "run.txt", converse(t, h, strings.Join([]string{
			`# An item is begun. What its worker prints first is no result, and it is asked again.`,
			`> ready_items {"plan":"clock"}`,
			`> init_run {"plan":"clock","item_id":"1"}`,
			ingestion("run_1", "worker invalid"),
			`+ 1s`,
			ingestion("run_1", "worker pass"),
			`# The spec reviewer wants something changed, and looks again when that is done.`,
			`+ 1s`,
			ingestion("run_1", "spec gaps:the minute hand is missing; there is no test for midnight"),
			`> ingest_output {"run_id":"run_1","role":"worker","output":"Drew it.\n\nBEGIN_DISPATCH_RESULT\n{\"task_id\":\"1\",\"status\":\"completed\",\"summary\":\"Drew the minute hand.\",\"files_changed\":[\"face/hands.go\"],\"tests\":[{\"command\":\"go test ./face\",\"passed\":true}],\"follow_up_actions\":[]}\nEND_DISPATCH_RESULT\n"}`,
			ingestion("run_1", "spec pass"),
			`+ 1s`,
			ingestion("run_1", "quality pass"),
			`> get_ledger {"run_id":"run_1"}`,
			`> get_snapshot {"run_id":"run_1"}`,
			`# The first item is done, so the second one can be begun. Its worker cannot go on, and so it is stuck twice.`,
			`> ready_items {"plan":"clock"}`,
			`> init_run {"plan":"clock","item_id":"2","policy":{"reviewers":["spec-reviewer"]}}`,
			second("worker gaps:there is no ink"),
			second("worker gaps:there is no ink"),
			`> resume_run {"plan":"clock","item_id":"2"}`,
			`> replan {"run_id":"run_2","summary":"draw with chalk","plan_items":["buy chalk","draw the hands"]}`,
			second("worker pass"),
			`# Nothing is left.`,
			second("spec pass"),
			`> ready_items {"plan":"clock"}`,
			`> list_notices {}`,
			`> events_since {"cursor":"0","types":["run.started","run.outcome","run.replanned"]}`,
			`> get_telemetry {}`,
			`# What is over takes nothing more.`,
			second("spec pass"),
			`> replan {"run_id":"run_2","summary":"again"}`,
		}, "\n")))
	})
}

// writeOutcome writes an explanation for review.
func writeOutcome(b *strings.Builder, title string, o object) {
	fmt.Fprintf(b, "== %s: %s is %s\n", title, o.str("subject"), o.str("state"))
	for i := range o.each("because", "rule") {
		at := fmt.Sprintf("because.%d.", i)
		fmt.Fprintf(b, "   %s: %s", o.str(at+"rule"), o.str(at+"text"))
		if seq, ok := o.find(at + "event_seq"); ok {
			fmt.Fprintf(b, " [event %v]", seq)
		}
		b.WriteString("\n")
	}
	for i := range o.each("next", "action") {
		at := fmt.Sprintf("next.%d.", i)
		fmt.Fprintf(b, "   -> %s of %s: %s\n", o.str(at+"action"), o.str(at+"subject"), o.str(at+"text"))
	}
	b.WriteString("\n")
}

// ways are sequences of results that block a run, one for each reason.
var ways = []struct {
	halt   string
	policy string
	steps  []step
}{
	{"invalid_results", "", []step{"worker invalid", "worker invalid"}},
	{"worker_failures", `"stalled_threshold": 9`, []step{"worker error", "worker error"}},
	{"review_rejections", `"review_loop_threshold": 9`, []step{"worker pass", "spec gaps:a", "worker pass", "spec gaps:b", "worker pass", "spec gaps:c"}},
	{"reviewer_gave_up", "", []step{"worker pass", "quality error"}},
	{"stalled", "", []step{"worker gaps", "worker gaps"}},
	{"review_loop", "", []step{"worker pass", "spec gaps:a", "worker pass", "spec gaps:a"}},
	{"alternating_reviews", `"review_rejections": 9`, []step{
		"worker pass", "spec gaps:a", "worker pass", "spec gaps:b", "worker pass", "spec gaps:a", "worker pass", "spec gaps:b",
	}},
}

func TestExplanationOfEveryHalt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, numbered())
		h.write("tasks.md", clockPlan, time.Hour)
		var b strings.Builder
		for _, way := range ways {
			run := h.start("1", `"resume": "new", "policy": {`+way.policy+`}`).str("run.run_id")
			task := h.create(`"run_id": %q, "role": "worker"`, run)
			last := h.walk(run, way.steps...)
			last.has("blocked", "run.state")
			last.has(way.halt, "run.reason")
			last.has("halt_and_escalate", "next_action")
			h.is("BLOCKED", task)
			writeOutcome(&b, way.halt, h.explained(run))
			writeOutcome(&b, "its task", h.explained(task))
		}
		golden.Equal(t, "explain-halts.txt", b.String())
	})
}

func TestExplanationOfItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, numbered())
		h.write("tasks.md", clockPlan+"- [x] 4. Buy paper\n- [~] 5. Sign it\n  - _Blocked: there is no pen_\n- [ ] 6. Sell it\n  - _Depends: 5_\n"+
			"- [ ] 7. Tidy up\n  - [ ] 7.1 Sweep\n  - [-] 7.2 Wipe\n- [ ] 8. Lock up\n  - _Depends: 7_\n- [ ] 9. Go home\n  - _Depends: 7.2, 8_\n", time.Hour)
		var b strings.Builder
		item := func(title, id string) {
			writeOutcome(&b, title, h.call("explain", `{"plan": "tasks.md", "item_id": %q}`, id))
		}
		item("ready", "1")
		item("waiting", "2")
		item("done in the file", "4")
		item("blocked in the file", "5")
		item("behind a blocked one", "6")
		item("a group", "7")
		item("in progress in the file", "7.2")
		item("waiting for others that wait", "9")
		run := h.run("1")
		item("under way", "1")
		h.walk(run, "worker invalid", "worker invalid")
		item("blocked by its run", "1")
		item("behind a blocked run", "2")
		run = h.start("1", `"resume": "new"`).str("run.run_id")
		h.walk(run, "worker pass", "spec pass", "quality pass").has("advance_to_next_item", "next_action")
		item("done by its run", "1")
		writeOutcome(&b, "the run that is done", h.explained(run))
		item("ready since", "2")
		writeOutcome(&b, "an instruction", h.explained(h.track(`{"content": "x"}`)))
		golden.Equal(t, "explain-items.txt", b.String())
		h.badRun("/subject_id", "explain", `{"plan": "tasks.md"}`)
		require.Equal(t, "10", h.refused("item_not_found", "explain", `{"plan": "tasks.md", "item_id": "10"}`).str("data.details.item_id"))
	})
}
