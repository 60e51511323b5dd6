package api

import (
	"cmp"
	"fmt"

	"waybill/core"
	"waybill/ledger"
	"waybill/schema"
)

// This file has what holds where a call says nothing: the settings of the process.

// limits are what a prompt is held to.
type limits struct {
	input, output int // tokens
	tokenizer     string
	compaction    ledger.Compaction
}

// completed checks the settings of the options and fills in what is built in.
func completed(s schema.Settings) (schema.Settings, error) {
	full, fault := schema.CompleteSettings(s)
	if fault != nil {
		return full, fmt.Errorf("api: Options.Settings: %s", fault.Message)
	}
	return full, nil
}

// promptLimits gives what a prompt for a role is held to: by the call, or else by the settings.
func (s *Service) promptLimits(role core.Role, p *schema.CompilePromptParams) limits {
	usual := s.o.Settings.Prompt
	input := *usual.MaxInputTokens.Worker
	if role.Reviewer() {
		input = *usual.MaxInputTokens.Reviewer
	}
	return limits{
		input: or(p.MaxInputTokens, input), output: or(p.MaxOutputTokens, *usual.MaxOutputTokens),
		tokenizer: cmp.Or(p.Tokenizer, usual.Tokenizer), compaction: compactionOf(p.Compaction, usual.Compaction),
	}
}

// compactionOf gives what is to be done with a prompt that is over its budget.
func compactionOf(p *schema.CompactionParams, usual *schema.CompactionSettings) ledger.Compaction {
	if p == nil {
		p = &schema.CompactionParams{}
	}
	return ledger.Compaction{
		Off: !or(p.Auto, *usual.Auto), KeepPacket: !or(p.Prune, *usual.Prune),
		Context: p.Context, PromptOverride: p.PromptOverride,
	}
}

// policyOf gives the policy of a new run: what the call says, and the settings for the rest.
func policyOf(w, usual *schema.Policy) core.Policy {
	if w == nil {
		w = &schema.Policy{}
	}
	p := core.Policy{
		InvalidRetries:      or(w.InvalidRetries, *usual.InvalidRetries),
		ReviewerFreshRuns:   or(w.ReviewerFreshRuns, *usual.ReviewerFreshRuns),
		WorkerFailures:      or(w.WorkerFailures, *usual.WorkerFailures),
		ReviewRejections:    or(w.ReviewRejections, *usual.ReviewRejections),
		StalledThreshold:    or(w.StalledThreshold, *usual.StalledThreshold),
		ReviewLoopThreshold: or(w.ReviewLoopThreshold, *usual.ReviewLoopThreshold),
	}
	reviewers := w.Reviewers
	if reviewers == nil {
		reviewers = usual.Reviewers
	}
	for _, name := range reviewers {
		role, _ := core.ParseRole(name) // the schema lets the names of reviewers pass and no others
		p.Reviewers |= core.RolesOf(role)
	}
	return p
}
