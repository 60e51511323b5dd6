package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"waybill/api/entity"
	"waybill/core"
	"waybill/core/task"
	"waybill/engine"
	"waybill/schema"
	"waybill/schema/codec"
)

func (s *Service) createTask(ctx context.Context, p *schema.CreateTaskParams) (*prepared[schema.TaskResult], error) {
	spec, err := newSpec(p)
	if err != nil {
		return nil, err
	}
	var fault error
	if spec.RunID != "" && spec.Chain.Len() == 0 {
		spec.Chain, fault = directedChain(ctx, s, spec.RunID)
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.TaskResult, error) {
		if fault != nil {
			return nil, fault // not earlier, so that a repeated call with the same key gets its first answer
		}
		t, err := tx.CreateTask(spec, p.DependsOn)
		if err != nil {
			return nil, err
		}
		return taskResult(tx, t)
	})
}

// directedChain returns the model that the plan names at the item of a run. A name without a provider is left to the
// host.
func directedChain(ctx context.Context, s *Service, run string) (task.Chain, error) {
	e, _, err := s.backend()
	if err != nil {
		return task.Chain{}, err
	}
	view, err := e.Look(ctx, run)
	if err != nil || view.Progress.CurrentItem == nil {
		return task.Chain{}, err
	}
	provider, id, _ := strings.Cut(view.Progress.CurrentItem.Directives().Model, "/")
	if provider == "" || id == "" {
		return task.Chain{}, nil
	}
	return task.NewChain([]task.Model{{Provider: provider, ID: id}})
}

func taskResult(tx *engine.Tx, t task.Task) (*schema.TaskResult, error) {
	w, err := wireTask(tx.Tx, t, tx.Now())
	if err != nil {
		return nil, err
	}
	seq, err := tx.Seq()
	return &schema.TaskResult{Task: w, Seq: seq}, err
}

func newSpec(p *schema.CreateTaskParams) (task.Spec, error) {
	if err := taskSizes(p); err != nil {
		return task.Spec{}, err
	}
	chain, err := task.NewChain(entity.All(p.Models, coreModel))
	if fault, ok := errors.AsType[*task.ChainError](err); ok {
		pointer := strings.TrimSuffix(fmt.Sprintf("/models/%d/%s", fault.Index, fault.Field), "/")
		return task.Spec{}, problem(pointer, fault.Error(), "a model that no earlier entry names", wireModelName(p.Models[fault.Index]))
	}
	spec := task.Spec{
		Prompt: p.Prompt, Description: p.Description, RunID: p.RunID, Role: wireRole(p.Role), Parent: p.ParentSessionID,
		Chain: chain, MaxAttempts: or(p.MaxAttempts, max(1, len(p.Models))),
	}
	if len(p.Labels) > 0 {
		labels, err := codec.Encode(p.Labels)
		if err != nil {
			return spec, err
		}
		spec.Labels = string(labels)
	}
	return spec, nil
}

// maxModels and maxDependencies bound the lists of a task.
const (
	maxModels       = 100
	maxDependencies = 500
)

// oneModel returns the optional model at a pointer. nil is the zero Model; an incomplete model is refused.
func oneModel(at string, m *schema.Model) (task.Model, error) {
	if m == nil {
		return task.Model{}, nil
	}
	if err := within(at, len(m.ProviderID)+len(m.ModelID)+len(m.Variant), schema.MaxReplyBytes); err != nil {
		return task.Model{}, err
	}
	_, err := task.NewChain([]task.Model{coreModel(*m)})
	if fault, ok := errors.AsType[*task.ChainError](err); ok {
		return task.Model{}, problem(at+"/"+fault.Field, at+"/"+fault.Field+" is empty", "a name", wireModelName(*m))
	}
	return coreModel(*m), err
}

// taskSizes refuses a task with a field that is too large.
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

// wireRole returns the canonical name of a role.
func wireRole(name string) string {
	if role, ok := core.ParseRole(name); ok {
		return role.String()
	}
	return name
}

func (s *Service) retryTask(_ context.Context, p *schema.RetryTaskParams) (*prepared[schema.RetryTaskResult], error) {
	model, err := oneModel("/model", p.Model)
	if err != nil {
		return nil, err
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.RetryTaskResult, error) {
		t, err := tx.RetryTask(p.TaskID, model)
		if err != nil {
			return nil, err
		}
		w, err := wireTask(tx.Tx, t, tx.Now())
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.RetryTaskResult{Task: w, Attempt: wireAttempt(t.Current), Seq: seq}, err
	})
}

func (s *Service) cancelTask(_ context.Context, p *schema.CancelTaskParams) (*prepared[schema.TaskResult], error) {
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

func (s *Service) askUser(_ context.Context, p *schema.AskUserParams) (*prepared[schema.TaskResult], error) {
	offer, err := newOffer(p.Offering)
	if err = errors.Join(err, within("/question", len(p.Question), schema.MaxReplyBytes), within("/description", len(p.Description), schema.MaxReplyBytes)); err != nil {
		return nil, err
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.TaskResult, error) {
		t, err := engine.AskPerson(tx, p.SessionID, p.Description, task.Finish{Question: p.Question, Offer: offer})
		if err != nil {
			return nil, err
		}
		return taskResult(tx, t)
	})
}

func (s *Service) reply(_ context.Context, p *schema.ReplyParams) (*prepared[schema.ReplyResult], error) {
	if err := errors.Join(
		within("/reply", len(p.Reply), schema.MaxReplyBytes), within("/option", len(p.Option), schema.MaxReplyBytes), within("/by", len(p.By), schema.MaxReplyBytes),
	); err != nil {
		return nil, err
	}
	if strings.TrimSpace(p.Reply) == "" && p.Option == "" {
		return nil, problem("/reply", "/reply is missing: give the answer, or as option the label of one of the options", "the answer", "nothing")
	}
	return prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.ReplyResult, error) {
		t, before, err := tx.ReplyToTask(p.TaskID, task.Reply{Text: p.Reply, Option: p.Option, AttemptID: p.AttemptID}, p.By, p.SessionID)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.ReplyResult{
			Success: true, TaskID: t.ID, OldStatus: string(before), NewStatus: string(t.Status()), Seq: seq,
		}, err
	})
}
