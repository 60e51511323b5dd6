package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// BenchmarkReportCheck measures report_check in this process: a receipt of 8 KiB of output, on disk before it is answered. The
// probe is another durable change, queue_instruction with a text of that size.
func BenchmarkReportCheck(b *testing.B) {
	root := b.TempDir()
	newPlan(b, root, "specs/rain/tasks.md", 50)
	table := inProcess(b, root, time.Hour)
	started := called[schema.InitRunResult](b, table, "init_run",
		fmt.Sprintf(`{"plan":"specs/rain/tasks.md","item_id":%q,"policy":{"require_checks":["test"]}}`, currentItem(50)))
	text := fmt.Sprintf("%08192d", 0)
	report := fmt.Sprintf(`{"run_id":%q,"check":"test","outcome":"green","command":"make test","output":%q,"runner":"bench"}`, started.Run.RunID, text)
	queue := fmt.Sprintf(`{"content":%q}`, text)
	require.NotEmpty(b, called[schema.ReportCheckResult](b, table, "report_check", report).Receipt.ReceiptID)
	var ours, raw series
	for b.Loop() {
		before := each(20, func() { called[schema.InstructionResult](b, table, "queue_instruction", queue) })
		ours = append(ours, each(20, func() { called[schema.ReportCheckResult](b, table, "report_check", report) }))
		raw = append(raw, (before+each(20, func() { called[schema.InstructionResult](b, table, "queue_instruction", queue) }))/2)
	}
	reportOnly(b)
	b.ReportMetric(ours.median(), "µs")
	b.ReportMetric(raw.median(), "µs-queue-instruction")
	b.ReportMetric(ours.over(raw), "x-queue-instruction")
}
