package bench

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/plan/read"
)

// BenchmarkParse reads a plan of 2,000 items of each dialect: a file of lines, or, where each item has a file or all are
// in JSON, what such a plan is. The probes are SHA-256 of the same bytes, which has to look at each of them once, and
// goldmark, which reads the same text as Markdown with boxes and knows no items.
func BenchmarkParse(b *testing.B) {
	const items = 2000
	for _, dialect := range dialect.Names() {
		write, known := planWriters[dialect]
		if !known {
			b.Errorf("nobody knows how to write a plan of the dialect %s", dialect)
			continue
		}
		b.Run(dialect, func(b *testing.B) { benchmarkParse(b, write(items), dialect, items) })
	}
	b.Run("task-master-text", func(b *testing.B) { benchmarkParse(b, taskText(items), "task-master", items) })
}

func benchmarkParse(b *testing.B, p, dialect string, items int) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.TaskList, extension.Table)).Parser()
	heap := make([]byte, 16<<20) // that of a process which does something else, too: see BenchmarkParse2000 in ledger
	var parse, hash, other series
	for b.Loop() {
		start := time.Now()
		_ = sha256.Sum256([]byte(p))
		hashed := time.Now()
		r, err := read.Read(p, plan.Hints{})
		parsed := time.Now()
		_ = markdown.Parse(text.NewReader([]byte(p)))
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
	b.ReportMetric(testing.AllocsPerRun(5, func() { _, _ = read.Read(p, plan.Hints{}) })/float64(items), "allocs/item")
	b.ReportMetric(testing.AllocsPerRun(5, func() { _ = markdown.Parse(text.NewReader([]byte(p))) })/float64(items), "allocs/item-goldmark")
	require.NotEmpty(b, heap)
}
