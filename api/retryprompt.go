package api

import (
	"cmp"

	"waybill/core"
	"waybill/core/run"
	"waybill/core/verdict"
	"waybill/engine"
	"waybill/ledger"
	"waybill/prompt"
	"waybill/schema"
)

// promptInputs are the inputs of a run's prompts by Role-1. They are collected before the transaction of a change,
// because files are read for them.
type promptInputs [core.Roles]prompt.CompileInput

// promptInputs collects the inputs from a view of the run. They are empty if the item is gone.
func (s *Service) promptInputs(plans *engine.Plans, view engine.RunView) (d promptInputs) {
	if view.Gone != nil {
		return d
	}
	for i := range d {
		role, p := core.Role(i+1), &schema.CompilePromptParams{}
		d[i] = compileInput(plans, view, role, promptLimits(s.o.Settings.Prompt, role, p), p)
	}
	return d
}

// input returns the inputs of a role's prompt for the current run. ok is false if there is no task for the role.
func (d *promptInputs) input(role core.Role, run run.Run, rounds engine.Rounds, task ledger.TaskLedger) (in prompt.CompileInput, ok bool) {
	if role == 0 || d[role-1].Progress.CurrentItem == nil {
		return in, false
	}
	in = d[role-1]
	in.RunID, in.Task = run.ID, task
	setResultForm(&in, run, rounds, role)
	return in, true
}

// prompt returns the prompt that compile_prompt compiles for a role of the current run, or "" if it is refused.
func (d *promptInputs) prompt(role core.Role, run run.Run, rounds engine.Rounds, task ledger.TaskLedger) string {
	in, ok := d.input(role, run, rounds, task)
	if !ok {
		return ""
	}
	compiled, err := prompt.Compile(in)
	if err != nil {
		return "" // no agent can have had it
	}
	return compiled.Prompt
}

// retryPrompt returns the prompt that asks a role for its result again, or "" if the run needs another step. It
// repeats the prompt that the agent had. If that is unknown or has another key or form, it repeats the current
// prompt, or the old one with this key and form if the host added text to it.
func (d *promptInputs) retryPrompt(now engine.Standing) string {
	if now.Next.Action != run.RetryWithPreamble {
		return ""
	}
	role, policy := now.Next.Role, now.Run.Policy
	unread := now.Unread[role-1]
	asked := verdict.Asked{
		Role: role, ItemID: now.Run.ItemID, Form: policy.ResultForm, Keys: now.Rounds().Keys(now.Run.ID, role, false),
	}
	given := unread.Prompt
	if given == "" || prompt.Outdated(given, asked.Keys[0], policy.ResultForm == run.ResultJSON) {
		given = cmp.Or(d.prompt(role, now.Run, now.Rounds(), now.Ledger), given)
	}
	given = prompt.Renewed(given, asked.Keys[0], policy.ResultForm == run.ResultJSON)
	return verdict.RetryPrompt(given, asked, unread.Problems)
}
