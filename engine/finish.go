package engine

import (
	"fmt"
	"strings"

	"waybill/core/run"
	"waybill/core/task"
	"waybill/core/verdict"
	"waybill/internal/safetext"
)

// finishWith finishes the attempt whose result this is. Applied is false if the reporter no longer owns the attempt.
func (tx *Tx) finishWith(r Result, run run.Run) (Reported, error) {
	a, known, err := tx.AttemptUnder(r.Token)
	if err != nil {
		return Reported{}, err
	}
	if !known {
		return Reported{Reason: ReasonStale}, nil
	}
	if r.AttemptID != "" && a.ID != r.AttemptID || r.TaskID != "" && r.TaskID != run.ItemID && r.TaskID != a.TaskID {
		return Reported{}, wrongOwner("/lease_token", "attempt", a.ID, "the owner of this lease, but the call names another one")
	}
	t, err := tx.task(a.TaskID)
	if err != nil {
		return Reported{}, err
	}
	if t.Spec.RunID != run.ID {
		return Reported{}, wrongOwner("/lease_token", "task", t.ID, "not of run "+run.ID)
	}
	if err := checkRole(t, r.Role); err != nil {
		return Reported{}, err
	}
	tx.judged = a.ID
	reported, err := tx.FinishAttempt(t.ID, finishReport(r))
	tx.judged = ""
	return reported, err
}

// finishReport returns the report that ends the attempt of a result. A bad result ends the attempt as an error
// without retry, because the run decides what is tried next. Tasks that depend on it therefore stay queued.
func finishReport(r Result) task.Finish {
	report := task.Finish{Token: r.Token, Status: task.AttemptCompleted, Output: truncateOutput(r.Output)}
	v := r.Judgement.Verdict
	if v == verdict.Pass || v == verdict.Gaps && r.Role.Reviewer() {
		return report
	}
	report.Status, report.Mode = task.AttemptError, task.RetryNever
	report.Failure = task.Failure{Class: task.ClassTerminal, Name: "result_" + string(v), Message: summaryOf(r.Judgement)}
	return report
}

// summaryOf returns one line that says why a result is not good.
func summaryOf(j verdict.Judgement) string {
	if len(j.Errors) > 0 {
		return fmt.Sprintf("the result is invalid: %s", safetext.OneLine(j.Errors[0].Message, maxQuoted))
	}
	for _, issue := range j.Result.Issues {
		return safetext.OneLine(issue.Message, maxQuoted)
	}
	return safetext.OneLine(firstOf(j.Result.Summary, j.Result.Body, "the result says "+j.Result.Status), maxQuoted)
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// maxKeptOutput bounds the output that is stored with an attempt, as finish_attempt does. The first keptHead bytes
// hold v2 headers, and the end holds a result block.
const (
	maxKeptOutput = 1 << 20
	keptHead      = 64 << 10
)

func truncateOutput(output string) string {
	if len(output) <= maxKeptOutput {
		return output
	}
	cut := fmt.Sprintf("\n[%d bytes of this output were not kept]\n", len(output)-maxKeptOutput)
	tail := maxKeptOutput - keptHead - len(cut)
	return strings.ToValidUTF8(output[:keptHead], "") + cut + strings.ToValidUTF8(output[len(output)-tail:], "")
}
