package coretest

import (
	"waybill/core"
	"waybill/core/run"
	"waybill/core/task"
)

// Policy returns the policy that most tests run with. It has the values of the built-in settings.
func Policy() run.Policy {
	return run.Policy{
		InvalidRetries: 1, ReviewerFreshRuns: 1, WorkerFailures: 1,
		ReviewRejections: 3, StalledThreshold: 2, ReviewLoopThreshold: 2, CheckFailures: 3,
	}
}

// NoticeKinds lists the notice kinds.
func NoticeKinds() []core.NoticeKind {
	return []core.NoticeKind{
		core.NoticeInstructionFailed, core.NoticeTaskFinished, core.NoticeTaskAwaiting, core.NoticeRetryScheduled,
		core.NoticeRetryReady, core.NoticeAllFinished, core.NoticeRunBlocked, core.NoticeRunStalled, core.NoticePlanCompleted, core.NoticeHostReported,
	}
}

// Halts lists the halts of a run.
func Halts() []run.Halt {
	return []run.Halt{
		run.HaltInvalid, run.HaltFailures, run.HaltRejections, run.HaltGaveUp, run.HaltChecks, run.HaltUntrusted,
		run.HaltStalled, run.HaltReviewLoop, run.HaltAlternation,
	}
}

// NextActions lists the next actions of a run.
func NextActions() []run.NextAction {
	return []run.NextAction{
		run.DispatchWorker, run.DispatchReviewer, run.DispatchFixes, run.RetryWorker, run.RetryWithPreamble,
		run.SpawnFreshReviewer, run.RunChecks, run.AdvanceToNextItem, run.PlanCompleted, run.HaltAndEscalate,
	}
}

// ErrorReasons lists the reasons of a task in ERROR.
func ErrorReasons() []task.ErrorReason {
	return []task.ErrorReason{task.ReasonFailed, task.ReasonTimeout, task.ReasonExhausted, task.ReasonInterrupted}
}

// AttemptStatuses lists the statuses in the order of an attempt's life.
func AttemptStatuses() []task.AttemptStatus {
	return []task.AttemptStatus{
		task.AttemptPending, task.AttemptRunning, task.AttemptCompleted, task.AttemptError, task.AttemptCancelled,
		task.AttemptInterrupted, task.AttemptLost, task.AttemptAwaiting,
	}
}

// RetryModes lists the retry modes of a report.
func RetryModes() []task.RetryMode {
	return []task.RetryMode{task.RetryAuto, task.RetryNever, task.RetrySame}
}

// SessionKinds lists the kinds of session events.
func SessionKinds() []task.SessionKind {
	return []task.SessionKind{task.SessionStarted, task.SessionProgress, task.SessionIdle, task.SessionError, task.SessionDeleted}
}
