package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"waybill/core"
	"waybill/engine"
	"waybill/schema"
)

func (s *Service) createTask(_ context.Context, p *schema.CreateTaskParams) (*work[schema.TaskResult], error) {
	launch, err := newLaunch(p)
	if err != nil {
		return nil, err
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.TaskResult, error) {
		t, err := tx.CreateTask(launch, p.DependsOn)
		if err != nil {
			return nil, err
		}
		return taskResult(tx, t)
	})
}

func taskResult(tx *engine.Tx, t core.Task) (*schema.TaskResult, error) {
	w, err := wireTask(tx, t, tx.Now())
	if err != nil {
		return nil, err
	}
	seq, err := tx.Seq()
	return &schema.TaskResult{Task: w, Seq: seq}, err
}

func newLaunch(p *schema.CreateTaskParams) (core.Launch, error) {
	if err := taskSizes(p); err != nil {
		return core.Launch{}, err
	}
	chain, err := core.NewChain(mapped(p.Models, coreModel))
	if fault, ok := errors.AsType[*core.ChainError](err); ok {
		pointer := strings.TrimSuffix(fmt.Sprintf("/models/%d/%s", fault.Index, fault.Field), "/")
		return core.Launch{}, problem(pointer, fault.Error(), "a model that no earlier entry names", wireModelName(p.Models[fault.Index]))
	}
	launch := core.Launch{
		Prompt: p.Prompt, Description: p.Description, RunID: p.RunID, Role: wireRole(p.Role), Parent: p.ParentSessionID,
		Chain: chain, MaxAttempts: or(p.MaxAttempts, max(1, len(p.Models))),
	}
	if len(p.Labels) > 0 {
		labels, err := schema.Encode(p.Labels)
		if err != nil {
			return launch, err
		}
		launch.Labels = string(labels)
	}
	return launch, nil
}

// maxModels and maxDependencies bound the lists of a task.
const (
	maxModels       = 100
	maxDependencies = 500
)

// oneModel reads the model of a call that may name one. Absent is the zero Model; half of one is refused.
func oneModel(m *schema.Model) (core.Model, error) {
	if m == nil {
		return core.Model{}, nil
	}
	if err := within("/model", len(m.ProviderID)+len(m.ModelID)+len(m.Variant), schema.MaxReplyBytes); err != nil {
		return core.Model{}, err
	}
	_, err := core.NewChain([]core.Model{coreModel(*m)})
	if fault, ok := errors.AsType[*core.ChainError](err); ok {
		return core.Model{}, problem("/model/"+fault.Field, "/model/"+fault.Field+" is empty", "a name", wireModelName(*m))
	}
	return coreModel(*m), err
}

// taskSizes refuses a task of which a part is too large.
func taskSizes(p *schema.CreateTaskParams) error {
	labels := 0
	for k, v := range p.Labels {
		labels += len(k) + len(v)
	}
	names := 0
	for _, m := range p.Models {
		names += len(m.ProviderID) + len(m.ModelID) + len(m.Variant)
	}
	if len(p.Models) > maxModels {
		return badParam("/models", fmt.Sprintf("a list of at most %d models", maxModels), len(p.Models))
	}
	if len(p.DependsOn) > maxDependencies {
		return badParam("/depends_on", fmt.Sprintf("a list of at most %d ids", maxDependencies), len(p.DependsOn))
	}
	return errors.Join(
		within("/prompt", len(p.Prompt), schema.MaxContentBytes),
		within("/description", len(p.Description), schema.MaxReplyBytes),
		within("/labels", labels, schema.MaxReplyBytes),
		within("/models", names, schema.MaxReplyBytes),
	)
}

// wireRole gives the name under which a role is known, whichever of its names was said.
func wireRole(name string) string {
	if role, ok := core.ParseRole(name); ok {
		return role.String()
	}
	return name
}

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

func (s *Service) retryTask(_ context.Context, p *schema.RetryTaskParams) (*work[schema.RetryTaskResult], error) {
	model, err := oneModel(p.Model)
	if err != nil {
		return nil, err
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.RetryTaskResult, error) {
		t, err := tx.RetryTask(p.TaskID, model)
		if err != nil {
			return nil, err
		}
		w, err := wireTask(tx, t, tx.Now())
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.RetryTaskResult{Task: w, Attempt: wireAttempt(t.Current), Seq: seq}, err
	})
}

func (s *Service) cancelTask(_ context.Context, p *schema.CancelTaskParams) (*work[schema.TaskResult], error) {
	if err := within("/reason", len(p.Reason), schema.MaxReplyBytes); err != nil {
		return nil, err
	}
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.TaskResult, error) {
		t, err := tx.CancelTask(p.TaskID, p.Reason)
		if err != nil {
			return nil, err
		}
		return taskResult(tx, t)
	}))
}

func (s *Service) reply(_ context.Context, p *schema.ReplyParams) (*work[schema.ReplyResult], error) {
	if err := errors.Join(
		within("/reply", len(p.Reply), schema.MaxReplyBytes), within("/by", len(p.By), schema.MaxReplyBytes),
	); err != nil {
		return nil, err
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.ReplyResult, error) {
		t, before, err := tx.ReplyToTask(p.TaskID, p.Reply, p.By)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.ReplyResult{
			Success: true, TaskID: t.ID, OldStatus: string(before), NewStatus: string(t.Status()), Seq: seq,
		}, err
	})
}
