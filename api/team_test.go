package api_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/test/fakeagent/play"
	"waybill/test/teststore"
)

// teamPlan has seven items: a chain, a fork that joins again, and one independent item.
const teamPlan = "# Crew\n\n- [ ] 1. a\n- [ ] 2. b\n  - _Depends: 1_\n- [ ] 3. c\n  - _Depends: 1_\n- [ ] 4. d\n  - _Depends: 2, 3_\n" +
	"- [ ] 5. e\n- [ ] 6. f\n  - _Depends: 5_\n- [ ] 7. g\n"

var teamNeeds = map[string][]string{"2": {"1"}, "3": {"1"}, "4": {"2", "3"}, "6": {"5"}}

// An agentTeam is a host that follows only next_action and ready_items, and its agents.
type agentTeam struct {
	*host
	script, memory string
	dispatches     int
}

// agent runs a fake agent and returns its output, even if it crashes.
func (team *agentTeam) agent(prompt string) string {
	var out bytes.Buffer
	exit := play.Play(play.Options{
		Args:  []string{"--script", team.script, "--memory", team.memory},
		Stdin: strings.NewReader(prompt), Stdout: &out, Stderr: io.Discard,
	})
	require.NotEqual(team.t, 2, exit, "the agent does not understand its prompt:\n%s", prompt)
	return out.String()
}

// item follows next_action until an item is done or blocked.
func (team *agentTeam) item(id string) {
	const most = 40 // more than the counters of one run allow
	answer := team.start(id, "")
	run, prompt := answer.str("run.run_id"), ""
	for range most {
		next := answer.str("next_action")
		switch next {
		case "advance_to_next_item", "plan_completed", "halt_and_escalate":
			return
		}
		role := answer.str("next.role")
		if retry, ok := answer.find("retry_prompt"); ok {
			require.Equal(team.t, "retry_with_preamble", next)
			prompt = retry.(string)
		} else {
			require.NotEqual(team.t, "retry_with_preamble", next, "there is no retry prompt")
			prompt = team.call("compile_prompt", `{"run_id": %q, "role": %q}`, run, role).str("prompt")
		}
		answer = team.ingest(run, role, team.agent(prompt), `"prompt": `+quoted(prompt))
		team.dispatches++
	}
	team.t.Fatalf("item %s: %d dispatches brought it to no end", id, most)
}

// work works on ready items until none is left, and returns the result of each.
func (team *agentTeam) work() map[string]string {
	for {
		r := team.call("ready_items", `{"plan": "tasks.md"}`)
		ready := r.at("ready").([]any)
		if len(ready) == 0 {
			became := map[string]string{}
			waiting, _ := r.find("waiting")
			for _, w := range waiting.([]any) {
				item := w.(map[string]any)
				first := item["because"].([]any)[0].(map[string]any)
				became[item["item_id"].(string)] = first["kind"].(string)
			}
			return became
		}
		team.item(ready[0].(string))
	}
}

// drawScript returns up to ten lines with mistakes of the agents.
func drawScript(t *rapid.T) string {
	behaviours := map[string][]string{
		"worker": {
			"garbage", "empty", "foreign", "missing-field", `gaps "the font is missing"`, `blocked "no network"`,
			`error "it broke"`, "legacy-pass", "fenced", "crlf", "preamble", "good-block", "crash 3",
		},
		"spec-reviewer": {
			"garbage", "empty", "foreign", "missing-field", `gaps "too small; too red"`, `reject "too small"`,
			`reject "too red"`, `blocked "no access"`, `error "it broke"`, "legacy-pass", "legacy-fail", "fenced", "good-block",
		},
	}
	behaviours["code-quality-reviewer"] = behaviours["spec-reviewer"]
	var b strings.Builder
	for range rapid.IntRange(0, 10).Draw(t, "lines") {
		role := rapid.SampledFrom([]string{"worker", "spec-reviewer", "code-quality-reviewer"}).Draw(t, "role")
		fmt.Fprintf(&b, "%s %s %s %s\n",
			rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6", "7"}).Draw(t, "item"), role,
			rapid.SampledFrom([]string{"1", "2", "3", "*"}).Draw(t, "try"),
			rapid.SampledFrom(behaviours[role]).Draw(t, "behaviour"))
	}
	return b.String()
}

// Whatever the agents do wrong, a host that follows next_action ends with every item done, blocked, or waiting for a
// blocked one.
func TestNextActionTerminatesForAnyAgents(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		place, err := os.MkdirTemp(dir, "team-")
		require.NoError(rt, err)
		team := &agentTeam{host: newHost(t, setup{store: teststore.New(t)}), script: filepath.Join(place, "script"), memory: filepath.Join(place, "memory")}
		team.write("tasks.md", teamPlan, time.Hour)
		script := drawScript(rt)
		require.NoError(rt, os.WriteFile(team.script, []byte(script), 0o600))
		require.NoError(rt, os.Mkdir(team.memory, 0o700))
		became := team.work()
		require.Len(rt, became, 7, script)
		for item, kind := range became {
			needs := teamNeeds[item]
			held := slices.ContainsFunc(needs, func(on string) bool { return became[on] != "done" })
			require.Equal(rt, held, kind == "depends_on", "item %s is %s, others %v; script:\n%s", item, kind, became, script)
			require.Contains(rt, []string{"done", "blocked", "depends_on"}, kind, "item %s; script:\n%s", item, script)
		}
		if script == "" {
			require.Equal(rt, 21, team.dispatches, "a worker and two reviewers for each item")
		}
	})
}
