package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"waybill/core"
	"waybill/engine"
	"waybill/schema"
)

func (s *Service) claimTask(_ context.Context, p *schema.ClaimTaskParams) (*work[schema.ClaimTaskResult], error) {
	claim := engine.Claim{
		Worker: p.Worker, RunID: p.RunID, Role: wireRole(p.Role), Length: micros(or(p.LeaseMS, 60_000)),
	}
	var last engine.Claimed // of the last run; read only after the commit
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
	if w.key == "" { // with a key, the host can ask for this very answer again
		w.undelivered = func() { giveBack(w.engine, last) }
	}
	return w, nil
}

// giveBack undoes a claim of which the host never learned, as takeBack does with sends. If even this
// fails, the lease runs out.
func giveBack(e *engine.Engine, claimed engine.Claimed) {
	if claimed.Empty() {
		return
	}
	e.Submit(context.Background(), engine.Change{Finishes: true, Apply: func(tx *engine.Tx) (any, error) {
		return nil, tx.ReturnClaim(claimed)
	}}, func(any, error) {})
}

// micros gives milliseconds in the unit of core.
func micros(ms int) int64 { return int64(ms) * 1000 }

func (s *Service) bindSession(_ context.Context, p *schema.BindSessionParams) (*work[schema.AttemptReport], error) {
	model, err := oneModel(p.Model)
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

func (s *Service) heartbeat(_ context.Context, p *schema.HeartbeatParams) (*work[schema.HeartbeatResult], error) {
	said := engine.Progress{}
	if p.Progress != nil {
		said = engine.Progress{Message: p.Progress.Message, Percent: p.Progress.Percent}
	}
	if err := within("/progress/message", len(said.Message), schema.MaxReplyBytes); err != nil {
		return nil, err
	}
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.HeartbeatResult, error) {
		r, err := tx.Heartbeat(p.TaskID, p.LeaseToken, micros(or(p.LeaseMS, 0)), said)
		if err != nil {
			return nil, err
		}
		result := &schema.HeartbeatResult{Applied: r.Applied, Reason: r.Reason}
		if running, ok := r.Attempt.Phase.(core.Running); ok && r.Applied {
			lease := wireLease(running.Lease)
			result.Lease = &lease
		}
		if phase, running := r.Task.Phase.(core.TaskRunning); running && r.Applied {
			result.CancelRequested = phase.CancelAt != 0
		}
		result.Seq, err = tx.Seq()
		return result, err
	}))
}

func (s *Service) finishAttempt(_ context.Context, p *schema.FinishAttemptParams) (*work[schema.FinishAttemptResult], error) {
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
		if result.Task, err = wireTask(tx, r.Task, tx.Now()); err != nil {
			return nil, err
		}
		result.Seq, err = tx.Seq()
		return result, err
	}))
}

func newReport(p *schema.FinishAttemptParams) (core.FinishAttempt, error) {
	report := core.FinishAttempt{
		Token: p.LeaseToken, Status: core.AttemptStatus(p.Status), Output: p.Output, Question: p.Question, Mode: core.RetryAuto,
	}
	if p.Retry != "" {
		report.Mode = core.RetryMode(p.Retry)
	}
	if p.Error != nil {
		report.Failure = core.Failure{
			Class: core.Class(p.Error.Class), Name: p.Error.Name, HTTP: p.Error.HTTPStatus, Message: p.Error.Message,
		}
	}
	if report.Status == core.AttemptError {
		report.Failure = core.Classify(report.Failure)
	}
	if report.Status == core.AttemptAwaiting && strings.TrimSpace(p.Question+p.Output) == "" {
		return report, badParam("/question", "what the person is asked, when status is awaiting_response", p.Question)
	}
	return report, errors.Join(
		within("/output", len(p.Output), schema.MaxContentBytes),
		within("/question", len(p.Question), schema.MaxReplyBytes),
		within("/error", len(report.Failure.Message)+len(report.Failure.Name), schema.MaxReplyBytes),
	)
}

func (s *Service) reportSessionEvent(_ context.Context, p *schema.SessionEventParams) (*work[schema.SessionEventResult], error) {
	if err := errors.Join(
		within("/data", len(p.Data), schema.MaxReplyBytes), within("/message", len(p.Message), schema.MaxReplyBytes),
	); err != nil {
		return nil, err
	}
	event := core.HearSession{Session: p.SessionID, Kind: core.SessionKind(p.Type)}
	if event.Kind == core.SessionError {
		var err error
		if event.Failure, err = sessionFailure(p); err != nil {
			return nil, err
		}
	}
	said := engine.Progress{Message: cmp.Or(p.Message, event.Failure.Message)}
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.SessionEventResult, error) {
		r, err := tx.HearSession(event, said)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.SessionEventResult{
			Applied: r.Applied, Reason: r.Reason, TaskID: r.Task.ID, AttemptID: r.Attempt.ID, Seq: seq,
		}, err
	}))
}

// sessionFailure reads what a session's error says of itself. Members that have nothing to do with it
// are the host's own.
func sessionFailure(p *schema.SessionEventParams) (core.Failure, error) {
	var data struct {
		Class   string `json:"class"`
		HTTP    int    `json:"http_status"`
		Name    string `json:"name"`
		Message string `json:"message"`
	}
	if len(p.Data) > 0 {
		if err := json.Unmarshal(p.Data, &data); err != nil {
			return core.Failure{}, badParam("/data", "an object whose class, name and message are strings and whose http_status is a number", string(p.Data))
		}
	}
	known := data.Class == ""
	for _, class := range core.Classes() {
		known = known || string(class) == data.Class
	}
	if !known {
		return core.Failure{}, badParam("/data/class", "transient, provider, terminal or user", data.Class)
	}
	if p.Message != "" {
		data.Message = p.Message
	}
	return core.ClassifySession(core.Failure{Class: core.Class(data.Class), Name: data.Name, HTTP: data.HTTP, Message: data.Message}), nil
}
