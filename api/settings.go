package api

import (
	"cmp"
	"fmt"
	"slices"

	"waybill/core"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/prompt"
	"waybill/schema"
	"waybill/schema/codec"
)

// limits are the limits of a prompt.
type limits struct {
	input, output int // tokens
	tokenizer     string
	compaction    prompt.Compaction
}

// completeSettings checks the settings and adds the built-in ones.
func completeSettings(s schema.Settings) (schema.Settings, error) {
	full, fault := codec.CompleteSettings(s)
	if fault != nil {
		return full, fmt.Errorf("api: Options.Settings: %s", fault.Message)
	}
	return full, nil
}

// promptLimits returns the limits of a role's prompt: those of the call, otherwise the settings.
func promptLimits(usual *schema.PromptSettings, role core.Role, p *schema.CompilePromptParams) limits {
	input := *usual.MaxInputTokens.Worker
	if role.Reviewer() {
		input = *usual.MaxInputTokens.Reviewer
	}
	return limits{
		input: or(p.MaxInputTokens, input), output: or(p.MaxOutputTokens, *usual.MaxOutputTokens),
		tokenizer: cmp.Or(p.Tokenizer, usual.Tokenizer), compaction: compactionOf(p.Compaction, usual.Compaction),
	}
}

// compactionOf returns how a prompt over its budget is shortened.
func compactionOf(p *schema.CompactionParams, usual *schema.CompactionSettings) prompt.Compaction {
	if p == nil {
		p = &schema.CompactionParams{}
	}
	return prompt.Compaction{
		Off: !or(p.Auto, *usual.Auto), KeepPacket: !or(p.Prune, *usual.Prune),
		Context: p.Context, PromptOverride: p.PromptOverride,
	}
}

// policyOf returns the policy of a new run: that of the call, completed by the settings, with the checks of the workspace.
func policyOf(w, usual *schema.Policy, checks []string) run.Policy {
	if w == nil {
		w = &schema.Policy{}
	}
	p := run.Policy{
		InvalidRetries:      or(w.InvalidRetries, *usual.InvalidRetries),
		ReviewerFreshRuns:   or(w.ReviewerFreshRuns, *usual.ReviewerFreshRuns),
		WorkerFailures:      or(w.WorkerFailures, *usual.WorkerFailures),
		ReviewRejections:    or(w.ReviewRejections, *usual.ReviewRejections),
		StalledThreshold:    or(w.StalledThreshold, *usual.StalledThreshold),
		ReviewLoopThreshold: or(w.ReviewLoopThreshold, *usual.ReviewLoopThreshold),
	}
	p.ResultForm, _ = run.ParseResultForm(cmp.Or(w.ResultForm, usual.ResultForm)) // the schema allows only known names
	p.CheckFailures = or(w.CheckFailures, *usual.CheckFailures)
	// The schema allows only ids, and these are all names. A call adds to the other checks and drops none.
	required := slices.Concat(w.RequireChecks, usual.RequireChecks, checks)
	if cmp.Or(w.Facts, usual.Facts) == "require" {
		required = append(required, proof.Facts)
	}
	p.RequireChecks, _ = proof.ParseNames(required...)
	p.RequireKey = or(w.RequireKey, *usual.RequireKey)
	reviewers := w.Reviewers
	if reviewers == nil {
		reviewers = usual.Reviewers
	}
	if reviewers != nil && len(reviewers) == 0 {
		p.Reviewers = run.NoReviewers
	}
	for _, name := range reviewers {
		role, _ := core.ParseRole(name) // the schema allows only names of reviewers
		p.Reviewers |= core.RolesOf(role)
	}
	return p
}
