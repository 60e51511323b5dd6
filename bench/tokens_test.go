package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer/codec"

	"waybill/api"
	"waybill/schema"
	"waybill/test/fakeagent/play"
)

// turnScript is what the fake agents do wrong: workers leave gaps and fail, reviewers reject. What it does not
// name goes well.
const turnScript = `1.1 spec-reviewer 1 reject "the old readings are gone"
1.1 code-quality-reviewer 1 reject "no test for a station without readings"
1.2 worker 1 gaps "station 2 does not answer"
1.4 worker 1 error "the gauge is stuck"
1.5 spec-reviewer 1 gaps "the new readings are not added"
1.5 spec-reviewer 2 gaps "they are added twice"
2.1 spec-reviewer 1 reject "the file of station 12 is not read"
2.2 code-quality-reviewer 1 reject "the readings are sorted twice"
2.4 worker 1 gaps "there is no old reading"
2.5 spec-reviewer 1 reject "the unit is missing"
3.1 code-quality-reviewer 1 reject "the error is dropped"
3.2 spec-reviewer 1 gaps "half of the stations are left"
`

// turns are those of a host that follows next_action with fake agents, each of which goes on in one conversation
// as long as the run does. It walks a plan and compiles so many prompts.
type turns struct {
	b              *testing.B
	table          *api.Table
	script, memory string
	left           int
	each           func(fresh, sent *schema.CompilePromptResult)
}

func (t *turns) walk() {
	for {
		ready := called[schema.ReadyItems](t.b, t.table, "ready_items", `{"plan":"specs/rain/tasks.md"}`)
		require.NotEmpty(t.b, ready.Ready, "the plan is long enough")
		if t.item(ready.Ready[0]); t.left == 0 {
			return
		}
	}
}

// item takes an item to its end, by next_action alone.
func (t *turns) item(id string) {
	run := called[schema.InitRunResult](t.b, t.table, "init_run", fmt.Sprintf(`{"plan":"specs/rain/tasks.md","item_id":%q}`, id))
	next, since := run.Next, map[string]string{}
	for next.Role != "" && t.left > 0 {
		ask := func(since string) *schema.CompilePromptResult {
			return called[schema.CompilePromptResult](t.b, t.table, "compile_prompt",
				fmt.Sprintf(`{"run_id":%q,"role":%q,"since":%q}`, run.Run.RunID, next.Role, since))
		}
		sent := ask(since[next.Role])
		since[next.Role] = sent.Packet.Cursor
		t.each(ask(""), sent)
		t.left--
		next = t.answer(run.Run.RunID, next.Role, sent.Prompt)
	}
}

// answer lets a fake agent answer a prompt, and returns what is to be done then.
func (t *turns) answer(run, role, prompt string) schema.Next {
	var out bytes.Buffer
	exit := play.Play(play.Options{
		Args: []string{"--script", t.script, "--memory", t.memory}, Stdin: strings.NewReader(prompt), Stdout: &out, Stderr: io.Discard,
	})
	require.Zero(t.b, exit)
	params, err := json.Marshal(map[string]string{"run_id": run, "role": role, "output": out.String()})
	require.NoError(t.b, err)
	return *called[schema.IngestOutputResult](t.b, t.table, "ingest_output", string(params)).Next
}

// BenchmarkTokens counts what a host sends over 100 turns of agents: our packet against the whole plan and all
// facts, and our prompt against one with those in it, by the estimate and by the vocabulary o200k_base. The probe
// is the text that would be sent again.
func BenchmarkTokens(b *testing.B) {
	vocabulary := codec.NewO200kBase()
	for _, items := range planSizes {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			count := func(text string) float64 {
				n, err := vocabulary.Count(text)
				require.NoError(b, err)
				return float64(n)
			}
			for b.Loop() {
				root := b.TempDir()
				t := &turns{b: b, table: inProcess(b, root, 0), script: filepath.Join(root, "script"), memory: root, left: 100}
				plan := newPlan(b, root, "specs/rain/tasks.md", items)
				plan.text = regexp.MustCompile(`- \[.\]`).ReplaceAll(plan.text, []byte("- [ ]")) // nobody has begun
				require.NoError(b, os.WriteFile(plan.path, plan.text, 0o600))
				require.NoError(b, os.WriteFile(t.script, []byte(turnScript), 0o600))
				whole := count(string(plan.text))
				var again, packet, estimated, sent, deltas float64
				t.each = func(fresh, ours *schema.CompilePromptResult) {
					again += whole + count(factsOf(fresh.Packet))
					packet += count(factsOf(ours.Packet))
					estimated += float64(ours.PromptResend)
					sent += float64(ours.PromptEstimate)
					if ours.Packet.Mode == "delta" {
						deltas++
					}
				}
				t.walk()
				reportOnly(b)
				b.ReportMetric(again/packet, "x-packet")
				b.ReportMetric(estimated/sent, "x-prompt")
				b.ReportMetric(packet/100, "tokens-a-packet")
				b.ReportMetric(sent/100, "tokens-a-prompt")
				b.ReportMetric(deltas, "deltas")
			}
		})
	}
}

// factsOf writes the facts of a packet as an agent gets them, one behind the other.
func factsOf(p schema.Packet) string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(p.Facts)) {
		fmt.Fprintf(&text, "%q:%s,", key, p.Facts[key])
	}
	return text.String() + strings.Join(p.Removed, ",")
}
