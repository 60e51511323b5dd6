package api

import (
	"context"
	"fmt"

	"waybill/api/anchor"
	"waybill/api/entity"
	"waybill/core"
	"waybill/core/run"
	"waybill/engine"
	"waybill/ledger"
	"waybill/prompt"
	"waybill/prompt/sanitize"
	"waybill/schema"
)

func (s *Service) compilePrompt(ctx context.Context, p *schema.CompilePromptParams) (*schema.CompilePromptResult, error) {
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	view, err := e.Peek(ctx, p.RunID)
	if err != nil {
		return nil, err
	}
	role, _, err := roleOf(view.Run, p.Role)
	if err != nil {
		return nil, err
	}
	if view.Gone != nil {
		return nil, view.Gone
	}
	c, err := s.compilation(plans, view, role, p)
	if !p.Preview {
		tallyPrompt(e, s.o.Now(), view, c.compiled, err)
	}
	if err != nil {
		return nil, err
	}
	w := *c.answer
	if p.Preview {
		return &w, showLastPrompt(ctx, e, view.Run.ID, role, &w)
	}
	keepPrompt(e, view.Run.ID, role, &w)
	return &w, nil
}

func (s *Service) compileAnchor(ctx context.Context, p *schema.CompileAnchorParams) (*schema.CompileAnchorResult, error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	in, err := anchor.Collect(ctx, e, orDefault(p.SessionID))
	if err != nil {
		return nil, err
	}
	tokenizer := s.o.Settings.Prompt.Tokenizer
	in.MaxTokens, in.Count = or(p.MaxTokens, schema.MaxAnchorTokens), counter(tokenizer)
	a := prompt.CompileAnchor(in)
	return &schema.CompileAnchorResult{
		Text: a.Text, Tokens: a.Tokens, Tokenizer: tokenizer, Omitted: entity.All(a.Omitted, wireOmission),
	}, nil
}

func wireOmission(o prompt.Omission) schema.Omission { return schema.Omission(o) }

// compilation compiles the prompt, or returns the cached one.
func (s *Service) compilation(
	plans *engine.Plans, view engine.RunView, role core.Role, p *schema.CompilePromptParams,
) (c compilation, err error) {
	l := promptLimits(s.o.Settings.Prompt, role, p)
	key, memorable := cacheKey(view, role, l, p)
	if memorable {
		if c, ok := s.prompts.get(key); ok {
			return c, nil
		}
	}
	c.compiled, err = prompt.Compile(compileInput(plans, view, role, l, p))
	if err != nil {
		return c, err
	}
	c.answer = wireCompiled(c.compiled, view)
	c.answer.Tokenizer = l.tokenizer
	if memorable {
		s.prompts.put(key, c)
	}
	return c, nil
}

// compileInput returns the inputs of a prompt.
func compileInput(
	plans *engine.Plans, view engine.RunView, role core.Role, l limits, p *schema.CompilePromptParams,
) prompt.CompileInput {
	in := prompt.CompileInput{
		RunID: view.Run.ID, Role: engine.PromptRole(role), Progress: view.Progress, Task: view.Task, TaskPrompt: p.TaskPrompt, Since: p.Since,
		MaxOutputTokens: l.output, MaxInputTokens: l.input, Degraded: view.Fallback, Compaction: l.compaction, Count: counter(l.tokenizer),
		Blocks: p.Blocks,
	}
	setResultForm(&in, view.Run, view.Rounds, role)
	addCriteria(&in, role, plans, view)
	return in
}

// setResultForm sets the result key and the result form that a prompt asks for.
func setResultForm(in *prompt.CompileInput, r run.Run, rounds engine.Rounds, role core.Role) {
	in.Key, in.Block = rounds.Key(r.ID, role), r.Policy.ResultForm == run.ResultJSON
}

func wireCompiled(c prompt.Compiled, view engine.RunView) *schema.CompilePromptResult {
	w := &schema.CompilePromptResult{
		Prompt: c.Prompt, StablePrefix: c.StablePrefix, StablePrefixHash: c.StablePrefixHash, FullPromptHash: c.FullPromptHash,
		Packet:             wirePacket(c.Packet),
		PromptTokensBefore: c.TokensBefore, PromptTokensAfter: c.TokensAfter, PromptTokenBudget: c.Budget,
		PromptEstimate: c.Estimate, PromptVersion: prompt.PromptVersion, PromptResend: c.Resend,
		Compaction: schema.Compaction{
			Applied: c.Stage() != prompt.StageNone, Stage: string(c.Stage()),
			Trace: entity.All(c.Trace, func(t prompt.TraceStep) schema.TraceStep {
				return schema.TraceStep{Stage: string(t.Stage), PromptTokens: t.PromptTokens}
			}),
		},
		Omitted:    entity.All(c.Omitted, wireOmission),
		LedgerMode: ledgerMode(view), FallbackReason: view.Fallback, Rebuilt: view.Rebuilt,
		FallbackDetail: fallbackDetail(view),
	}
	for _, b := range c.Blocks {
		w.Blocks = append(w.Blocks, wireBlock(b))
	}
	if !ledger.SameItem(view.Run.Frontier, view.Progress.CurrentItem) {
		w.ItemChanged = fmt.Sprintf("item %q has another title than at the start of the run: if it is another item, "+
			"start a new run with init_run and resume \"new\"; if it is the same, replan", view.Run.ItemID)
	}
	age := viewAgeOf(view)
	w.FallbackSince, w.LedgerAsOf = age.since, age.asOf
	return w
}

func wireBlock(b prompt.Block) schema.PromptBlock {
	return schema.PromptBlock{
		Name: b.Name, Sources: entity.All(b.Sources, func(s sanitize.Source) string { return string(s) }), Trust: string(b.Trust), Ref: b.Ref,
		Text: b.Text, SHA256: b.SHA256, Tokens: b.Tokens, Neutralised: b.Neutralised,
	}
}

func ledgerMode(v engine.RunView) string {
	if v.Fallback != "" {
		return "ledger_plus_fallback"
	}
	return "ledger_only"
}

func wirePacket(p ledger.Packet) schema.Packet {
	w := schema.Packet{
		Cursor: p.Cursor, Base: p.Base, Mode: string(p.Mode), WhyFull: string(p.WhyFull),
		Facts: make(map[string]string, len(p.Facts)), Removed: p.Removed,
	}
	for _, f := range p.Facts {
		w.Facts[f.Key] = f.Value
	}
	return w
}
