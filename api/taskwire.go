package api

import (
	"cmp"
	"encoding/json"
	"errors"

	"waybill/api/entity"
	"waybill/api/question"
	"waybill/core"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/core/verdict"
	"waybill/engine"
	"waybill/engine/taskview"
	"waybill/schema"
	"waybill/store"
)

func coreModel(m schema.Model) task.Model {
	return task.Model{Provider: m.ProviderID, ID: m.ModelID, Variant: m.Variant}
}

func wireModel(m task.Model) schema.Model {
	return schema.Model{ProviderID: m.Provider, ModelID: m.ID, Variant: m.Variant}
}

// knownModel returns nil for an unnamed model.
func knownModel(m task.Model) *schema.Model {
	if m == (task.Model{}) {
		return nil
	}
	return new(wireModel(m))
}

func wireModelName(m schema.Model) string { return coreModel(m).String() }

// wireTask returns a task as the wire shows it at that time, with its holds.
func wireTask(tx store.Tx, t task.Task, now core.Instant) (schema.Task, error) {
	a := t.Current
	w := schema.Task{
		TaskID: t.ID, Status: string(t.Status()), Reason: t.Reason(), Prompt: t.Spec.Prompt,
		PromptBytes: len(t.Spec.Prompt), RetryContext: verdict.IsRetry(t.Spec.Prompt), Description: t.Spec.Description, Role: t.Spec.Role,
		RunID: t.Spec.RunID, ParentSessionID: t.Spec.Parent, Models: entity.All(t.Spec.Chain.Models(), wireModel),
		MaxAttempts: t.Spec.MaxAttempts, Failures: t.Spent.Failures, Labels: wireLabels(t.Spec.Labels),
		CurrentAttemptID: a.ID, AttemptNumber: a.Number, SessionID: a.Session(), Model: knownModel(a.Model),
		Output: t.Output, Question: t.Question, UserReply: t.Reply, Offered: question.Offered(t), UserOption: t.Choice.Option, UserByTime: t.Choice.ByTime, Error: wireFailure(a),
		DependsOn: taskview.Dependencies(t), CreatedAt: entity.Time(t.CreatedAt), UpdatedAt: entity.Time(t.UpdatedAt),
		StartedAt: entity.Time(a.StartedAt()), CompletedAt: entity.Time(a.EndedAt()),
	}
	switch p := t.Phase.(type) {
	case task.Queued:
		if !t.Claimable(now) {
			w.NotBefore = entity.Time(p.NotBefore)
		}
	case task.Running:
		w.CancelRequestedAt = entity.Time(p.CancelAt)
	case task.Complete, task.Awaiting, task.Errored, task.Cancelled, task.Blocked:
	}
	var err error
	if w.Proof, err = proofOf(tx, t.Spec.RunID); err == nil {
		w.WaitingFor, err = waitingFor(tx, t, now)
	}
	return w, err
}

// proofOf returns the proofState of a run, and "" for a damaged one.
func proofOf(tx store.RunRecords, runID string) (string, error) {
	if runID == "" {
		return "", nil
	}
	r, _, err := tx.Run(runID)
	if damage, ok := errors.AsType[*store.Error](err); ok && damage.Kind == store.Corrupt {
		r, err = run.Run{}, nil
	}
	return proofState(r), err
}

// proofState returns how much is proven of a run, and "" without required checks.
func proofState(r run.Run) string {
	if r.Proof.Required == "" {
		return ""
	}
	return r.Proof.State().String()
}

// waitingFor returns the reasons why a queued task waits.
func waitingFor(tx store.Tx, t task.Task, now core.Instant) ([]schema.WaitingFor, error) {
	p, queued := t.Phase.(task.Queued)
	if !queued {
		return nil, nil
	}
	holding, err := taskview.WaitsFor(tx, t)
	if err != nil {
		return nil, err
	}
	why := entity.All(holding, func(on taskview.Hold) schema.WaitingFor {
		return schema.WaitingFor{Kind: "depends_on", TaskID: on.TaskID, Status: cmp.Or(string(on.Status), "unreadable")}
	})
	if t.Waits == 0 && !t.Claimable(now) {
		why = append(why, schema.WaitingFor{Kind: "retry_delay", Until: entity.Time(p.NotBefore)})
	}
	b, known, err := tx.Breaker(t.Current.Model.Key())
	if known && b.Open(now) {
		why = append(why, schema.WaitingFor{Kind: "provider_cooling", Until: entity.Time(b.HalfOpenAt(now))})
	}
	if len(why) == 0 {
		return nil, err
	}
	return why, err
}

func wireLabels(text string) map[string]string {
	if text == "" {
		return nil
	}
	var labels map[string]string
	if err := json.Unmarshal([]byte(text), &labels); err != nil {
		return nil // labels are checked on input
	}
	return labels
}

func wireFailure(a task.Attempt) *schema.TaskError {
	f := a.Failure()
	silent := f.Message == "" && a.Status() == task.AttemptCancelled // cancelled without a reason
	if f == (task.Failure{}) || silent || a.Status() == task.AttemptCompleted {
		return nil
	}
	return &schema.TaskError{Message: f.Message, Class: string(f.Class), HTTPStatus: f.HTTP, Name: f.Name}
}

func wireAttempt(a task.Attempt) schema.Attempt {
	w := schema.Attempt{
		AttemptID: a.ID, TaskID: a.TaskID, AttemptNumber: a.Number, Cause: string(a.Cause), Status: string(a.Status()),
		Worker: a.Worker(), SessionID: a.Session(), Model: knownModel(a.Model), CreatedAt: entity.Time(a.CreatedAt),
		StartedAt: entity.Time(a.StartedAt()), CompletedAt: entity.Time(a.EndedAt()), StaleEvents: a.Stale,
	}
	if f := wireFailure(a); f != nil {
		w.Error, w.ErrorClass = f.Message, f.Class
	}
	if a.Finished() && a.StartedAt() != 0 {
		took := max(0, int64(a.EndedAt()-a.StartedAt())/1000)
		w.DurationMS, w.ClockSkew = &took, a.ClockSkew()
	}
	return w
}

// briefAttempt returns an attempt as a long list shows it.
func briefAttempt(a task.Attempt) schema.Attempt {
	w := wireAttempt(a)
	w.Error = entity.Beginning(w.Error)
	return w
}

// knownAttempt returns nil for an unknown attempt.
func knownAttempt(a task.Attempt) *schema.Attempt {
	if a.ID == "" {
		return nil
	}
	w := wireAttempt(a)
	return &w
}

func wireLease(l task.Lease) schema.Lease {
	return schema.Lease{Token: l.Token, Epoch: l.Epoch, ExpiresAt: entity.Time(l.ExpiresAt)}
}

func wireClaim(tx *engine.Tx, c engine.Claimed) (*schema.Claim, error) {
	task, err := wireTask(tx.Tx, c.Task, tx.Now())
	return &schema.Claim{
		Task: task, Attempt: wireAttempt(c.Task.Current), Lease: wireLease(c.Lease), Prompt: c.Prompt,
		Continuation: c.Task.Continues(),
	}, err
}

func wireRetry(r engine.Reported) *schema.Retry {
	if r.Next == nil {
		return nil
	}
	return &schema.Retry{
		Attempt: wireAttempt(*r.Next), Model: knownModel(r.Next.Model), Class: string(r.Attempt.Failure().Class),
	}
}
