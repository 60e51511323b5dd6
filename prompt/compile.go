// Package prompt compiles the prompts that agents receive from a plan item and the ledgers.
//
// Each prompt begins with a stable prefix for its role. The facts after it fit a token budget: required facts are
// never cut, and the result lists all omissions. Text of plans, agents and people cannot imitate the structure of a
// prompt.
package prompt

import (
	"fmt"

	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/criteria"
)

// CompileInput is the complete input of a prompt.
type CompileInput struct {
	RunID    string
	Role     ledger.Role
	Progress ledger.ProgressLedger
	Task     ledger.TaskLedger
	// TaskPrompt replaces the item's prompt. It is the host's own text and is not neutralised.
	TaskPrompt string
	// Key is the result key that the answer must have, "" for none.
	Key string
	// Block requests a result block instead of v2 headers.
	Block bool
	// MaxOutputTokens bounds the agent's answer; 0 means 1200.
	MaxOutputTokens int
	// MaxInputTokens bounds the model's input, including the answer; 0 means 4800 for a worker and 4000 for a
	// reviewer.
	MaxInputTokens int
	// Since is the cursor of the newest packet that the agent has, "" if it has none.
	Since string
	// Count counts the tokens of a text; nil estimates them by Tokens.
	Count func(text string) int
	// Compaction controls how a prompt that exceeds its budget shrinks.
	Compaction Compaction
	// Criteria are the item's acceptance criteria, and CriteriaSource is their file. CriteriaMissing explains an
	// unexpected lack of criteria, and is "" otherwise.
	Criteria                        []criteria.Criterion
	CriteriaSource, CriteriaMissing string
	// Blocks requests the sections of the prompt as separate values.
	Blocks bool
	// Degraded explains why the ledger could not be refreshed from its plan. It is "" if the ledger is current.
	Degraded string
}

// Omission names a part that a prompt lacks, and the reason.
type Omission struct{ What, Why string }

// TraceStep is one compaction stage that was tried and the size after it.
type TraceStep struct {
	Stage        Stage
	PromptTokens int
}

// Compiled is a prompt with a record of its compilation.
type Compiled struct {
	// Prompt begins with StablePrefix.
	Prompt string
	// StablePrefix depends only on the role, the result form and PromptVersion.
	StablePrefix string
	// The hashes are SHA-256 in lower-case hex.
	StablePrefixHash, FullPromptHash string
	Packet                           ledger.Packet
	// TokensBefore and TokensAfter are the size of the prompt before and after compaction, measured by Count.
	TokensBefore, TokensAfter, Budget int
	// Estimate is the size after compaction, estimated by Tokens.
	Estimate int
	Omitted  []Omission
	// Stage is the last stage that was adopted. Trace lists all adopted stages, beginning with StageNone. Each adopted
	// stage makes the prompt smaller.
	Stage Stage
	Trace []TraceStep
	// Blocks are the sections of the prompt in order, if CompileInput.Blocks is set.
	Blocks []Block
	// Resend is the estimated size in tokens of a prompt with the whole plan and all facts.
	Resend int
	// Cut names facts, and item fields as item.X, that a stage or a list limit shortened or omitted. Facts that the
	// agent already knows are not listed.
	Cut []string
	// Neutralised counts the characters and lines of untrusted text that were changed.
	Neutralised int
}

// Compile returns the prompt for the current item of the ledger. The same input yields the same bytes. The prompt
// contains the complete title, prompt, details, required fixes, blockers, review issues and replan hint, or the error
// is an *OverflowError. A *MissingPromptError reports an item without a prompt. An *ItemError reports two ledgers of
// different items.
func Compile(in CompileInput) (Compiled, error) {
	if err := in.check(); err != nil {
		return Compiled{}, err
	}
	fixed := in.prefix()
	c := Compiled{
		StablePrefix: fixed.text, StablePrefixHash: fixed.hash,
		Budget: budget(&in),
	}
	d := draft{in: &in}
	d.pack()
	c.adopt(StageNone, d.render(fixed), &d)
	for _, s := range stages {
		if c.TokensAfter <= c.Budget || in.Compaction.Off {
			break
		}
		next, ok := s.shrink(d)
		if !ok || s.name == StagePrune && in.Compaction.KeepPacket {
			continue
		}
		// A stage is adopted only if it makes the prompt smaller.
		text := next.render(fixed)
		if size := in.size(&text); size < c.TokensAfter {
			d = next
			c.adopt(s.name, text, &d)
		}
	}
	c.TokensBefore = c.Trace[0].PromptTokens
	if c.TokensAfter > c.Budget {
		return Compiled{}, &OverflowError{Estimate: c.TokensAfter, Budget: c.Budget, Role: in.Role, Stage: string(c.Stage)}
	}
	c.Cut, c.Omitted = d.cut(), append(c.Omitted, d.unused()...)
	c.FullPromptHash = hashText(c.Prompt)
	c.Resend = c.Estimate + d.spared()
	return c, nil
}

// adopt stores the prompt that a stage produced.
func (c *Compiled) adopt(s Stage, text rendered, d *draft) {
	c.Stage, c.Prompt, c.Neutralised = s, text.prompt, text.neutralised
	c.TokensAfter, c.Estimate = d.in.size(&text), Tokens(text.runes)
	c.Packet, c.Omitted = d.packet, d.omitted
	c.Trace = append(c.Trace, TraceStep{s, c.TokensAfter})
	c.Blocks = nil
	if d.in.Blocks {
		c.Blocks = d.in.blocks(&text)
	}
}

// size counts the tokens of a prompt.
func (in *CompileInput) size(text *rendered) int {
	if in.Count == nil {
		return Tokens(text.runes)
	}
	return in.Count(text.prompt)
}

func (in *CompileInput) check() error {
	if !in.Role.Known() {
		return fmt.Errorf("compile prompt: role %d is none", in.Role)
	}
	it := in.Progress.CurrentItem
	if it == nil {
		return &MissingPromptError{ItemID: in.Progress.ItemID, Missing: missingCurrentTask}
	}
	for _, want := range [...]string{in.Progress.ItemID, in.Task.ItemID} {
		if want != "" && want != it.ID {
			return fmt.Errorf("compile prompt: the current item is %q: %w",
				it.ID, &plan.ItemError{Plan: in.Progress.Plan, ItemID: want})
		}
	}
	if in.TaskPrompt == "" && it.Prompt == "" && it.Title == "" {
		return &MissingPromptError{ItemID: it.ID, Missing: missingTaskPrompt}
	}
	return nil
}

func (in *CompileInput) maxOutput() int {
	const usual = 1200
	if in.MaxOutputTokens <= 0 {
		return usual
	}
	return in.MaxOutputTokens
}

// budget returns the input tokens that remain for the prompt after the answer's share. It is at least 1.
func budget(in *CompileInput) int {
	limit := in.MaxInputTokens
	if limit <= 0 {
		limit = inputTokens(in.Role)
	}
	return max(1, limit-min(limit-1, in.maxOutput()))
}

// inputTokens returns the default input limit of a role.
func inputTokens(r ledger.Role) int {
	if r == ledger.RoleWorker {
		return 4800
	}
	return 4000
}

// Tokens estimates the tokens of a text from its characters, rounded up. The estimate is good for English only.
func Tokens(runes int) int {
	const charactersPerToken = 4
	return (runes + charactersPerToken - 1) / charactersPerToken
}
