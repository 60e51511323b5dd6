package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A forgetful agent works on a plan. Its memory is cut after every call: it knows only the text that it is given then.
type forgetful struct {
	h       *host
	work    map[string]int // how often it did an item
	reviews map[string]int // how often it reviewed one
	checks  map[string]int // how often a check ran for one
	cuts    int
}

const forgetfulItems = 40

func newForgetful(t *testing.T) *forgetful {
	h := newHost(t, setup{})
	var plan strings.Builder
	for i := range forgetfulItems {
		fmt.Fprintf(&plan, "- [ ] %d. Wind clock %d\n", i+1, i+1)
	}
	h.write("tasks.md", plan.String(), time.Hour)
	return &forgetful{h: h, work: map[string]int{}, reviews: map[string]int{}, checks: map[string]int{}}
}

var (
	beginsItem = regexp.MustCompile(`(?m)^Next: begin item "(.*)" of "(.*)"; init_run`)
	worksOn    = regexp.MustCompile(`(?m)^Next: in (run_\S+), (?:do the task|do what the reviewers ask for); compile_prompt with role worker `)
	reviewsRun = regexp.MustCompile(`(?m)^Next: in (run_\S+), review the work, as the spec-reviewer; compile_prompt with role spec-reviewer `)
	checksRun  = regexp.MustCompile(`(?m)^Next: in (run_\S+), wait; the required checks run first\.$`)
	checksDue  = regexp.MustCompile(`(?m)^  checks due: (.*)$`)
	promptItem = regexp.MustCompile(`(?m)^Task id: (.*)$`)
)

// begin starts the run of an item. Every third item has a reviewer and no check, so that nothing proves it.
func (a *forgetful) begin(item, plan string) string {
	policy := `{"require_checks": ["test"], "reviewers": []}`
	if item[len(item)-1]%3 == 0 {
		policy = `{"reviewers": ["spec-reviewer"]}`
	}
	return a.h.call("init_run", `{"plan": %q, "item_id": %q, "policy": %s}`, plan, item, policy).str("run.run_id")
}

// do works on the item of a run and reports it.
func (a *forgetful) do(run, role string, count map[string]int) {
	prompt := a.h.call("compile_prompt", `{"run_id": %q, "role": %q}`, run, role).str("prompt")
	item := promptItem.FindStringSubmatch(prompt)[1]
	count[item]++
	a.h.ingest(run, role, says(role, item, "pass", ""))
}

// turn does what a text says next, and reports whether there was anything to do.
func (a *forgetful) turn(text string) bool {
	if m := beginsItem.FindStringSubmatch(text); m != nil {
		a.begin(m[1], m[2])
		return true
	}
	if m := worksOn.FindStringSubmatch(text); m != nil {
		a.do(m[1], "worker", a.work)
		return true
	}
	if m := reviewsRun.FindStringSubmatch(text); m != nil {
		a.do(m[1], "spec-reviewer", a.reviews)
		return true
	}
	if m := checksRun.FindStringSubmatch(text); m != nil {
		for _, check := range strings.Split(checksDue.FindStringSubmatch(text)[1], ", ") {
			item := a.h.reported(m[1], check, "green", fmt.Sprint("tree", a.cuts), "").str("run.item_id")
			a.checks[item]++
		}
		return true
	}
	return false
}

// cut ends the memory of the agent. Sometimes the host dies with it.
func (a *forgetful) cut() {
	if a.cuts++; a.cuts%10 == 0 {
		a.h = a.h.restart()
	}
}

func twice(counts ...map[string]int) (n int) {
	for _, count := range counts {
		for _, times := range count {
			n += times - 1
		}
	}
	return n
}

// Over 50 compactions, an agent that goes on from the anchor alone does nothing twice, and finishes the plan.
func TestAnAgentThatForgetsEverythingDoesNothingTwice(t *testing.T) {
	a := newForgetful(t)
	require.Empty(t, a.h.call("compile_anchor", `{}`).str("text"), "no work was begun")
	a.begin("1", "tasks.md")
	for {
		anchor := a.h.call("compile_anchor", `{"session_id": "ses_1"}`)
		require.LessOrEqual(t, anchor.at("tokens"), float64(schema.MaxAnchorTokens))
		text := anchor.str("text")
		for item, times := range a.work {
			require.Equal(t, 1, times, "item %s was done again, after %d compactions:\n%s", item, a.cuts, text)
		}
		if !a.turn(text) {
			require.Empty(t, text, "nothing is being worked on, and nothing waits")
			break
		}
		a.cut()
	}
	require.Greater(t, a.cuts, 50)
	require.Len(t, a.work, forgetfulItems)
	require.Len(t, a.checks, 24)
	require.Len(t, a.reviews, 16)
	require.Zero(t, twice(a.work, a.reviews, a.checks))
}

// The same agent with nothing but the plan begins with what the plan shows as open, and so does items again: the test
// above would notice.
func TestAnAgentWithoutAnAnchorDoesItemsTwice(t *testing.T) {
	a := newForgetful(t)
	for a.cuts < 50 {
		plan, err := os.ReadFile(filepath.Join(a.h.dir, "tasks.md"))
		require.NoError(t, err)
		item, _, _ := strings.Cut(strings.SplitAfter(string(plan), "- [ ] ")[1], ".")
		a.do(a.begin(item, "tasks.md"), "worker", a.work)
		a.cut()
	}
	require.Positive(t, twice(a.work))
}

// All that is done stands in the anchor, so that an agent can also look before it does something on its own.
func TestAnAnchorNamesWhatIsDone(t *testing.T) {
	a := newForgetful(t)
	a.begin("1", "tasks.md")
	for a.turn(a.h.call("compile_anchor", `{}`).str("text")) && len(a.work) < 6 {
		a.cut()
	}
	text := a.h.call("compile_anchor", `{}`).str("text")
	require.Contains(t, text, "\n[Proven] (from plan, worker, reviewer; untrusted)\nDone, and proven by the receipts of checks. "+
		"Do not do or check these items again:\n- of \"tasks.md\": 1, 2, 4, 5\n")
	require.Contains(t, text, "\n- of \"tasks.md\": 3\n", "a reviewer said so")
	for _, item := range []string{"1", "2", "4", "5"} {
		require.Regexp(t, `(?m)^  item `+item+`: test rcp_\d+$`, text)
	}
	require.Contains(t, text, "\n- run_", "the sixth is under way")
	require.NotContains(t, text, "[Left Out]")
}

// An anchor is a read: it sends no instruction, and the same facts give the same bytes.
func TestAnAnchorUsesUpNoSend(t *testing.T) {
	h := clockHost(t, setup{})
	h.call("queue_instruction", `{"content": "Speak of clocks.", "session_id": "ses_1"}`)
	id := h.call("queue_instruction_with_ack", `{"content": "Run the\nformatter.", "session_id": "ses_1", "max_retries": 0}`).str("instruction_id")
	h.call("queue_instruction", `{"content": "Not for you.", "session_id": "ses_2"}`)
	before := h.seq()
	first := h.call("compile_anchor", `{"session_id": "ses_1"}`).str("text")
	for range 5 {
		require.Equal(t, first, h.call("compile_anchor", `{"session_id": "ses_1"}`).str("text"))
	}
	require.Equal(t, before, h.seq())
	require.Contains(t, first, "\n- Speak of clocks.\n- Run the formatter.\n")
	require.NotContains(t, first, "Not for you.")
	h.call("dispatch_instructions", `{"session_id": "ses_1"}`).has(id, "instructions.1.instruction_id")
	after := h.call("compile_anchor", `{"session_id": "ses_1"}`).str("text")
	require.Contains(t, after, "\n- Run the formatter.\n", "who has forgotten it can still follow it before it fails")
	require.NotContains(t, after, "Speak of clocks.")
	h.call("acknowledge", `{"instruction_id": %q}`, id)
	h.call("compile_anchor", `{"session_id": "ses_1"}`).has("", "text")
	h.call("compile_anchor", `{}`).has("", "text")
}

// The work of the session comes first, and the agent is told to leave that of others alone.
func TestAnAnchorPutsTheOwnWorkFirst(t *testing.T) {
	h := clockHost(t, setup{})
	for i, session := range []string{"ses_1", "ses_2"} {
		item := []string{"1", "3"}[i]
		run := h.start(item, "").str("run.run_id")
		h.create(`"run_id": %q, "role": "worker"`, run)
		h.bind(h.claim("w"), session)
	}
	asked := h.create(`"description": "set the hour"`)
	claim := h.claim("w")
	h.bind(claim, "ses_3")
	h.call("finish_attempt", `{"task_id": %q, "lease_token": %q, "status": "awaiting_response", "question": "Summer\ntime?"}`,
		asked, claim.str("claim.lease.token"))
	for session, item := range map[string]string{"ses_1": "1", "ses_2": "3"} {
		text := h.call("compile_anchor", `{"session_id": %q}`, session).str("text")
		_, work, _ := strings.Cut(text, "\n[Work] ")
		lines := strings.Split(work, "\n")
		require.Contains(t, lines[1], `, item "`+item+`" of "tasks.md", tsk_`, text)
		require.Contains(t, lines[2], "next: do the task")
		require.Contains(t, lines[4], "another session works on it; leave it alone")
		require.Contains(t, text, "\n- "+asked+": Summer time?\n")
	}
	text := h.call("compile_anchor", `{"session_id": "ses_9"}`).str("text")
	require.Equal(t, 2, strings.Count(text, "leave it alone"), text)
	require.NotContains(t, text, "Next: in run_")
}

// Whoever claims over MCP binds no session, so an unbound task may be the agent's own.
func TestAnAnchorLetsAnAgentGoOnWithTheTaskThatItClaimedWithoutASession(t *testing.T) {
	h := clockHost(t, setup{})
	task := h.create(`"run_id": %q, "role": "worker"`, h.start("1", "").str("run.run_id"))
	h.claim("w")
	text := h.call("compile_anchor", `{"session_id": "ses_1"}`).str("text")
	require.NotContains(t, text, "leave it alone")
	require.Contains(t, text, ", "+task+": ")
	require.Contains(t, text, "\n  running; go on if you claimed it\n")
	require.Contains(t, text, "\nNext: if you claimed "+task+" or another running task, go on with it; get_task returns its prompt. Otherwise, ")
	require.NotContains(t, text, "Otherwise, in run_", "the run is not free")
}

// An anchor has room for 50 tasks. That of a live run counts all the same, however old it is.
func TestAnAnchorDoesNotOfferARunWhoseTaskIsOlderThanFiftyOthers(t *testing.T) {
	h := clockHost(t, setup{})
	h.create(`"run_id": %q, "role": "worker"`, h.start("1", "").str("run.run_id"))
	h.bind(h.claim("w"), "ses_0")
	for i := range 52 {
		h.create("")
		h.bind(h.claim("w"), fmt.Sprint("ses_", 100+i))
	}
	anchor := h.call("compile_anchor", `{"session_id": "ses_1"}`)
	require.NotContains(t, anchor.str("text"), "do the task")
	require.Contains(t, anchor.str("text"), `item "1" of "tasks.md", tsk_`)
	shown := strings.Count(anchor.str("text"), "leave it alone")
	require.Contains(t, anchor.str("text"), fmt.Sprintf("- %d more runs or tasks at work: ", 53-shown))
}

// finish_attempt with awaiting_response does not change the run, but its task cannot go on before the answer.
func TestAnAnchorOffersNoRunWhoseTaskWaitsForAnAnswer(t *testing.T) {
	h := clockHost(t, setup{})
	run := h.start("1", "").str("run.run_id")
	task := h.create(`"run_id": %q, "role": "worker"`, run)
	h.finish(h.claim("w"), `"status": "awaiting_response", "question": "Which face?"`)
	text := h.call("compile_anchor", `{"session_id": "ses_1"}`).str("text")
	require.NotContains(t, text, "\nNext: in "+run)
	require.NotContains(t, text, "do the task")
	require.Contains(t, text, ", "+task+": ")
	require.Contains(t, text, "\n  waits for the answer to "+task+"\n")
}

// A worker claims the retry from the queue, so an agent must not begin the item as well.
func TestAnAnchorOffersNoRunWhoseTaskIsQueuedForARetry(t *testing.T) {
	h := clockHost(t, setup{})
	run := h.start("1", "").str("run.run_id")
	task := h.create(`"run_id": %q, "role": "worker"`, run)
	h.finish(h.claim("w"), `"status": "error", "error": {"message": "429"}, "next_model": {"provider_id": "acme", "model_id": "large"}`).has("QUEUED", "task.status")
	text := h.call("compile_anchor", `{"session_id": "ses_1"}`).str("text")
	require.NotContains(t, text, "\nNext: in "+run)
	require.NotContains(t, text, "do the task")
	require.Contains(t, text, "\n  waits in the queue; claim_task hands out "+task+" when it is due\n")
}
