package prompt_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
	"waybill/prompt"
)

// bigPlan has n items with the usual lines below each, about 150 bytes an item.
func bigPlan(n int) []byte {
	var b strings.Builder
	b.WriteString("# Implementation Plan\n\n")
	for i := range n {
		group, member := i/10+1, i%10
		if member == 0 {
			fmt.Fprintf(&b, "- [ ] %d. Group of stations number %d\n", group, group)
			continue
		}
		mark := "x -"[i%3]
		fmt.Fprintf(&b, "- [%c] %d.%d Calibrate the rain gauge of station %d\n", mark, group, member, i)
		b.WriteString("  - keep the old readings as they are, add the new\n")
		if i%2 == 0 {
			b.WriteString("  - Files: gauge/station.go, gauge/station_test.go\n")
		}
		fmt.Fprintf(&b, "  - _Requirements: %d.1, %d.2_\n", group, group)
	}
	return []byte(b.String())
}

// BenchmarkParse2000 measures against SHA-256 of the same bytes in the same
// run, since machines differ and are shared. Parse contains that hash.
//
// The large array stands for the heap of a process that does something else
// too. In the few megabytes of a benchmark the collector runs at every third
// plan and is what would be measured.
func BenchmarkParse2000(b *testing.B) {
	src, heap := bigPlan(2000), make([]byte, 16<<20)
	var hash, parse time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		_ = sha256.Sum256(src)
		middle := time.Now()
		r, err := plan.Read(string(src), plan.Hints{})
		parse += time.Since(middle)
		hash += middle.Sub(start)
		if err != nil || r.Len() != 2000 {
			b.Fatal(r.Len(), err)
		}
	}
	b.SetBytes(int64(len(src)))
	b.ReportMetric(hash.Seconds()*1e6/float64(b.N), "µs-sha256/op")
	b.ReportMetric(parse.Seconds()*1e6/float64(b.N), "µs-parse/op")
	b.ReportMetric(hash.Seconds()/parse.Seconds(), "×sha256")
	b.ReportMetric(hash.Seconds()/(parse-hash).Seconds(), "×sha256-without-hash")
	require.NotEmpty(b, heap)
}

// BenchmarkCompileCached is what a prompt costs while the plan has not changed.
func BenchmarkCompileCached(b *testing.B) {
	r, err := plan.Read(string(bigPlan(2000)), plan.Hints{})
	require.NoError(b, err)
	task := ledger.NewTaskLedger("run_1", "150.5")
	task.Summary = "the first half is done, the second needs the other gauge"
	task = task.After(ledger.Outcome{
		Role: ledger.RoleSpecReviewer, Kind: ledger.OutcomeChangesNeeded,
		Issues:        []ledger.ReviewIssue{{Severity: "important", File: "gauge/station.go", Message: "rounds down", Fix: "round to nearest"}},
		RequiredFixes: []string{"round to tenths", "say which station failed"},
	})
	b.ReportAllocs()
	for b.Loop() {
		p, err := ledger.Progress(r, "rain", "plans/rain/tasks.md", "150.5")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := prompt.Compile(prompt.CompileInput{RunID: "run_1", Role: ledger.RoleWorker, Progress: p, Task: task}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiff2000(b *testing.B) {
	src := bigPlan(2000)
	before, err := plan.Read(string(src), plan.Hints{})
	require.NoError(b, err)
	after, err := plan.Read(strings.Replace(string(src), "- [ ]", "- [x]", 3), plan.Hints{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if len(plan.Diff(before, after)) != 3 {
			b.Fatal("not three changes")
		}
	}
}
