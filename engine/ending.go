package engine

import (
	"fmt"
	"strings"

	"waybill/core"
	"waybill/core/verdict"
)

// How an attempt ends that gave a result.

// finishWith finishes the attempt that gave a result. It is not applied if the attempt is not the reporter's
// any more.
func (tx *Tx) finishWith(r Result, run core.Run) (Reported, error) {
	a, known, err := tx.AttemptUnder(r.Token)
	if err != nil {
		return Reported{}, err
	}
	if !known {
		return Reported{Reason: ReasonStale}, nil
	}
	if r.AttemptID != "" && a.ID != r.AttemptID || r.TaskID != "" && r.TaskID != run.ItemID && r.TaskID != a.TaskID {
		return Reported{}, foreign("/lease_token", "attempt", a.ID, "the one that has this lease, and another one is named")
	}
	t, err := tx.task(a.TaskID)
	if err != nil {
		return Reported{}, err
	}
	if t.Launch.RunID != run.ID {
		return Reported{}, foreign("/lease_token", "task", t.ID, "not of run "+run.ID)
	}
	if err := suits(t, r.Role); err != nil {
		return Reported{}, err
	}
	tx.judged = a.ID
	reported, err := tx.FinishAttempt(t.ID, ending(r))
	tx.judged = ""
	return reported, err
}

// ending is the report with which an attempt ends that gave this result. What is no good result of its
// role ends it as an error that is not tried again by the queue, because the run decides what is tried
// next; so nothing that depends on the task begins on the strength of it.
func ending(r Result) core.FinishAttempt {
	report := core.FinishAttempt{Token: r.Token, Status: core.AttemptCompleted, Output: kept(r.Output)}
	v := r.Judgement.Verdict
	if v == verdict.Pass || v == verdict.Gaps && r.Role.Reviewer() {
		return report
	}
	report.Status, report.Mode = core.AttemptError, core.RetryNever
	report.Failure = core.Failure{Class: core.ClassTerminal, Name: "result_" + string(v), Message: summaryOf(r.Judgement)}
	return report
}

// summaryOf says in one line what a result says that is no good one.
func summaryOf(j verdict.Judgement) string {
	if len(j.Errors) > 0 {
		return fmt.Sprintf("the result is invalid: %s", core.Line(j.Errors[0].Message, quoted))
	}
	for _, issue := range j.Result.Issues {
		return core.Line(issue.Message, quoted)
	}
	return core.Line(firstOf(j.Result.Summary, j.Result.Body, "the result says "+j.Result.Status), quoted)
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// maxKept bounds the output that is kept with an attempt; it is what finish_attempt takes, too. headKept of
// it is the beginning, where v2 headers stand, and the rest the end, where a result block does.
const (
	maxKept  = 1 << 20
	headKept = 64 << 10
)

func kept(output string) string {
	if len(output) <= maxKept {
		return output
	}
	cut := fmt.Sprintf("\n[%d bytes of this output were not kept]\n", len(output)-maxKept)
	tail := maxKept - headKept - len(cut)
	return strings.ToValidUTF8(output[:headKept], "") + cut + strings.ToValidUTF8(output[len(output)-tail:], "")
}
