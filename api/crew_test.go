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

	"waybill/examples/fake-agent/play"
	"waybill/store/memory"
)

// crewPlan is a plan of seven items: a chain, a fork that joins again, and one item by itself.
const crewPlan = "# Crew\n\n- [ ] 1. a\n- [ ] 2. b\n  - _Depends: 1_\n- [ ] 3. c\n  - _Depends: 1_\n- [ ] 4. d\n  - _Depends: 2, 3_\n" +
	"- [ ] 5. e\n- [ ] 6. f\n  - _Depends: 5_\n- [ ] 7. g\n"

var crewNeeds = map[string][]string{"2": {"1"}, "3": {"1"}, "4": {"2", "3"}, "6": {"5"}}

// A crew is a host that knows nothing of a plan but what next_action and ready_items say, and its agents.
type crew struct {
	*host
	script, memory string
	dispatches     int
}

// agent runs a fake agent. What it prints before it crashes is given as it is.
func (c *crew) agent(prompt string) string {
	var out bytes.Buffer
	exit := play.Play(play.Options{
		Args:  []string{"--script", c.script, "--memory", c.memory},
		Stdin: strings.NewReader(prompt), Stdout: &out, Stderr: io.Discard,
	})
	require.NotEqual(c.t, 2, exit, "the agent does not understand its prompt:\n%s", prompt)
	return out.String()
}

// item takes an item to its end, or to where a person has to decide, by next_action alone.
func (c *crew) item(id string) {
	const most = 40 // more than the counters of one run allow
	answer := c.start(id, "")
	run, prompt := answer.str("run.run_id"), ""
	for range most {
		next := answer.str("next_action")
		switch next {
		case "advance_to_next_item", "plan_completed", "halt_and_escalate":
			return
		}
		role := answer.str("next.role")
		if retry, ok := answer.find("retry_prompt"); ok {
			require.Equal(c.t, "retry_with_preamble", next)
			prompt = retry.(string)
		} else {
			require.NotEqual(c.t, "retry_with_preamble", next, "there is no retry prompt")
			prompt = c.call("compile_prompt", `{"run_id": %q, "role": %q}`, run, role).str("prompt")
		}
		answer = c.ingest(run, role, c.agent(prompt), `"prompt": `+quoted(prompt))
		c.dispatches++
	}
	c.t.Fatalf("item %s: %d dispatches brought it to no end", id, most)
}

// work takes items as long as some are ready, and gives what became of each.
func (c *crew) work() map[string]string {
	for {
		r := c.call("ready_items", `{"plan": "tasks.md"}`)
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
		c.item(ready[0].(string))
	}
}

// drawScript gives a script of up to ten lines about what the agents of the plan do wrong.
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

// Whatever the agents do wrong, a host that follows next_action comes to an end, at which every item is done,
// blocked, or held back by a blocked one that it depends on.
func TestEveryCrewComesToAnEnd(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		place, err := os.MkdirTemp(dir, "crew-")
		require.NoError(rt, err)
		c := &crew{host: newHost(t, setup{store: memory.New()}), script: filepath.Join(place, "script"), memory: filepath.Join(place, "memory")}
		c.write("tasks.md", crewPlan, time.Hour)
		script := drawScript(rt)
		require.NoError(rt, os.WriteFile(c.script, []byte(script), 0o600))
		require.NoError(rt, os.Mkdir(c.memory, 0o700))
		became := c.work()
		require.Len(rt, became, 7, script)
		for item, kind := range became {
			needs := crewNeeds[item]
			held := slices.ContainsFunc(needs, func(on string) bool { return became[on] != "done" })
			require.Equal(rt, held, kind == "depends_on", "item %s is %s, others %v; script:\n%s", item, kind, became, script)
			require.Contains(rt, []string{"done", "blocked", "depends_on"}, kind, "item %s; script:\n%s", item, script)
		}
		if script == "" {
			require.Equal(rt, 21, c.dispatches, "a worker and two reviewers for each item")
		}
	})
}
