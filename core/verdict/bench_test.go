package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
)

// sized returns results of about a size in each grammar: what an agent prints in front of its block, or
// behind its headers.
func sized(size int) map[string]string {
	talk := "I moved the hands to face/hands.go, because the dial: was too large.\n- the tests run, and so does `go vet`\n\n"
	prose := func(rest string) string { return strings.Repeat(talk, max(size-len(rest), 0)/len(talk)+1) }
	statement := "Implementation complete. Git range: a1b2c3d..e4f5a6b\n"
	return map[string]string{
		"json_block":       prose(block(workerObject)) + block(workerObject),
		"json_block_large": block(strings.Replace(workerObject, "drew", strings.ReplaceAll(prose(workerObject), "\n", `\n`), 1)),
		"v2":               workerHeaders + "\n" + prose(workerHeaders),
		"legacy":           statement + prose(statement),
		"none":             prose(""),
	}
}

// newlines counts them a byte at a time: what looking at each byte once costs on this machine.
func newlines(text string) int {
	n := 0
	for i := range len(text) {
		if text[i] == '\n' {
			n++
		}
	}
	return n
}

func BenchmarkJudge2KB(b *testing.B) { benchmarkJudge(b, 2<<10) }
func BenchmarkJudge1MB(b *testing.B) { benchmarkJudge(b, 1<<20) }

// benchmarkJudge measures against a plain scan of the same bytes in the same run, since machines
// differ and are shared.
func benchmarkJudge(b *testing.B, size int) {
	for _, name := range []string{"json_block", "json_block_large", "v2", "legacy", "none"} {
		text := sized(size)[name]
		b.Run(name, func(b *testing.B) {
			question := asked(core.Worker)
			grammar, _, _ := strings.Cut(name, "_large")
			require.Equal(b, grammar, string(verdict.Judge(text, question).Grammar))
			var scan, judge time.Duration
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				lines := newlines(text)
				middle := time.Now()
				j := verdict.Judge(text, question)
				judge += time.Since(middle)
				scan += middle.Sub(start)
				if lines == 0 || j.Grammar == "" {
					b.Fatal("nothing was read")
				}
			}
			megabytes := float64(len(text)) * float64(b.N) / 1e6
			b.ReportMetric(megabytes/judge.Seconds(), "MB/s-judge")
			b.ReportMetric(megabytes/scan.Seconds(), "MB/s-scan")
			b.ReportMetric(judge.Seconds()/scan.Seconds(), "×scan")
		})
	}
}
