//go:build unix

package work_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/cli/work"
	"waybill/schema"
)

func TestCommandGetsThePromptAndItsOutputIsTheResult(t *testing.T) {
	q := newQueue(t)
	prompt := "Lend the räin.\n\n[Task]\n\tnothing \\ is 'lost'\n"
	id := q.make(prompt, 1)
	q.drain(q.shell(`cat; printf %s "$WAYBILL_TASK_ID $WAYBILL_ATTEMPT_NUMBER $PWD"`))
	task := q.task(id)
	require.Equal(t, "COMPLETE", task.Status)
	require.Equal(t, prompt+id+" 1 "+q.root, task.Output)
	require.NotEmpty(t, task.SessionID)
}

// A command that does not read its prompt has done nothing wrong, however long the prompt is.
func TestPromptThatNobodyReads(t *testing.T) {
	q := newQueue(t)
	id := q.make(strings.Repeat("x", 1<<20), 1)
	q.drain(q.shell("echo done"))
	require.Equal(t, "done\n", q.task(id).Output)
}

func TestExitStatusSaysWhatItCameTo(t *testing.T) {
	tests := []struct {
		name, script     string
		attempts         int
		status, reason   string
		message, class   string
		question, output string
	}{
		{name: "nothing is a result, too", script: "true", status: "COMPLETE"},
		{name: "a question in the last line", script: "echo so far; echo 'QUESTION: Lend it?'; exit 10", status: "AWAITING_RESPONSE", question: "Lend it?", output: "so far\nQUESTION: Lend it?\n"},
		{name: "all of it is the question", script: "echo Lend it?; exit 10", status: "AWAITING_RESPONSE", output: "Lend it?\n"},
		{name: "who asks nothing has failed", script: "exit 10", status: "ERROR", reason: "failed", message: "the command failed with exit status 10 and said nothing", class: "terminal"},
		{name: "a marker at status 0", script: "echo so far; printf 'QUESTION: Lend it?\\n\\n \\n'", status: "AWAITING_RESPONSE", question: "Lend it?", output: "so far\nQUESTION: Lend it?\n\n \n"},
		{name: "a marker in the middle", script: "echo 'QUESTION: Lend it?'; echo yes", status: "COMPLETE"},
		{name: "a marker in a quotation", script: "echo 'They asked:'; echo '> QUESTION: Lend it?'", status: "COMPLETE"},
		{name: "a marker behind something", script: "echo 'no QUESTION: Lend it?'", status: "COMPLETE"},
		{name: "a marker in a code block", script: "echo '```'; echo 'QUESTION: Lend it?'; echo '```'", status: "COMPLETE"},
		{name: "a marker without a question", script: "echo 'QUESTION:'", status: "COMPLETE"},
		{name: "a marker of one that failed", script: "echo 'QUESTION: Lend it?'; echo no >&2; exit 1", status: "ERROR", reason: "failed", message: "no", class: "terminal", output: "QUESTION: Lend it?\n"},
		{name: "it failed and says why", script: "echo half; echo 'the font is gone' >&2; exit 3", attempts: 3, status: "ERROR", reason: "failed", message: "the font is gone", class: "terminal", output: "half\n"},
		{name: "what it says is classified", script: "echo '429 Too Many Requests' >&2; exit 1", status: "ERROR", reason: "retries_exhausted", message: "429 Too Many Requests", class: "provider"},
		{name: "it says why on standard output", script: "echo so far; echo '5-hour limit reached ∙ resets 3am'; exit 1", status: "ERROR", reason: "retries_exhausted", message: "5-hour limit reached ∙ resets 3am", class: "provider", output: "so far\n5-hour limit reached ∙ resets 3am\n"},
		{name: "it may succeed later", script: "echo busy >&2; exit 75", attempts: 2, status: "ERROR", reason: "retries_exhausted", message: "busy", class: "transient"},
		{name: "it was killed", script: "kill -KILL $$", status: "ERROR", reason: "failed", message: "the command did not end by itself: signal: killed", class: "terminal"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			q := newQueue(t)
			id := q.make("Lend it.", max(test.attempts, 1))
			q.drain(q.shell(test.script))
			task := q.task(id)
			require.Equal(t, test.status, task.Status)
			require.Equal(t, test.reason, task.Reason)
			require.Equal(t, test.question, task.Question)
			if test.output != "" || test.status != "COMPLETE" {
				require.Equal(t, test.output, task.Output)
			}
			if test.message != "" {
				require.Equal(t, test.message, task.Error.Message)
				require.Equal(t, test.class, task.Error.Class)
			}
			if test.class == "transient" {
				require.Equal(t, test.attempts, task.AttemptNumber)
			}
		})
	}
}

// A command that asked goes on with the answer, in the same conversation.
func TestAnswerGoesToTheConversationThatAsked(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	script := `cat >prompt; [ -n "$WAYBILL_CONTINUATION" ] || { echo "QUESTION: To whom? ($WAYBILL_SESSION_ID)"; exit 10; }; echo "$WAYBILL_SESSION_ID"; cat prompt`
	q.drain(q.shell(script))
	asked := q.task(id)
	require.Equal(t, "To whom? ("+asked.SessionID+")", asked.Question)
	ask[schema.ReplyResult](q, "reply", schema.ReplyParams{TaskID: id, Reply: "To Ada."})
	q.drain(q.shell(script))
	done := q.task(id)
	require.Equal(t, "COMPLETE", done.Status)
	session, prompt, _ := strings.Cut(done.Output, "\n")
	require.Equal(t, asked.SessionID, session)
	require.Contains(t, prompt, "[User Reply]\nTo Ada.")
}

// forEver opens the named pipe in two processes, which do not end by themselves, nor when they are asked to.
const forEver = `trap '' TERM; exec 3>fifo; sh -c 'while :; do sleep 1000; done' & while :; do sleep 1000; done`

func TestCommandThatTakesTooLongEndsWithAllThatItStarted(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	o := q.shell(forEver)
	o.Timeout, o.Grace = 3*time.Second, 50*time.Millisecond
	q.during(o, func() {})
	task := q.task(id)
	require.Equal(t, []string{"ERROR", "the command was ended after 3s", "transient"}, []string{task.Status, task.Error.Message, task.Error.Class})
}

func TestWithdrawnTaskEndsItsCommand(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 3)
	o := q.shell("echo half; exec 3>fifo; sleep 1000")
	o.Lease = 3 * time.Second
	q.during(o, func() { ask[schema.TaskResult](q, "cancel_task", schema.CancelTaskParams{TaskID: id}) })
	require.Equal(t, "CANCELLED", q.task(id).Status)
	require.Equal(t, "half\n", q.task(id).Output)
	require.Len(t, q.all(work.Cancelled), 1)
}

// Whoever has lost the lease is not to report, and not to go on.
func TestLostLeaseEndsTheCommandWithoutAReport(t *testing.T) {
	q := newQueue(t)
	q.make("Lend it.", 1)
	var stale atomic.Bool
	q.before = func(method string, result any) (bool, error) {
		if method != "heartbeat" || !stale.Load() {
			return false, nil
		}
		*result.(*schema.HeartbeatResult) = schema.HeartbeatResult{Reason: "stale_attempt"}
		return true, nil
	}
	o := q.shell("exec 3>fifo; sleep 1000")
	o.Lease = 3 * time.Second
	q.during(o, func() { stale.Store(true) })
	require.Len(t, q.all(work.Lost), 1)
	require.NotContains(t, q.calls, "finish_attempt")
}

// A lease is renewed as long as the command runs.
func TestLeaseIsRenewed(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	beats := make(chan struct{}, 100)
	q.before = func(method string, _ any) (bool, error) {
		if method == "heartbeat" {
			beats <- struct{}{}
		}
		return false, nil
	}
	o := q.shell("exec 3>fifo; cat; read line <go")
	o.Lease = 3 * time.Second
	q.during(o, func() {
		for range 4 { // which is longer than the lease
			<-beats
		}
		q.letGo()
	})
	require.Equal(t, "COMPLETE", q.task(id).Status)
}

// An end of the context ends what runs; it is reported as interrupted, and can be set going again.
func TestWhoIsStoppedInterruptsItsCommands(t *testing.T) {
	q := newQueue(t)
	id, left := q.make("Lend it.", 3), q.make("Lend the other.", 3)
	q.during(q.shell("exec 3>fifo; sleep 1000"), func() { q.stop() })
	require.Equal(t, []string{"ERROR", "interrupted"}, []string{q.task(id).Status, q.task(id).Reason})
	require.Equal(t, "QUEUED", q.task(left).Status)
}

// Who drains lets what runs come to its end, and begins nothing more.
func TestWhoDrainsBeginsNothingMore(t *testing.T) {
	q := newQueue(t)
	id, left := q.make("Lend it.", 3), q.make("Lend the other.", 3)
	o := q.shell("exec 3>fifo; read line <go; echo done")
	o.Stay = true
	q.during(o, func() {
		close(q.drained)
		q.letGo()
	})
	require.Equal(t, "done\n", q.task(id).Output)
	require.Equal(t, "QUEUED", q.task(left).Status)
}

// Who waits for a task and drains ends at once.
func TestWhoWaitsForATaskDrains(t *testing.T) {
	q := newQueue(t)
	claiming := make(chan struct{}, 10)
	q.before = func(method string, _ any) (bool, error) {
		if method == "claim_task" {
			claiming <- struct{}{}
		}
		return false, nil
	}
	o := q.shell("true")
	o.Stay, o.Parallel = true, 3
	done := q.working(o)
	for range o.Parallel {
		<-claiming
	}
	close(q.drained)
	require.NoError(t, <-done)
}

// No more than Parallel commands run at a time, and as many if there are tasks.
func TestCommandsRunBesideEachOther(t *testing.T) {
	q := newQueue(t)
	for range 6 {
		q.make("Lend it.", 1)
	}
	o := q.shell(`echo x >>begun; while [ "$(wc -l <begun)" -lt 3 ]; do sleep 0.01; done; sort -u begun`)
	o.Parallel = 3
	q.drain(o)
	require.Len(t, q.all(work.Completed), 6)
	running, most := 0, 0
	for _, e := range q.events {
		switch e.Kind {
		case work.Started:
			running++
		case work.Completed:
			running--
		}
		most = max(most, running)
	}
	require.Equal(t, 3, most)
}

// A store that is busy is asked again, and the same report counts once.
func TestReportIsRepeated(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	q.refuse(3, "finish_attempt", schema.NewError(schema.StoreBusy, "another process holds the store"))
	q.drain(q.shell("echo done"))
	require.Equal(t, "COMPLETE", q.task(id).Status)
	require.Len(t, q.all(work.Completed), 1)
}

// A store that is gone ends the work, with what it says.
func TestStoreThatCannotBeUsedEndsTheWork(t *testing.T) {
	q := newQueue(t)
	gone := schema.NewError(schema.StoreNewer, "a newer waybill has written it")
	q.before = func(string, any) (bool, error) { return true, gone }
	o := q.shell("true")
	o.Parallel = 2
	require.ErrorIs(t, work.Tasks(t.Context(), nil, o), gone)
}

// Of a long output the beginning and the end are kept, and what is no UTF-8 is replaced.
func TestLongOutputKeepsItsBeginningAndItsEnd(t *testing.T) {
	q := newQueue(t)
	id := q.make("Lend it.", 1)
	q.drain(q.shell(`printf 'first\377'; head -c 3000000 /dev/zero | tr '\0' x; echo last`))
	task := q.task(id)
	require.Equal(t, "COMPLETE", task.Status)
	require.True(t, strings.HasPrefix(task.Output, "first\uFFFDxxx"))
	require.True(t, strings.HasSuffix(task.Output, "xxxlast\n"))
	require.Regexp(t, `x\n\[… 19\d{5} bytes left out …\]\nx`, task.Output)
	require.LessOrEqual(t, len(task.Output), 1<<20)

	id = q.make("Lend it.", 1)
	q.drain(q.shell(`head -c 1000000 /dev/zero | tr '\0' '\377'`)) // each byte of which is kept as three
	require.Equal(t, "COMPLETE", q.task(id).Status)
}
