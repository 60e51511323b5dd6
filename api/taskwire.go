package api

import (
	"cmp"
	"encoding/json"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

func coreModel(m schema.Model) core.Model {
	return core.Model{Provider: m.ProviderID, ID: m.ModelID, Variant: m.Variant}
}

func wireModel(m core.Model) schema.Model {
	return schema.Model{ProviderID: m.Provider, ModelID: m.ID, Variant: m.Variant}
}

// knownModel is nil for a model that nobody has named.
func knownModel(m core.Model) *schema.Model {
	if m == (core.Model{}) {
		return nil
	}
	w := wireModel(m)
	return &w
}

func wireModelName(m schema.Model) string { return coreModel(m).String() }

// wireTask gives a task as the wire shows it at that moment, with what holds it back.
func wireTask(tx store.Tx, t core.Task, now core.Instant) (schema.Task, error) {
	a := t.Current
	w := schema.Task{
		TaskID: t.ID, Status: string(t.Status()), Reason: t.Reason(), Prompt: t.Launch.Prompt,
		PromptBytes: len(t.Launch.Prompt), RetryContext: verdict.IsRetry(t.Launch.Prompt), Description: t.Launch.Description, Role: t.Launch.Role,
		RunID: t.Launch.RunID, ParentSessionID: t.Launch.Parent, Models: mapped(t.Launch.Chain.Models(), wireModel),
		MaxAttempts: t.Launch.MaxAttempts, Failures: t.Spent.Failures, Labels: wireLabels(t.Launch.Labels),
		CurrentAttemptID: a.ID, AttemptNumber: a.Number, SessionID: a.Session(), Model: knownModel(a.Model),
		Output: t.Output, Question: t.Question, UserReply: t.Reply, Error: wireFailure(a),
		DependsOn: engine.Dependencies(t), CreatedAt: wireTime(t.CreatedAt), UpdatedAt: wireTime(t.UpdatedAt),
		StartedAt: wireTime(a.StartedAt()), CompletedAt: wireTime(a.EndedAt()),
	}
	switch p := t.Phase.(type) {
	case core.TaskQueued:
		if !t.Claimable(now) {
			w.NotBefore = wireTime(p.NotBefore)
		}
	case core.TaskRunning:
		w.CancelRequestedAt = wireTime(p.CancelAt)
	case core.TaskComplete, core.TaskAwaiting, core.TaskErrored, core.TaskCancelled, core.TaskBlocked:
	}
	var err error
	w.WaitingFor, err = waitingFor(tx, t, now)
	return w, err
}

// waitingFor says what holds a queued task back.
func waitingFor(tx store.Tx, t core.Task, now core.Instant) ([]schema.WaitingFor, error) {
	p, queued := t.Phase.(core.TaskQueued)
	if !queued {
		return nil, nil
	}
	holding, err := engine.WaitsFor(tx, t)
	if err != nil {
		return nil, err
	}
	why := mapped(holding, func(on engine.Hold) schema.WaitingFor {
		return schema.WaitingFor{Kind: "depends_on", TaskID: on.TaskID, Status: cmp.Or(string(on.Status), "unreadable")}
	})
	if t.Waits == 0 && !t.Claimable(now) {
		why = append(why, schema.WaitingFor{Kind: "retry_delay", Until: wireTime(p.NotBefore)})
	}
	b, known, err := tx.Breaker(t.Current.Model.Key())
	if known && b.Open(now) {
		why = append(why, schema.WaitingFor{Kind: "provider_cooling", Until: wireTime(b.Frees(now))})
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
		return nil // they were checked when they came in
	}
	return labels
}

func wireFailure(a core.Attempt) *schema.TaskError {
	f := a.Failure()
	silent := f.Message == "" && a.Status() == core.AttemptCancelled // withdrawn without a word
	if f == (core.Failure{}) || silent || a.Status() == core.AttemptCompleted {
		return nil
	}
	return &schema.TaskError{Message: f.Message, Class: string(f.Class), HTTPStatus: f.HTTP, Name: f.Name}
}

func wireAttempt(a core.Attempt) schema.Attempt {
	w := schema.Attempt{
		AttemptID: a.ID, TaskID: a.TaskID, AttemptNumber: a.Number, Cause: string(a.Cause), Status: string(a.Status()),
		Worker: a.Worker(), SessionID: a.Session(), Model: knownModel(a.Model), CreatedAt: wireTime(a.CreatedAt),
		StartedAt: wireTime(a.StartedAt()), CompletedAt: wireTime(a.EndedAt()), StaleEvents: a.Stale,
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

// briefAttempt is an attempt as a list of very many shows it.
func briefAttempt(a core.Attempt) schema.Attempt {
	w := wireAttempt(a)
	w.Error = beginning(w.Error)
	return w
}

// knownAttempt is nil for an attempt that nobody knows.
func knownAttempt(a core.Attempt) *schema.Attempt {
	if a.ID == "" {
		return nil
	}
	w := wireAttempt(a)
	return &w
}

func wireLease(l core.Lease) schema.Lease {
	return schema.Lease{Token: l.Token, Epoch: l.Epoch, ExpiresAt: wireTime(l.ExpiresAt)}
}

func wireClaim(tx *engine.Tx, c engine.Claimed) (*schema.Claim, error) {
	task, err := wireTask(tx, c.Task, tx.Now())
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

func wireReply(r store.Reply) schema.Reply {
	return schema.Reply{Number: r.Number, Reply: r.Text, Question: r.Question, By: r.By, At: wireTime(r.At), AttemptID: r.AttemptID}
}

// wireAwaiting gives a task that waits for a person. A clock that was set back since then does not make
// the wait negative.
func wireAwaiting(t core.Task, now core.Instant) schema.Awaiting {
	since := t.Current.EndedAt()
	question := t.Question
	if question == "" {
		question = t.Output
	}
	return schema.Awaiting{
		TaskID: t.ID, AttemptID: t.Current.ID, Description: beginning(t.Launch.Description), Question: beginning(question),
		OutputExcerpt: ending(t.Output),
		Since:         wireTime(since), WaitingMS: max(0, int64(now-since)/1000), ClockSkew: now < since,
	}
}
