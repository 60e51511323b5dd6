package bench

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
	"waybill/schema/codec"
)

// A journey is a run of an item of a plan, on waybill in this process.
type journey struct {
	plan   *planFile
	table  *api.Table
	params string
}

func newJourney(b *testing.B, items int, later time.Duration) journey {
	root := b.TempDir()
	j := journey{plan: newPlan(b, root, "specs/rain/tasks.md", items), table: inProcess(b, root, later)}
	started := called[schema.InitRunResult](b, j.table, "init_run",
		fmt.Sprintf(`{"plan":"specs/rain/tasks.md","item_id":%q}`, currentItem(items)))
	j.params = fmt.Sprintf(`{"run_id":%q,"role":"worker"}`, started.Run.RunID)
	return j
}

func (j journey) compile(b *testing.B, rebuilt bool) *schema.CompilePromptResult {
	r := called[schema.CompilePromptResult](b, j.table, "compile_prompt", j.params)
	if r.LedgerMode != "ledger_only" || r.Rebuilt != rebuilt {
		b.Fatalf("ledger_mode %s, rebuilt %t", r.LedgerMode, r.Rebuilt)
	}
	return r
}

// BenchmarkCompileWarm measures compile_prompt in this process while the plan does not change, with and
// without the encoding of the answer. The probe is one stat of the plan and a copy of the answer; a second one
// takes the answer through a pipe, which is the least that it takes to hand it to another process.
func BenchmarkCompileWarm(b *testing.B) {
	for _, items := range planSizes {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			const n = 200
			j := newJourney(b, items, time.Hour) // later: a young plan would be read on each call
			answer, err := codec.Encode(j.compile(b, false))
			require.NoError(b, err)
			through := piped(b, answer)
			var stat, pipe, plain, encoded series
			for b.Loop() {
				before := j.plan.stat(b, n, copied(answer))
				plain = append(plain, each(n, func() { j.compile(b, false) }))
				encoded = append(encoded, each(n, func() {
					_, err = codec.Encode(j.compile(b, false))
				}))
				stat = append(stat, (before+j.plan.stat(b, n, copied(answer)))/2)
				pipe = append(pipe, j.plan.stat(b, n, through))
			}
			require.NoError(b, err)
			reportOnly(b)
			b.ReportMetric(stat.median(), "µs-stat")
			b.ReportMetric(plain.median(), "µs")
			b.ReportMetric(plain.median()-stat.median(), "µs-above-stat")
			b.ReportMetric(encoded.median()-plain.median(), "µs-to-encode")
			b.ReportMetric(encoded.over(pipe), "x-stat-and-pipe")
			b.ReportMetric(testing.AllocsPerRun(n, func() { j.compile(b, false) }), "allocs")
			b.ReportMetric(float64(len(answer)), "answer-bytes")
		})
	}
}

// each returns the time of one of n calls in µs.
func each(n int, call func()) float64 {
	start := time.Now()
	for range n {
		call()
	}
	return micros(time.Since(start)) / float64(n)
}

// BenchmarkCompileCold measures compile_prompt in this process right after the plan was written, and how
// long it takes from the call until the event log says what changed and the facts of the run are renewed,
// for which the answer does not wait. The probe reads the same file and hashes it.
func BenchmarkCompileCold(b *testing.B) {
	for _, items := range planSizes {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			j := newJourney(b, items, 0)
			var raw, cold, recorded series
			for b.Loop() {
				require.NoError(b, j.plan.change())
				before := j.plan.readAndHash(b)
				start := time.Now()
				j.compile(b, true)
				cold = append(cold, micros(time.Since(start)))
				called[schema.ConsumeNoticesResult](b, j.table, "consume_notices", nothingToConsume)
				recorded = append(recorded, micros(time.Since(start)))
				raw = append(raw, (before+j.plan.readAndHash(b))/2)
			}
			reportOnly(b)
			b.ReportMetric(cold.median(), "p50-µs")
			b.ReportMetric(cold.quantile(0.99), "p99-µs")
			b.ReportMetric(recorded.median(), "p50-µs-until-recorded")
			b.ReportMetric(raw.median(), "µs-read-and-hash")
			b.ReportMetric(cold.over(raw), "x-read-and-hash")
			b.ReportMetric(j.allocsCold(b), "allocs")
			b.ReportMetric(float64(len(j.plan.text)), "plan-bytes")
		})
	}
}

// allocsCold returns the allocations until the prompt of a plan that was just written is answered. What records the
// change before is waited for; what records this one may have begun.
func (j journey) allocsCold(b *testing.B) float64 {
	var made series
	for range 20 {
		require.NoError(b, j.plan.change())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		j.compile(b, true)
		runtime.ReadMemStats(&after)
		made = append(made, float64(after.Mallocs-before.Mallocs))
		called[schema.ConsumeNoticesResult](b, j.table, "consume_notices", nothingToConsume)
	}
	return made.median()
}

// nothingToConsume are params of consume_notices that change nothing. Changes are answered in their
// order, so that the answer says that what began before is done.
const nothingToConsume = `{"notice_ids":["ntc_none"]}`

// BenchmarkCompileOverStdio measures compile_prompt as a host sees it, over the pipes of the real binary, of a plan that
// rests. The probe is one stat of the plan and the answer through a pipe.
func BenchmarkCompileOverStdio(b *testing.B) {
	for _, items := range planSizes {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			root := b.TempDir()
			work := filepath.Join(root, "work")
			plan := newPlan(b, work, "specs/rests/tasks.md", items)
			h := connected(b, waybill(work, filepath.Join(root, "state")))
			request := compileCall(b, h, "rests", items)
			plan.settle(b)
			through := piped(b, bytes.Clone(h.call(b, request)))
			var stat, times, rounds series
			for b.Loop() {
				var round series
				for range 50 {
					h.compile(b, request, &round)
				}
				times, rounds = append(times, round...), append(rounds, round.median())
				stat = append(stat, plan.stat(b, 50, through))
			}
			reportOnly(b)
			b.ReportMetric(times.median(), "p50-µs")
			b.ReportMetric(times.quantile(0.99), "p99-µs")
			b.ReportMetric(rounds.over(stat), "x-stat-and-pipe")
		})
	}
}

// BenchmarkCompileColdOverStdio measures the same right after the plan was written, and of another plan, which rests, right
// after that: then waybill still has to do with what has changed. The probe reads the plan and hashes it.
func BenchmarkCompileColdOverStdio(b *testing.B) {
	for _, items := range planSizes {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			root := b.TempDir()
			work := filepath.Join(root, "work")
			rests, moves := newPlan(b, work, "specs/rests/tasks.md", items), newPlan(b, work, "specs/moves/tasks.md", items)
			h := connected(b, waybill(work, filepath.Join(root, "state")))
			warm, cold := compileCall(b, h, "rests", items), compileCall(b, h, "moves", items)
			rests.settle(b)
			h.call(b, warm)
			var raw, coldTimes, otherTimes series
			for b.Loop() {
				require.NoError(b, moves.change())
				raw = append(raw, moves.readAndHash(b))
				h.compile(b, cold, &coldTimes)
				h.compile(b, warm, &otherTimes)
				h.call(b, `{"jsonrpc":"2.0","id":3,"method":"consume_notices","params":`+nothingToConsume+`}`)
			}
			reportOnly(b)
			b.ReportMetric(coldTimes.median(), "p50-µs")
			b.ReportMetric(coldTimes.quantile(0.99), "p99-µs")
			b.ReportMetric(otherTimes.median(), "p50-µs-other-plan")
			b.ReportMetric(coldTimes.over(raw), "x-read-and-hash")
		})
	}
}

// compileCall starts a run and returns the request that compiles its prompt.
func compileCall(b *testing.B, h *host, plan string, items int) string {
	answer := h.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"init_run","params":{"plan":"specs/%s/tasks.md","item_id":%q}}`,
		plan, currentItem(items)))
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"compile_prompt","params":{"run_id":%q,"role":"worker"}}`,
		member(answer, "run_id"))
}

func (h *host) compile(b *testing.B, request string, times *series) []byte {
	start := time.Now()
	answer := h.call(b, request)
	*times = append(*times, micros(time.Since(start)))
	if !bytes.Contains(answer, []byte(`"ledger_mode":"ledger_only"`)) {
		b.Fatalf("the prompt is not compiled from the plan: %s", answer)
	}
	return answer
}
