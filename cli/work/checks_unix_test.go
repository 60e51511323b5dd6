//go:build unix

package work_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/check"
	"waybill/cli/work"
	"waybill/schema"
)

// claims is an agent that says that everything is done. Before that, a worker runs the first script and a reviewer the
// second; $prompt is the prompt.
func (q *queue) claims(worker, reviewer string) work.Options {
	return q.shell(`prompt=$(cat)
field() { printf '%s\n' "$prompt" | sed -n "s/^$1: //p" | tail -1; }
if [ "$WAYBILL_ROLE" = worker ]; then
  ` + worker + `
else
  ` + reviewer + `
fi
printf 'role: %s\ntask_id: %s\nkey: %s\nstatus: pass\n' "$WAYBILL_ROLE" "$(field 'Task id')" "$(field 'Result key')"
[ "$WAYBILL_ROLE" = worker ] && echo 'git_range: a1b2c3d..d4e5f6a'
printf '\nAll tests pass.\n'
`)
}

const onlyItem = "- [ ] 1. Write done.txt\n"

// walked walks the plan with a check, and returns the run of item 1 and the plan file.
func (q *queue) walked(o work.Options, checks ...check.Check) (r schema.Run, text string, err error) {
	q.t.Helper()
	o.Checks.Typed, o.Tick = checks, work.TickProven
	err = work.Plan(q.t.Context(), nil, "tasks.md", o)
	runs := ask[schema.RunList](q, "list_runs", schema.ListRunsParams{Plan: "tasks.md"}).Items
	file, readErr := os.ReadFile(filepath.Join(q.root, "tasks.md"))
	require.NoError(q.t, readErr)
	return runs[0], string(file), err
}

var exists = check.Check{Name: "test", Command: "test -f done.txt || { echo no done.txt; exit 3; }"}

// A worker of three lines that does nothing says that all is done.
func TestLieIsCaught(t *testing.T) {
	q := newPlan(t, onlyItem)
	r, text, err := q.walked(q.claims(":", ":"), exists)
	require.ErrorIs(t, err, work.ErrUnfinished)
	require.Equal(t, "blocked", r.State)
	require.Equal(t, "check_failures", r.Reason)
	require.Equal(t, "refuted", r.Proof.State)
	require.Equal(t, onlyItem, text, "no box is ticked")
	require.Len(t, q.all(work.Checked), 3)
	require.Equal(t, "exit status 3: no done.txt", q.all(work.Checked)[0].Message)
	require.Empty(t, q.all(work.Approved))
	for _, e := range q.all(work.Completed) {
		require.Equal(t, "worker", e.Role, "reviewers are not asked about refuted work")
	}
	receipts := ask[schema.ReceiptList](q, "list_receipts", schema.ListReceiptsParams{RunID: r.RunID}).Items
	require.Len(t, receipts, 3)
	require.Equal(t, "no done.txt\n", receipts[0].Output)
	require.Equal(t, "waybill work", receipts[0].Runner)
	require.NotEmpty(t, receipts[0].TreeAfter)
}

func TestWorkIsProven(t *testing.T) {
	q := newPlan(t, onlyItem)
	r, text, err := q.walked(q.claims("touch done.txt", ":"), exists)
	require.NoError(t, err)
	require.Equal(t, "done", r.State)
	require.Equal(t, "proven", r.Proof.State)
	require.Contains(t, text, "- [x] 1.")
	require.Len(t, q.all(work.Checked), 1, "the files of the last approval are those of the receipt")
	require.Equal(t, "proven", q.all(work.Approved)[0].Proof)
	require.Equal(t, "the plan is completed: 1 proven, 0 only said", q.all(work.Ended)[0].Message)
}

func TestRedOutputIsWhatTheNextWorkerMends(t *testing.T) {
	q := newPlan(t, onlyItem)
	r, _, err := q.walked(q.claims(`case $prompt in *"no done.txt"*) touch done.txt;; esac`, ":"), exists)
	require.NoError(t, err)
	require.Equal(t, "proven", r.Proof.State)
	require.Equal(t, 1, r.Counters.CheckFailures)
	require.Zero(t, r.Counters.WorkerFailures)
	require.Zero(t, r.Counters.ReviewRejections)
	require.Equal(t, 2, r.Proof.Round)
}

func TestFilesThatChangeBeforeTheLastApprovalAreCheckedAgain(t *testing.T) {
	q := newPlan(t, onlyItem)
	r, _, err := q.walked(q.claims("touch done.txt", `[ "$WAYBILL_ROLE" = code-quality-reviewer ] && rm done.txt`), exists)
	require.NoError(t, err, "the reviewer removed the work, and a worker did it again")
	require.Equal(t, "proven", r.Proof.State)
	require.Equal(t, 1, r.Counters.CheckFailures)
	require.Len(t, q.all(work.Checked), 3)

	q = newPlan(t, onlyItem)
	r, _, err = q.walked(q.claims("touch done.txt", `[ "$WAYBILL_ROLE" = code-quality-reviewer ] && echo remark >remarks.txt`), exists)
	require.NoError(t, err)
	require.Equal(t, "proven", r.Proof.State)
	require.Len(t, q.all(work.Checked), 2)
}

func TestItemsThatNothingProvesAreOnlySaid(t *testing.T) {
	q := newPlan(t, onlyItem)
	r, text, err := q.walked(q.claims(":", ":"))
	require.NoError(t, err)
	require.Equal(t, "none_required", r.Proof.State)
	require.Equal(t, onlyItem, text, "a claim ticks no box")
	require.Equal(t, "none_required", q.all(work.Approved)[0].Proof)
	require.Equal(t, "the plan is completed: 0 proven, 1 only said", q.all(work.Ended)[0].Message)
}

func TestRunThatRequiresACheckWithoutACommandWaits(t *testing.T) {
	q := newPlan(t, onlyItem)
	ask[schema.InitRunResult](q, "init_run", schema.InitRunParams{Plan: "tasks.md", ItemID: "1", Policy: &schema.Policy{RequireChecks: []string{"lint"}}})
	r, _, err := q.walked(q.claims(":", ":"))
	require.ErrorIs(t, err, work.ErrUnfinished)
	require.Equal(t, "missing", r.Proof.State)
	require.Contains(t, q.all(work.Halted)[0].Message, "--check 'lint=COMMAND'")
}

func TestRunThatDoesNotRequireTheCheckIsBegunAgain(t *testing.T) {
	q := newPlan(t, onlyItem)
	before := ask[schema.InitRunResult](q, "init_run", schema.InitRunParams{Plan: "tasks.md", ItemID: "1"}).Run
	r, _, err := q.walked(q.claims("touch done.txt", ":"), exists)
	require.NoError(t, err)
	require.NotEqual(t, before.RunID, r.RunID)
	require.Equal(t, "proven", r.Proof.State)
}

func TestCheckThatChangesFilesProvesNothing(t *testing.T) {
	q := newPlan(t, onlyItem)
	r, _, err := q.walked(q.claims(":", ":"), check.Check{Name: "test", Command: "date +%N >>report.txt"})
	require.ErrorIs(t, err, work.ErrUnfinished)
	require.Equal(t, "stale", r.Proof.State)
	require.Contains(t, q.all(work.Halted)[0].Message, "check test changes files while it runs")
}

func TestSeveralChecksAreAllRun(t *testing.T) {
	q := newPlan(t, onlyItem)
	r, _, err := q.walked(q.claims(`case $prompt in *"no lint"*"no unit"*) touch lint unit;; esac`, ":"),
		check.Check{Name: "lint", Command: "test -f lint || { echo no lint; false; }"},
		check.Check{Name: "unit", Command: "test -f unit || { echo no unit; false; }"})
	require.NoError(t, err)
	require.Equal(t, []string{"lint", "unit"}, r.Proof.Green)
	require.Equal(t, 1, r.Counters.CheckFailures, "a submission fails once")
}

// The walk is ended while a check runs. The next one goes on with the check.
func TestCheckThatIsInterruptedRunsAgain(t *testing.T) {
	q := newPlan(t, onlyItem)
	slow := check.Check{Name: "test", Command: "test -f fast || sleep 100", Timeout: time.Minute}
	o := q.claims(":", ":")
	o.Checks.Typed = []check.Check{slow}
	ended := q.walking(o)
	q.wait(work.Checking)
	q.stop()
	require.ErrorIs(t, <-ended, work.ErrUnfinished)
	require.Empty(t, q.all(work.Checked))
	require.NoError(t, os.WriteFile(filepath.Join(q.root, "fast"), nil, 0o600))
	r, _, err := q.walked(q.claims(":", ":"), slow)
	require.NoError(t, err)
	require.Equal(t, "proven", r.Proof.State)
	started := slices.DeleteFunc(q.all(work.Started), func(e work.Event) bool { return e.Role != "worker" })
	require.Len(t, started, 1, "the worker is not asked again: %s", strings.Join(q.items(work.Started), " "))
}
