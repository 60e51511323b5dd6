package api

import (
	"waybill/core"
	"waybill/core/verdict"
	"waybill/engine"
	"waybill/ledger"
	"waybill/schema"
)

// drafts are what the prompts of a run are compiled from, by Role-1, as far as that can be known before the turn of a
// change. They are gathered before it, because files are read for them and in its turn everybody waits.
type drafts [core.Roles]ledger.CompileInput

// drafts gathers them from a view of the run. Of an item that is gone there are none.
func (s *Service) drafts(plans *engine.Plans, view engine.RunView) (d drafts) {
	if view.Gone != nil {
		return d
	}
	for i := range d {
		role, p := core.Role(i+1), &schema.CompilePromptParams{}
		d[i] = compileInput(plans, view, role, s.promptLimits(role, p), p)
	}
	return d
}

// prompt gives what compile_prompt gives for a role of the run as it is now, or "" if it gives nothing.
func (d *drafts) prompt(role core.Role, run core.Run, task ledger.TaskLedger) string {
	in := d[role-1]
	if in.Progress.CurrentItem == nil {
		return ""
	}
	in.RunID, in.Task = run.ID, task
	compiled, err := ledger.Compile(in)
	if err != nil {
		return "" // no agent can have been given it
	}
	return compiled.Prompt
}

// retryPrompt gives the prompt with which the role is asked once more whose turn it is, or "" if the run wants
// something else. It repeats what the agent was given or, if that was not kept, what it would be given now.
func (d *drafts) retryPrompt(now engine.Standing) string {
	if now.Next.Action != core.RetryWithPreamble {
		return ""
	}
	role := now.Next.Role
	unread := now.Unread[role-1]
	if unread.Prompt == "" {
		unread.Prompt = d.prompt(role, now.Run, now.Ledger) // what was settled since is not asked about again
	}
	return verdict.RetryPrompt(unread.Prompt, verdict.Asked{Role: role, ItemID: now.Run.ItemID}, unread.Problems)
}
