package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"waybill/api/question"
	"waybill/core"
	"waybill/core/task"
	"waybill/engine"
	"waybill/schema"
)

func (s *Service) claimTask(_ context.Context, p *schema.ClaimTaskParams) (*prepared[schema.ClaimTaskResult], error) {
	claim := engine.Claim{
		Worker: p.Worker, RunID: p.RunID, Role: wireRole(p.Role), Length: micros(or(p.LeaseMS, 60_000)),
	}
	var last engine.Claimed // set by the last run of the change; read after the commit
	w, err := prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.ClaimTaskResult, error) {
		claimed, err := tx.ClaimTask(claim)
		if err != nil {
			return nil, err
		}
		last = claimed
		result := &schema.ClaimTaskResult{}
		if !claimed.Empty() {
			if result.Claim, err = wireClaim(tx, claimed); err != nil {
				return nil, err
			}
		}
		result.Seq, err = tx.Seq()
		return result, err
	})
	if err != nil {
		return nil, err
	}
	w.change.Session, w.change.Wait = engine.Claimers, time.Duration(p.WaitMS)*time.Millisecond
	w.change.Idle = func(any) bool { return last.Empty() }
	w.change.Due = func(any) core.Instant { return last.Due }
	if w.key == "" { // with a key, the host can repeat the call to get this answer
		w.undelivered = func() { undoClaim(w.engine, last) }
	}
	return w, nil
}

// undoClaim undoes a claim whose answer did not reach the host. If that fails, the lease expires.
func undoClaim(e *engine.Engine, claimed engine.Claimed) {
	if claimed.Empty() {
		return
	}
	e.Submit(context.Background(), engine.Change{Finishes: true, Apply: func(tx *engine.Tx) (any, error) {
		return nil, tx.ReturnClaim(claimed)
	}}, func(any, error) {})
}

// micros converts milliseconds to microseconds.
func micros(ms int) int64 { return int64(ms) * 1000 }

func (s *Service) bindSession(_ context.Context, p *schema.BindSessionParams) (*prepared[schema.AttemptReport], error) {
	model, err := oneModel("/model", p.Model)
	if err != nil {
		return nil, err
	}
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.AttemptReport, error) {
		r, err := tx.BindSession(p.TaskID, p.AttemptID, p.LeaseToken, p.SessionID, model)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.AttemptReport{Applied: r.Applied, Reason: r.Reason, Attempt: knownAttempt(r.Attempt), Seq: seq}, err
	}))
}

func (s *Service) heartbeat(_ context.Context, p *schema.HeartbeatParams) (*prepared[schema.HeartbeatResult], error) {
	progress := engine.Progress{}
	if p.Progress != nil {
		progress = engine.Progress{Message: p.Progress.Message, Percent: p.Progress.Percent}
	}
	if err := within("/progress/message", len(progress.Message), schema.MaxReplyBytes); err != nil {
		return nil, err
	}
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.HeartbeatResult, error) {
		r, err := tx.Heartbeat(p.TaskID, p.LeaseToken, micros(or(p.LeaseMS, 0)), progress)
		if err != nil {
			return nil, err
		}
		result := &schema.HeartbeatResult{Applied: r.Applied, Reason: r.Reason}
		if running, ok := r.Attempt.Phase.(task.RunningAttempt); ok && r.Applied {
			lease := wireLease(running.Lease)
			result.Lease = &lease
		}
		if phase, running := r.Task.Phase.(task.Running); running && r.Applied {
			result.CancelRequested = phase.CancelAt != 0
		}
		result.Seq, err = tx.Seq()
		return result, err
	}))
}

func (s *Service) finishAttempt(_ context.Context, p *schema.FinishAttemptParams) (*prepared[schema.FinishAttemptResult], error) {
	report, err := newReport(p)
	if err != nil {
		return nil, err
	}
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.FinishAttemptResult, error) {
		r, err := tx.FinishAttempt(p.TaskID, report)
		if err != nil {
			return nil, err
		}
		result := &schema.FinishAttemptResult{
			Applied: r.Applied, Reason: r.Reason, Attempt: knownAttempt(r.Attempt), Retry: wireRetry(r),
		}
		if result.Task, err = wireTask(tx.Tx, r.Task, tx.Now()); err != nil {
			return nil, err
		}
		result.Seq, err = tx.Seq()
		return result, err
	}))
}

func newReport(p *schema.FinishAttemptParams) (task.Finish, error) {
	report := task.Finish{
		Token: p.LeaseToken, Status: task.AttemptStatus(p.Status), Output: p.Output, Question: p.Question, Mode: task.RetryAuto,
	}
	if p.Retry != "" {
		report.Mode = task.RetryMode(p.Retry)
	}
	if p.Error != nil {
		report.Failure = task.Failure{
			Class: task.Class(p.Error.Class), Name: p.Error.Name, HTTP: p.Error.HTTPStatus, Message: p.Error.Message,
		}
	}
	if report.Status == task.AttemptError {
		report.Failure = task.Classify(report.Failure)
	}
	var err error
	if report.NextModel, err = nextModel(p); err != nil {
		return report, err
	}
	if report.Offer, err = newOffer(p.Offering); err != nil {
		return report, err
	}
	if report.Offer != (task.Offer{}) && report.Status != task.AttemptAwaiting {
		return report, problem("/options", "/options needs status awaiting_response, not "+p.Status, "nothing", p.Options[0].Label)
	}
	if report.Status == task.AttemptAwaiting && strings.TrimSpace(p.Question+p.Output) == "" {
		return report, badParam("/question", "the question for the person when status is awaiting_response", p.Question)
	}
	return report, errors.Join(
		within("/output", len(p.Output), schema.MaxContentBytes),
		within("/question", len(p.Question), schema.MaxReplyBytes),
		within("/error", len(report.Failure.Message)+len(report.Failure.Name), schema.MaxReplyBytes),
	)
}

// newOffer returns what a question offers.
func newOffer(o schema.Offering) (task.Offer, error) {
	offer, err := question.Offer(o)
	if fault, ok := errors.AsType[*task.OfferError](err); ok {
		return offer, problem(fault.Pointer, fault.Error(), fault.Message, fmt.Sprintf("%#v", fault.Found))
	}
	return offer, err
}

// nextModel returns the model that a host tries next. It requires the status error and excludes another retry mode.
func nextModel(p *schema.FinishAttemptParams) (task.Model, error) {
	if p.NextModel == nil {
		return task.Model{}, nil
	}
	found := wireModelName(*p.NextModel)
	switch {
	case p.Status != string(task.AttemptError):
		return task.Model{}, problem("/next_model", "/next_model needs status error, not "+p.Status, "nothing", found)
	case p.Retry != "" && p.Retry != string(task.RetryAuto):
		return task.Model{}, problem("/next_model", "/next_model and retry "+p.Retry+" contradict each other; omit one of them", "nothing", found)
	}
	return oneModel("/next_model", p.NextModel)
}

func (s *Service) reportSessionEvent(_ context.Context, p *schema.SessionEventParams) (*prepared[schema.SessionEventResult], error) {
	if err := errors.Join(
		within("/data", len(p.Data), schema.MaxReplyBytes), within("/message", len(p.Message), schema.MaxReplyBytes),
	); err != nil {
		return nil, err
	}
	event, err := sessionEvent(p)
	if err != nil {
		return nil, err
	}
	progress := engine.Progress{Message: cmp.Or(p.Message, event.Failure.Message)}
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.SessionEventResult, error) {
		r, err := tx.ReportSession(event, progress)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.SessionEventResult{
			Applied: r.Applied, Reason: r.Reason, TaskID: r.Task.ID, AttemptID: r.Attempt.ID, Seq: seq,
		}, err
	}))
}
