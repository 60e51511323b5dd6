package api_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema/codec"
	"waybill/test/golden"
)

// converse holds the conversation of a golden file again. A line begins with ">" for a call, "<" for its answer, "!" for
// a notification, "+" for passing time, and "#" for a remark; with -update, answers and notifications are written.
func converse(t *testing.T, h *host, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	listener := h.listen()
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		kind, rest, _ := strings.Cut(line, " ")
		if kind == "<" || kind == "!" {
			continue
		}
		fmt.Fprintln(&b, line)
		switch kind {
		case "+":
			d, err := time.ParseDuration(rest)
			require.NoError(t, err)
			time.Sleep(d)
		case ">":
			method, params, _ := strings.Cut(rest, " ")
			a := <-h.begin(context.Background(), method, "%s", params)
			answer := a.Result
			if a.Err != nil {
				answer = a.Err
			}
			text, err := codec.Encode(answer)
			require.NoError(t, err)
			fmt.Fprintf(&b, "< %s\n", text)
		}
		for _, n := range listener.recorded() {
			fmt.Fprintf(&b, "! %s %s\n", n.method, n.text)
		}
	}
	golden.Equal(t, name, b.String())
}

// counted returns ids that are numbered from 1 for each prefix.
func counted() func(string) string {
	ids := map[string]int{}
	return func(prefix string) string {
		ids[prefix]++
		return fmt.Sprint(prefix, ids[prefix])
	}
}

// numbered returns a setup with reproducible ids and times.
func numbered() setup {
	return setup{
		newID: counted(),
		now:   func() time.Time { return time.Now().Truncate(time.Second / 2) }, // without the pauses of the feed
	}
}

// Each file is a conversation that needs no workspace files.
func TestConversations(t *testing.T) {
	for _, name := range []string{"instruction", "instructions", "rules", "log", "task", "task-ends"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { converse(t, newHost(t, numbered()), name+".txt") })
		})
	}
}

// Two items are worked on until the plan is completed: with an invalid result, a rejection, a block and a new plan.
func TestLifeOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, numbered())
		h.write("specs/clock/tasks.md", "# Clock\n\n- [ ] 1. Draw the face\n  - _Prompt: Draw the face of the clock._\n"+
			"- [ ] 2. Draw the hands\n  - _Depends: 1_\n", time.Hour)
		h.write("specs/clock/requirements.md", "# Clock\n\n1. WHEN it is noon THEN the clock SHALL strike twelve\n"+
			"2. The hands are black\n3. IF it stops THEN it SHALL say so\n", time.Hour)
		converse(t, h, "run.txt")
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
			last.has("blocked", "run.state", way.halt, "run.reason", "halt_and_escalate", "next_action")
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
	})
}
