package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
)

func TestNewTaskWaitsForItsFirstClaim(t *testing.T) {
	tsk, effects := task.Create("tsk_1", "att_1", 7, launch(t, 4, opus, gpt), 0, coretest.CreatedAt)
	first := task.Attempt{
		ID: "att_1", TaskID: "tsk_1", Number: 1, Cause: task.CauseFirst, Model: opus, CreatedAt: coretest.CreatedAt,
		Phase: task.PendingAttempt{},
	}
	require.Equal(t, []core.Effect{task.Keep{Attempt: first}, core.Record{Type: core.TaskCreated}}, effects)
	require.Equal(t, first, tsk.Current)
	require.Equal(t, int64(7), tsk.Position)
	require.True(t, tsk.Claimable(coretest.CreatedAt))
	require.False(t, newTask(t, 1).Claimable(coretest.CreatedAt))
}

// A worker whose answer was lost sends its report again and must be told the same; one that changes its
// mind must not.
func TestFaultD20_SameFinishTwiceIsTheSameAnswer(t *testing.T) {
	for name, move := range map[string]taskMove{
		"completed": completes, "awaiting": asks, "failed": failsTerminal, "interrupted": gives(task.AttemptInterrupted),
	} {
		running := lived(t, newTask(t, 0), claims)
		e := move(running, 500).(task.Finish)
		over, _, err := running.Step(e)
		require.NoError(t, err)

		again := e
		again.At, again.Next = 900, task.Successor{AttemptID: "att_77", Base: 5, Jitter: 3}
		require.True(t, over.Current.EndedBy(again), name)
		ignored(t, over, again)

		for what, other := range map[string]func(*task.Finish){
			"token":    func(e *task.Finish) { e.Token = foreign },
			"output":   func(e *task.Finish) { e.Output += "!" },
			"question": func(e *task.Finish) { e.Question += "?" },
			"failure":  func(e *task.Finish) { e.Failure.Message += "!" },
			"mode":     func(e *task.Finish) { e.Mode = task.RetryNever },
			"model":    func(e *task.Finish) { e.NextModel = gemini },
			"status":   func(e *task.Finish) { e.Status = task.AttemptCancelled },
		} {
			changed := e
			other(&changed)
			require.False(t, over.Current.EndedBy(changed), "%s: %s", name, what)
			rejected(t, over, changed, core.StaleAttempt)
		}
	}
}

// The attempt that a report ended may not be the newest one any more when the report comes again.
func TestRepeatedReportIsKnownByTheAttemptThatItEnded(t *testing.T) {
	running := lived(t, newTask(t, 0), claims)
	e := failsTransient(running, 500).(task.Finish)
	next, effects, err := running.Step(e)
	require.NoError(t, err)
	require.True(t, kept(effects)[0].EndedBy(e))
	require.False(t, next.Current.EndedBy(e))
	rejected(t, next, e, core.StaleAttempt)
}

// Seen: a host with its own schedule reported each failure, and each time the task and its session were over.
func TestHostThatSchedulesByItselfKeepsTheTaskGoing(t *testing.T) {
	tsk, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 1), 0, coretest.CreatedAt)
	for _, model := range []task.Model{gemini, opus, gpt, haiku} {
		running := lived(t, tsk, claims)
		next, effects, err := running.Step(handsOn(task.ClassTerminal, model)(running, 1000))
		require.NoError(t, err)
		require.Equal(t, []core.NoticeKind{core.NoticeRetryScheduled}, coretest.Notices(effects))
		require.Equal(t, model, next.Current.Model)
		require.Zero(t, next.Spent)
		tsk = next
	}
	require.Equal(t, task.Errored{Reason: task.ReasonFailed}, lived(t, tsk, claims, failsTerminal).Phase, "the host named none")
	asked := lived(t, newTask(t, 0), claims, cancels, handsOn(task.ClassTransient, gemini))
	require.Equal(t, task.StatusCancelled, asked.Status(), "a cancellation comes first")
}

// What no report ended, no report has ended, not even one that says nothing.
func TestAttemptThatNoReportEndedKnowsNoReport(t *testing.T) {
	lean, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 1), 0, coretest.CreatedAt)
	for name, over := range map[string]task.Task{
		"lost": lived(t, lean, claims, loses), "cancelled": lived(t, lean, cancels),
		"session deleted": lived(t, lean, claims, binds, hears(task.SessionDeleted, "")),
	} {
		require.True(t, over.Current.Finished(), name)
		require.False(t, over.Current.EndedBy(task.Finish{Token: over.Current.Token()}), name)
	}
}

// A terminal attempt that is finished again must keep its status, its error and its time.
func TestFinishedAttemptKeepsWhatItEndedWith(t *testing.T) {
	done := lived(t, newTask(t, 0), claims, binds, completes)
	over := done.Current
	for _, event := range []task.Event{
		failsTerminal(done, 5000), asks(done, 5000), gives(task.AttemptCancelled)(done, 5000),
		hears(task.SessionError, task.ClassTerminal)(done, 5000), hears(task.SessionDeleted, "")(done, 5000),
	} {
		rejected(t, done, event, core.StaleAttempt)
	}
	ignored(t, done, task.Expire{At: 1 << 40, Next: successor(done)})
	require.Equal(t, over, done.Current)
	require.Equal(t, task.EndedAttempt{
		Status: task.AttemptCompleted, Worker: "w1", Session: "ses_01", StartedAt: 200, At: 400, Token: "tok_01",
		Digest: over.Phase.(task.EndedAttempt).Digest,
	}, over.Phase)
}

func TestBelatedReportIsCountedAndChangesNothingElse(t *testing.T) {
	over := lived(t, newTask(t, 0), claims, completes).Current
	late := over.Belated()
	require.Equal(t, 1, late.Stale)
	late.Stale = 0
	require.Equal(t, over, late)
}

// The events of an attempt whose worker was replaced must not touch its successor.
func TestFaultD18_OldWorkerAndOldSessionChangeNothing(t *testing.T) {
	old := lived(t, newTask(t, 0), claims, binds)
	next := lived(t, old, failsProvider, claims, binds)
	for _, event := range []task.Event{
		completes(old, 2000), failsTerminal(old, 2000), beats(old, 2000), binds(old, 2000),
		hears(task.SessionError, task.ClassTerminal)(old, 2000), hears(task.SessionDeleted, "")(old, 2000),
		hears(task.SessionProgress, "")(old, 2000),
	} {
		rejected(t, next, event, core.StaleAttempt)
	}
}

func TestFaultD19_AttemptHasOneSessionAndAFinishedOneGetsNone(t *testing.T) {
	bound := lived(t, newTask(t, 0), claims, binds)
	ignored(t, bound, binds(bound, 2000))
	rejected(t, bound, as(binds, func(e *task.Bind) { e.Session = "ses_other" })(bound, 2000), core.SessionTaken)
	rejected(t, bound, as(binds, func(e *task.Bind) { e.AttemptID = "att_00" })(bound, 2000), core.AttemptFinalized)
	rejected(t, lived(t, bound, completes), binds(bound, 2000), core.StaleAttempt)
}

// An attempt that runs in no session yet is not the one of a session without a name.
func TestNamelessSessionIsNobodys(t *testing.T) {
	running := lived(t, newTask(t, 0), claims)
	for _, kind := range coretest.SessionKinds() {
		rejected(t, running, task.ReportSession{At: 500, Kind: kind, Next: successor(running)}, core.StaleAttempt)
	}
}

func TestFaultD21_RetryWhileOneIsPendingIsRefused(t *testing.T) {
	for _, s := range taskSituations(t) {
		if s.task.Status() == task.StatusQueued {
			rejected(t, s.task, retries(task.Model{})(s.task, 2000), core.RetryPending)
		}
	}
}

// Of many answers to one question the first one wins, and the question cannot be answered while the
// answer is on its way.
func TestFaultD12_SecondAnswerIsRefused(t *testing.T) {
	asked := lived(t, newTask(t, 0), claims, asks)
	answered := lived(t, asked, replies)
	rejected(t, answered, replies(answered, 900), core.AlreadyResolved)
	running := lived(t, answered, claims)
	rejected(t, running, replies(running, 900), core.AlreadyResolved)
}

func TestFaultD11_ReplyToWhatAskedNothingIsRefused(t *testing.T) {
	for _, task := range []task.Task{
		newTask(t, 0), lived(t, newTask(t, 0), claims), lived(t, newTask(t, 0), claims, completes),
	} {
		rejected(t, task, replies(task, 900), core.InvalidState)
	}
}

// An executor that dies must not take the answer with it.
func TestFaultD15_ReplySurvivesEveryEndButAnOutcome(t *testing.T) {
	answered := lived(t, newTask(t, 0), claims, asks, replies, claims, binds)
	for name, end := range map[string]taskMove{
		"lost": loses, "failed": failsTransient, "hopeless": failsTerminal, "interrupted": gives(task.AttemptInterrupted),
		"cancelled": gives(task.AttemptCancelled), "session deleted": hears(task.SessionDeleted, ""),
	} {
		require.Equal(t, "navy blue", lived(t, answered, end).Reply, name)
	}
	require.Empty(t, lived(t, answered, completes).Reply)
	require.Empty(t, lived(t, answered, asks).Reply)
	require.Equal(t, 1, answered.Replies)
}

// A question is not a failure, and its answer does not use up the budget, nor refill it.
func TestAnswerNeitherUsesUpNorRefillsTheBudget(t *testing.T) {
	tsk := lived(t, newTask(t, 0), claims, failsTransient, claims, asks, replies)
	require.Equal(t, task.Spent{Failures: 1, OnModel: 1}, tsk.Spent)
	over := lived(t, newTask(t, 0), claims, failsTerminal, replies)
	require.Equal(t, task.Spent{}, over.Spent, "whoever sets an ended task going again gives it a new budget")
}

// A worker that dies says nothing against the model.
func TestLostAttemptStaysOnItsModel(t *testing.T) {
	tsk := lived(t, newTask(t, 0), claims, binds, loses)
	require.Equal(t, opus, tsk.Current.Model)
	require.Equal(t, task.Spent{Failures: 1}, tsk.Spent)
	require.Equal(t, task.Queued{}, tsk.Phase, "it waits for nothing")
}

func TestBoundModelStaysOnTheSameLinkAndGoesWithTheNext(t *testing.T) {
	bound := lived(t, newTask(t, 0), claims, as(binds, func(e *task.Bind) { e.Model = gemini }))
	require.Equal(t, gemini, lived(t, bound, failsTransient).Current.Model)
	require.Equal(t, gemini, lived(t, bound, asks, replies).Current.Model)
	next := lived(t, bound, failsProvider).Current
	require.Equal(t, gpt, next.Model)
	require.Equal(t, 1, next.Link)
}

// A host that runs on a model of the chain has passed those before it, so that a failure there leads on.
func TestRetryNeverGoesBackToTheModelThatHasJustFailed(t *testing.T) {
	on := func(m task.Model) taskMove { return as(binds, func(e *task.Bind) { e.Model = m }) }
	fresh, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 6, opus, gpt, gemini), 0, coretest.CreatedAt)
	next := lived(t, fresh, claims, on(gpt), failsProvider)
	require.Equal(t, gemini, next.Current.Model)
	require.Equal(t, 2, next.Current.Link)

	last := lived(t, fresh, claims, failsProvider, claims, failsProvider, claims, on(opus))
	require.Equal(t, 2, last.Current.Link, "what has failed is not begun again")
	require.Equal(t, task.Errored{Reason: task.ReasonExhausted}, lived(t, last, failsProvider).Phase)

	shared := lived(t, fresh, claims, failsTransient, claims, on(gpt))
	require.Equal(t, task.Spent{Failures: 1}, shared.Spent, "the share of the other model begins")
	require.Equal(t, gpt, lived(t, shared, failsTransient).Current.Model)
}

// A claim that never reached its worker costs nothing: the attempt keeps its number and its budget.
func TestUndeliveredClaimIsFree(t *testing.T) {
	fresh := newTask(t, 0)
	running := lived(t, fresh, claims)
	back := lived(t, running, takesBack)
	require.Equal(t, fresh.Current, back.Current)
	require.Equal(t, fresh.Spent, back.Spent)
	ignored(t, lived(t, running, as(beats, func(e *task.Heartbeat) { e.At = 201 })), takesBack(running, 900))
	ignored(t, back, takesBack(running, 900))
}

// A cancellation that was asked for ends the task however the attempt ends, but for success.
func TestAskedForCancellationComesAbout(t *testing.T) {
	asked := lived(t, newTask(t, 0), claims, binds, cancels)
	ignored(t, asked, cancels(asked, 900))
	for name, end := range map[string]taskMove{
		"cancelled": gives(task.AttemptCancelled), "interrupted": gives(task.AttemptInterrupted), "failed": failsTransient,
		"asked": asks, "lost": loses, "session error": hears(task.SessionError, task.ClassProvider),
		"session deleted": hears(task.SessionDeleted, ""),
	} {
		over := lived(t, asked, end)
		require.Equal(t, task.StatusCancelled, over.Status(), name)
		require.Equal(t, "no boat", over.Phase.(task.Cancelled).Reason, name)
	}
	require.Equal(t, task.StatusComplete, lived(t, asked, completes).Status())
}

func TestEverySessionKindButAnEndIsASignOfLife(t *testing.T) {
	bound := lived(t, newTask(t, 0), claims, binds)
	for _, move := range []taskMove{
		hears(task.SessionStarted, ""), hears(task.SessionProgress, ""), hears(task.SessionIdle, ""),
		hears(task.SessionError, task.ClassTransient),
	} {
		next, effects, err := bound.Step(move(bound, 900))
		require.NoError(t, err)
		require.Equal(t, core.Instant(1900), next.Current.Phase.(task.RunningAttempt).Lease.ExpiresAt)
		require.Equal(t, move(bound, 900).(task.ReportSession).Kind != task.SessionProgress, logged(effects, core.AttemptReported))
	}
}

func TestReasonIsThatOfThePhase(t *testing.T) {
	for _, s := range taskSituations(t) {
		want := ""
		switch p := s.task.Phase.(type) {
		case task.Errored:
			want = string(p.Reason)
		case task.Cancelled:
			want = "no boat"
		case task.Blocked:
			want = "the run is blocked"
		case task.Queued, task.Running, task.Complete, task.Awaiting:
		}
		require.Equal(t, want, s.task.Reason(), s.name)
	}
}

func TestAttemptTellsWhatIsKnownInEachPhase(t *testing.T) {
	type known struct {
		worker, session, token string
		started, ended         core.Instant
		finished               bool
	}
	tell := func(a task.Attempt) known {
		return known{a.Worker(), a.Session(), a.Token(), a.StartedAt(), a.EndedAt(), a.Finished()}
	}
	tsk := newTask(t, 0)
	require.Equal(t, known{}, tell(tsk.Current))
	running := lived(t, tsk, claims, binds)
	require.Equal(t, known{"w1", "ses_01", "tok_01", 200, 0, false}, tell(running.Current))
	require.Equal(t, known{"w1", "ses_01", "tok_01", 200, 900, true}, tell(lived(t, running, as(completes, func(e *task.Finish) { e.At = 900 })).Current))
	require.Equal(t, known{ended: 200, finished: true}, tell(lived(t, tsk, cancels).Current), "it never began")
}

// A dependency that completes while the task is over moves nothing but the count, so that the task may
// be claimed at once when it is set going again.
func TestDependencyThatCompletesAfterTheEndIsCounted(t *testing.T) {
	over := lived(t, newTask(t, 1), cancels)
	next, effects, err := over.Step(task.DependencyDone{At: 900})
	require.NoError(t, err)
	require.Empty(t, effects)
	require.Equal(t, over.UpdatedAt, next.UpdatedAt)
	require.True(t, lived(t, next, retries(task.Model{})).Claimable(900))
	require.Panics(t, func() { _, _, _ = next.Step(task.DependencyDone{At: 900}) }, "it waits for nothing any more")
}
