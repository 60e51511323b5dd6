package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
		t, before, err := tx.ReplyToTask(p.TaskID, core.ReplyToTask{Text: p.Reply, AttemptID: p.AttemptID}, p.By)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.ReplyResult{
			Success: true, TaskID: t.ID, OldStatus: string(before), NewStatus: string(t.Status()), Seq: seq,
		}, err
	})
}
