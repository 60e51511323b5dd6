package bench

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"waybill/ledger"
)

// BenchmarkParse reads a plan of 2,000 items of each dialect. The probes are SHA-256 of the same bytes, which has to
// look at each of them once, and goldmark, which reads the same text as Markdown with boxes and knows no items.
func BenchmarkParse(b *testing.B) {
	const items = 2000
	for _, dialect := range ledger.Dialects() {
		plan, found := dialectPlan(dialect, items)
		if !found {
			b.Logf("%s: its items are no lines of one file", dialect)
			continue
		}
		b.Run(dialect, func(b *testing.B) { benchmarkParse(b, plan, dialect, items) })
	}
}

func benchmarkParse(b *testing.B, plan, dialect string, items int) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.TaskList, extension.Table)).Parser()
	heap := make([]byte, 16<<20) // that of a process which does something else, too: see BenchmarkParse2000 in ledger
	var parse, hash, other series
	for b.Loop() {
		start := time.Now()
		_ = sha256.Sum256([]byte(plan))
		hashed := time.Now()
		r, err := ledger.Read(plan)
		parsed := time.Now()
		_ = markdown.Parse(text.NewReader([]byte(plan)))
		other = append(other, micros(time.Since(parsed)))
		parse, hash = append(parse, micros(parsed.Sub(hashed))), append(hash, micros(hashed.Sub(start)))
		if err != nil || r.Dialect != dialect || r.Len() < items {
			b.Fatal(err)
		}
	}
	reportOnly(b)
	b.ReportMetric(parse.median(), "µs-parse")
	b.ReportMetric(hash.median(), "µs-sha256")
	b.ReportMetric(hash.over(parse), "x-sha256")
	b.ReportMetric(other.over(parse), "x-goldmark")
	b.ReportMetric(testing.AllocsPerRun(5, func() { _, _ = ledger.Read(plan) })/float64(items), "allocs/item")
	b.ReportMetric(testing.AllocsPerRun(5, func() { _ = markdown.Parse(text.NewReader([]byte(plan))) })/float64(items), "allocs/item-goldmark")
	require.NotEmpty(b, heap)
}

// itemShapes are how items look, in one dialect or another; %[1]d is the group of the item, %[2]d which one of it, and
// %[3]d which one of all.
var itemShapes = []string{
	"- [%[4]s] %[1]d.%[2]d Calibrate the rain gauge of station %[3]d\n",
	"- [%[4]s] T%03[3]d [US1] Calibrate the rain gauge in gauge/station%[3]d.go\n",
	"- [%[4]s] Calibrate the rain gauge of station %[3]d\n",
	"### Task %[3]d: Calibrate the rain gauge of station\n",
	"- [%[4]s] Task %[3]d: Calibrate the rain gauge of station\n",
	"#### Task Group %[3]d: Calibrate the rain gauge of station\n",
	"- [%[4]s] %03[3]d.md - Calibrate the rain gauge of station\n",
}

// dialectPlan writes a plan with the usual lines below each item, and reports whether it found out how the dialect
// writes one.
func dialectPlan(dialect string, items int) (plan string, found bool) {
	for _, shape := range itemShapes {
		var b strings.Builder
		fmt.Fprintf(&b, "<!-- waybill: dialect=%s -->\n# Plan\n\n## Tasks\n\n", dialect)
		for i := range items {
			fmt.Fprintf(&b, shape, i/10+1, i%10+1, i+1, []string{"x", " "}[i%2])
			b.WriteString("  - keep the old readings as they are, add the new\n")
			if i%2 == 0 {
				b.WriteString("  - Files: gauge/station.go, gauge/station_test.go\n")
			}
			fmt.Fprintf(&b, "  - _Requirements: %d.1, %d.2_\n", i/10+1, i%10+1)
		}
		if r, err := ledger.Read(b.String()); err == nil && r.Len() >= items {
			return b.String(), true
		}
	}
	return "", false
}
