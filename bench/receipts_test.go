package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// BenchmarkReportCheck measures report_check in this process: a receipt with 8 KiB of output, on disk before it is
// answered. Beside it are other durable changes of that size: queue_instruction, which appends one row, and ingest_output,
// which moves a run. Each submission is followed by a red receipt that moves the run, and by one of the same round that
// is only recorded.
func BenchmarkReportCheck(b *testing.B) {
	root := b.TempDir()
	newPlan(b, root, "specs/rain/tasks.md", 50)
	table := inProcess(b, root, time.Hour)
	text := fmt.Sprintf("%08192d", 0)
	result := fmt.Sprintf("role: worker\ntask_id: %s\nstatus: pass\ngit_range: a1b2c3d..e4f5a6b\n\n%s", currentItem(50), text)
	queue := fmt.Sprintf(`{"content":%q}`, text)
	var queued, ingested, moving, recorded series
	for b.Loop() {
		run := called[schema.InitRunResult](b, table, "init_run",
			fmt.Sprintf(`{"plan":"specs/rain/tasks.md","item_id":%q,"resume":"new","policy":{"require_checks":["test"],"check_failures":100}}`, currentItem(50))).Run.RunID
		submit := fmt.Sprintf(`{"run_id":%q,"role":"worker","output":%q}`, run, result)
		report := fmt.Sprintf(`{"run_id":%q,"check":"test","outcome":"red","exit_code":2,"command":"make test","output":%q,"runner":"bench"}`, run, text)
		for range 50 {
			queued = append(queued, each(1, func() { called[schema.InstructionResult](b, table, "queue_instruction", queue) }))
			ingested = append(ingested, each(1, func() { called[schema.IngestOutputResult](b, table, "ingest_output", submit) }))
			moving = append(moving, each(1, func() { require.NotNil(b, called[schema.ReportCheckResult](b, table, "report_check", report).Decision) }))
			recorded = append(recorded, each(1, func() { require.Nil(b, called[schema.ReportCheckResult](b, table, "report_check", report).Decision) }))
		}
	}
	reportOnly(b)
	b.ReportMetric(moving.median(), "µs")
	b.ReportMetric(queued.median(), "µs-queue-instruction")
	b.ReportMetric(ingested.median(), "µs-ingest-output")
	b.ReportMetric(moving.over(ingested), "x-ingest-output")
	b.ReportMetric(recorded.over(ingested), "x-ingest-output-if-only-recorded")
	b.ReportMetric(recorded.over(queued), "x-queue-instruction-if-only-recorded")
	b.ReportMetric(moving.over(queued), "x-queue-instruction")
}
