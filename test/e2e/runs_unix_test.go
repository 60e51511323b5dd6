//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/slow"
)

// A worker of a run claims tasks and gives results for them that finish them, until the process is killed. Then
// the run, its ledger, its tasks and the event log say the same: as many outcomes as finished tasks, each of
// them counted once, and every result that was answered among them.
func TestKillTakesNoHalfOfAResult(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, seed))
	w := newWorld(t)
	run := w.begin(t)
	answered := map[string]bool{} // tasks whose results were answered
	for range 6 {
		for _, task := range w.ingestUntilKilled(t, run, r.Int64N(60)) {
			answered[task] = true
		}
	}
	p := w.serve(t)
	var detail struct {
		TaskLedger struct {
			Attempts int `json:"attempts"`
		} `json:"task_ledger"`
	}
	p.must("get_ledger", fmt.Sprintf(`{"run_id":%q,"kind":"task"}`, run), &detail)
	var counts struct {
		Dispatch struct {
			Results int `json:"results"`
		} `json:"dispatch"`
	}
	p.must("get_telemetry", fmt.Sprintf(`{"run_id":%q}`, run), &counts)
	var log schema.EventList
	p.must("events_since", `{"cursor":"0","limit":500,"types":["run.outcome"]}`, &log)
	require.False(t, log.More)
	outcomes := map[string]bool{} // tasks of which the log has an outcome
	for _, ev := range log.Events {
		require.Equal(t, run, ev.SubjectID)
		task := regexp.MustCompile(`tsk_[0-9a-f-]{36}`).FindString(string(ev.Data))
		require.False(t, outcomes[task], "two outcomes of one task")
		outcomes[task] = true
	}
	var list schema.TaskList
	p.must("list_tasks", fmt.Sprintf(`{"run_id":%q,"status":"COMPLETE","limit":500}`, run), &list)
	require.Empty(t, list.NextCursor)
	complete := map[string]bool{} // tasks that were finished
	for _, task := range list.Items {
		complete[task.TaskID] = true
	}
	require.Len(t, complete, len(outcomes), "outcomes in the log, and tasks that were finished")
	require.Equal(t, len(outcomes), detail.TaskLedger.Attempts, "in the ledger")
	require.Equal(t, len(outcomes), counts.Dispatch.Results, "in the telemetry")
	for task := range answered {
		require.True(t, complete[task], "the result of %s was answered and is lost", task)
		require.True(t, outcomes[task], "the result of %s was answered and moved nothing", task)
	}
	require.NotEmpty(t, answered)
}

// begin starts the run that all are about.
func (w world) begin(t *testing.T) string {
	t.Helper()
	p := w.serve(t)
	run := p.gets("run_id", "init_run", `{"plan":"tasks.md","item_id":"2.1"}`)
	require.NoError(t, p.in.Close())
	require.Zero(t, p.end())
	return run
}

// ingestUntilKilled returns the tasks whose results were answered before the process was killed, when so many
// answers had come and others were on their way.
func (w world) ingestUntilKilled(t *testing.T, run string, results int64) []string {
	t.Helper()
	const workers = 6
	p := w.serve(t)
	p.must("ping", `{}`, nil)
	s := p.share()
	var mu sync.Mutex // guards done
	var done []string
	var count atomic.Int64
	enough := make(chan struct{}) // closed by the worker that gets the decisive answer
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				task, ok := s.deliver(run)
				if !ok {
					return
				}
				mu.Lock()
				done = append(done, task)
				mu.Unlock()
				if count.Add(1) == results+1 {
					close(enough)
				}
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(patience):
		require.FailNow(t, "the workers got too few answers", "%d of %d", count.Load(), results+1)
	}
	require.NoError(t, p.cmd.Process.Kill())
	wg.Wait()
	_ = p.cmd.Wait()
	return done
}

// deliver creates a task, claims one, and returns a result that finishes it. ok is false once the process is gone.
func (s *switchboard) deliver(run string) (task string, ok bool) {
	if _, ok := s.call("create_task", fmt.Sprintf(`{"run_id":%q,"role":"worker","prompt":"Draw."}`, run)); !ok {
		return "", false
	}
	r, ok := s.call("claim_task", `{"worker":"w","lease_ms":3600000}`)
	if !ok {
		return "", false
	}
	var claimed schema.ClaimTaskResult
	if json.Unmarshal(r.Result, &claimed) != nil || claimed.Claim == nil {
		return "", false
	}
	task = claimed.Claim.Task.TaskID
	output := `role: worker\ntask_id: ` + task + `\nstatus: pass\ngit_range: a1..b2\n`
	r, ok = s.call("ingest_output", fmt.Sprintf(`{"run_id":%q,"role":"worker","task_id":%q,"lease_token":%q,"output":"%s"}`,
		run, task, claimed.Claim.Lease.Token, output))
	return task, ok && r.Error == nil
}
