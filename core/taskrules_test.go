package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

func TestNewTaskWaitsForItsFirstClaim(t *testing.T) {
	task, effects := core.CreateTask("tsk_1", "att_1", 7, launch(t, 4, opus, gpt), 0, createdAt)
	first := core.Attempt{
		ID: "att_1", TaskID: "tsk_1", Number: 1, Cause: core.CauseFirst, Model: opus, CreatedAt: createdAt,
		Phase: core.Pending{},
	}
	require.Equal(t, []core.Effect{core.Keep{Attempt: first}, core.Record{Type: core.TaskCreated}}, effects)
	require.Equal(t, first, task.Current)
	require.Equal(t, int64(7), task.Position)
	require.True(t, task.Claimable(createdAt))
	require.False(t, newTask(t, 1).Claimable(createdAt))
}

// A worker whose answer was lost sends its report again and must be told the same; one that changes its
// mind must not.
func TestFaultD20_SameFinishTwiceIsTheSameAnswer(t *testing.T) {
	for name, move := range map[string]taskMove{
		"completed": completes, "awaiting": asks, "failed": failsTerminal, "interrupted": gives(core.AttemptInterrupted),
	} {
		running := lived(t, newTask(t, 0), claims)
		e := move(running, 500).(core.FinishAttempt)
		over, _, err := running.Step(e)
		require.NoError(t, err)

		again := e
		again.At, again.Next = 900, core.Successor{AttemptID: "att_77", Base: 5, Jitter: 3}
		require.True(t, over.Current.EndedBy(again), name)
		ignored(t, over, again)

		for what, other := range map[string]func(*core.FinishAttempt){
			"token":    func(e *core.FinishAttempt) { e.Token = foreign },
			"output":   func(e *core.FinishAttempt) { e.Output += "!" },
			"question": func(e *core.FinishAttempt) { e.Question += "?" },
			"failure":  func(e *core.FinishAttempt) { e.Failure.Message += "!" },
			"mode":     func(e *core.FinishAttempt) { e.Mode = core.RetryNever },
			"status":   func(e *core.FinishAttempt) { e.Status = core.AttemptCancelled },
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
	e := failsTransient(running, 500).(core.FinishAttempt)
	next, effects, err := running.Step(e)
	require.NoError(t, err)
	require.True(t, kept(effects)[0].EndedBy(e))
	require.False(t, next.Current.EndedBy(e))
	rejected(t, next, e, core.StaleAttempt)
}

// What no report ended, no report has ended, not even one that says nothing.
func TestAttemptThatNoReportEndedKnowsNoReport(t *testing.T) {
	lean, _ := core.CreateTask("tsk_1", attemptID(1), 1, launch(t, 1), 0, createdAt)
	for name, over := range map[string]core.Task{
		"lost": lived(t, lean, claims, loses), "cancelled": lived(t, lean, cancels),
		"session deleted": lived(t, lean, claims, binds, hears(core.SessionDeleted, "")),
	} {
		require.True(t, over.Current.Finished(), name)
		require.False(t, over.Current.EndedBy(core.FinishAttempt{Token: over.Current.Token()}), name)
	}
}

// A terminal attempt that is finished again must keep its status, its error and its time.
func TestFinishedAttemptKeepsWhatItEndedWith(t *testing.T) {
	done := lived(t, newTask(t, 0), claims, binds, completes)
	over := done.Current
	for _, event := range []core.TaskEvent{
		failsTerminal(done, 5000), asks(done, 5000), gives(core.AttemptCancelled)(done, 5000),
		hears(core.SessionError, core.ClassTerminal)(done, 5000), hears(core.SessionDeleted, "")(done, 5000),
	} {
		rejected(t, done, event, core.StaleAttempt)
	}
	ignored(t, done, core.ExpireLease{At: 1 << 40, Next: successor(done)})
	require.Equal(t, over, done.Current)
	require.Equal(t, core.Ended{
		Status: core.AttemptCompleted, Worker: "w1", Session: "ses_01", StartedAt: 200, At: 400, Token: "tok_01",
		Digest: over.Phase.(core.Ended).Digest,
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
	for _, event := range []core.TaskEvent{
		completes(old, 2000), failsTerminal(old, 2000), beats(old, 2000), binds(old, 2000),
		hears(core.SessionError, core.ClassTerminal)(old, 2000), hears(core.SessionDeleted, "")(old, 2000),
		hears(core.SessionProgress, "")(old, 2000),
	} {
		rejected(t, next, event, core.StaleAttempt)
	}
}

func TestFaultD19_AttemptHasOneSessionAndAFinishedOneGetsNone(t *testing.T) {
	bound := lived(t, newTask(t, 0), claims, binds)
	ignored(t, bound, binds(bound, 2000))
	rejected(t, bound, as(binds, func(e *core.BindSession) { e.Session = "ses_other" })(bound, 2000), core.SessionTaken)
	rejected(t, bound, as(binds, func(e *core.BindSession) { e.AttemptID = "att_00" })(bound, 2000), core.AttemptFinalized)
	rejected(t, lived(t, bound, completes), binds(bound, 2000), core.StaleAttempt)
}

// An attempt that runs in no session yet is not the one of a session without a name.
func TestNamelessSessionIsNobodys(t *testing.T) {
	running := lived(t, newTask(t, 0), claims)
	for _, kind := range core.SessionKinds() {
		rejected(t, running, core.HearSession{At: 500, Kind: kind, Next: successor(running)}, core.StaleAttempt)
	}
}

func TestFaultD21_RetryWhileOneIsPendingIsRefused(t *testing.T) {
	for _, s := range taskSituations(t) {
		if s.task.Status() == core.StatusQueued {
			rejected(t, s.task, retries(core.Model{})(s.task, 2000), core.RetryPending)
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
	for _, task := range []core.Task{
		newTask(t, 0), lived(t, newTask(t, 0), claims), lived(t, newTask(t, 0), claims, completes),
	} {
		rejected(t, task, replies(task, 900), core.InvalidState)
	}
}

// An executor that dies must not take the answer with it.
func TestFaultD15_ReplySurvivesEveryEndButAnOutcome(t *testing.T) {
	answered := lived(t, newTask(t, 0), claims, asks, replies, claims, binds)
	for name, end := range map[string]taskMove{
		"lost": loses, "failed": failsTransient, "hopeless": failsTerminal, "interrupted": gives(core.AttemptInterrupted),
		"cancelled": gives(core.AttemptCancelled), "session deleted": hears(core.SessionDeleted, ""),
	} {
		require.Equal(t, "navy blue", lived(t, answered, end).Reply, name)
	}
	require.Empty(t, lived(t, answered, completes).Reply)
	require.Empty(t, lived(t, answered, asks).Reply)
	require.Equal(t, 1, answered.Replies)
}

// A question is not a failure, and its answer does not use up the budget, nor refill it.
func TestAnswerNeitherUsesUpNorRefillsTheBudget(t *testing.T) {
	task := lived(t, newTask(t, 0), claims, failsTransient, claims, asks, replies)
	require.Equal(t, core.Spent{Failures: 1, OnModel: 1}, task.Spent)
	over := lived(t, newTask(t, 0), claims, failsTerminal, replies)
	require.Equal(t, core.Spent{}, over.Spent, "whoever sets an ended task going again gives it a new budget")
}

// A worker that dies says nothing against the model.
func TestLostAttemptStaysOnItsModel(t *testing.T) {
	task := lived(t, newTask(t, 0), claims, binds, loses)
	require.Equal(t, opus, task.Current.Model)
	require.Equal(t, core.Spent{Failures: 1}, task.Spent)
	require.Equal(t, core.TaskQueued{}, task.Phase, "it waits for nothing")
}

func TestBoundModelStaysOnTheSameLinkAndGoesWithTheNext(t *testing.T) {
	bound := lived(t, newTask(t, 0), claims, as(binds, func(e *core.BindSession) { e.Model = gemini }))
	require.Equal(t, gemini, lived(t, bound, failsTransient).Current.Model)
	require.Equal(t, gemini, lived(t, bound, asks, replies).Current.Model)
	next := lived(t, bound, failsProvider).Current
	require.Equal(t, gpt, next.Model)
	require.Equal(t, 1, next.Link)
}

// A host that runs on a model of the chain has passed those before it, so that a failure there leads on.
func TestRetryNeverGoesBackToTheModelThatHasJustFailed(t *testing.T) {
	on := func(m core.Model) taskMove { return as(binds, func(e *core.BindSession) { e.Model = m }) }
	fresh, _ := core.CreateTask("tsk_1", attemptID(1), 1, launch(t, 6, opus, gpt, gemini), 0, createdAt)
	next := lived(t, fresh, claims, on(gpt), failsProvider)
	require.Equal(t, gemini, next.Current.Model)
	require.Equal(t, 2, next.Current.Link)

	last := lived(t, fresh, claims, failsProvider, claims, failsProvider, claims, on(opus))
	require.Equal(t, 2, last.Current.Link, "what has failed is not begun again")
	require.Equal(t, core.TaskErrored{Reason: core.ReasonExhausted}, lived(t, last, failsProvider).Phase)

	shared := lived(t, fresh, claims, failsTransient, claims, on(gpt))
	require.Equal(t, core.Spent{Failures: 1}, shared.Spent, "the share of the other model begins")
	require.Equal(t, gpt, lived(t, shared, failsTransient).Current.Model)
}

// A claim that never reached its worker costs nothing: the attempt keeps its number and its budget.
func TestUndeliveredClaimIsFree(t *testing.T) {
	fresh := newTask(t, 0)
	running := lived(t, fresh, claims)
	back := lived(t, running, takesBack)
	require.Equal(t, fresh.Current, back.Current)
	require.Equal(t, fresh.Spent, back.Spent)
	ignored(t, lived(t, running, as(beats, func(e *core.Heartbeat) { e.At = 201 })), takesBack(running, 900))
	ignored(t, back, takesBack(running, 900))
}

// A cancellation that was asked for ends the task however the attempt ends, but for success.
func TestAskedForCancellationComesAbout(t *testing.T) {
	asked := lived(t, newTask(t, 0), claims, binds, cancels)
	ignored(t, asked, cancels(asked, 900))
	for name, end := range map[string]taskMove{
		"cancelled": gives(core.AttemptCancelled), "interrupted": gives(core.AttemptInterrupted), "failed": failsTransient,
		"asked": asks, "lost": loses, "session error": hears(core.SessionError, core.ClassProvider),
		"session deleted": hears(core.SessionDeleted, ""),
	} {
		over := lived(t, asked, end)
		require.Equal(t, core.StatusCancelled, over.Status(), name)
		require.Equal(t, "no boat", over.Phase.(core.TaskCancelled).Reason, name)
	}
	require.Equal(t, core.StatusComplete, lived(t, asked, completes).Status())
}

func TestEverySessionKindButAnEndIsASignOfLife(t *testing.T) {
	bound := lived(t, newTask(t, 0), claims, binds)
	for _, move := range []taskMove{
		hears(core.SessionStarted, ""), hears(core.SessionProgress, ""), hears(core.SessionIdle, ""),
		hears(core.SessionError, core.ClassTransient),
	} {
		next, effects, err := bound.Step(move(bound, 900))
		require.NoError(t, err)
		require.Equal(t, core.Instant(1900), next.Current.Phase.(core.Running).Lease.ExpiresAt)
		require.Equal(t, move(bound, 900).(core.HearSession).Kind != core.SessionProgress, logged(effects, core.AttemptReported))
	}
}

func TestReasonIsThatOfThePhase(t *testing.T) {
	for _, s := range taskSituations(t) {
		want := ""
		switch p := s.task.Phase.(type) {
		case core.TaskErrored:
			want = string(p.Reason)
		case core.TaskCancelled:
			want = "no boat"
		case core.TaskBlocked:
			want = "the run is blocked"
		case core.TaskQueued, core.TaskRunning, core.TaskComplete, core.TaskAwaiting:
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
	tell := func(a core.Attempt) known {
		return known{a.Worker(), a.Session(), a.Token(), a.StartedAt(), a.EndedAt(), a.Finished()}
	}
	task := newTask(t, 0)
	require.Equal(t, known{}, tell(task.Current))
	running := lived(t, task, claims, binds)
	require.Equal(t, known{"w1", "ses_01", "tok_01", 200, 0, false}, tell(running.Current))
	require.Equal(t, known{"w1", "ses_01", "tok_01", 200, 900, true}, tell(lived(t, running, as(completes, func(e *core.FinishAttempt) { e.At = 900 })).Current))
	require.Equal(t, known{ended: 200, finished: true}, tell(lived(t, task, cancels).Current), "it never began")
}

// A dependency that completes while the task is over moves nothing but the count, so that the task may
// be claimed at once when it is set going again.
func TestDependencyThatCompletesAfterTheEndIsCounted(t *testing.T) {
	over := lived(t, newTask(t, 1), cancels)
	next, effects, err := over.Step(core.DependencyDone{At: 900})
	require.NoError(t, err)
	require.Empty(t, effects)
	require.Equal(t, over.UpdatedAt, next.UpdatedAt)
	require.True(t, lived(t, next, retries(core.Model{})).Claimable(900))
	require.Panics(t, func() { _, _, _ = next.Step(core.DependencyDone{At: 900}) }, "it waits for nothing any more")
}
