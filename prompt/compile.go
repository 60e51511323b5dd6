// Package prompt compiles the prompts that agents receive from a plan item and the ledgers.
//
// Each prompt begins with a stable prefix for its role. The facts after it fit a token budget: required facts are
// never cut, and the result lists all omissions. Text of plans, agents and people cannot imitate the structure of a
// prompt.
package prompt

import (
	"waybill/ledger"
)

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
	// Trace lists the adopted stages, beginning with StageNone. Each makes the prompt smaller.
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

// Stage returns the last stage that was adopted.
func (c *Compiled) Stage() Stage { return c.Trace[len(c.Trace)-1].Stage }

// Compile returns the prompt for the current item of the ledger. The same input yields the same bytes. The prompt
// contains the complete title, prompt, details, required fixes, blockers, review issues and replan hint, or the error
// is an *OverflowError. A *MissingPromptError reports an item without a prompt. An *ItemError reports two ledgers of
// different items.
func Compile(in CompileInput) (Compiled, error) {
	if err := in.check(); err != nil {
		return Compiled{}, err
	}
	fixed := prefixOf(in.Role, in.Block)
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
		return Compiled{}, &OverflowError{Estimate: c.TokensAfter, Budget: c.Budget, Role: in.Role, Stage: string(c.Stage())}
	}
	c.Cut, c.Omitted = d.cut(), append(c.Omitted, d.unused()...)
	c.FullPromptHash = hashText(c.Prompt)
	c.Resend = c.Estimate + d.spared()
	return c, nil
}

// adopt stores the prompt that a stage produced.
func (c *Compiled) adopt(s Stage, text rendered, d *draft) {
	c.Prompt, c.Neutralised = text.prompt, text.neutralised
	c.TokensAfter, c.Estimate = d.in.size(&text), Tokens(text.runes)
	c.Packet, c.Omitted = d.packet, d.omitted
	c.Trace = append(c.Trace, TraceStep{s, c.TokensAfter})
	c.Blocks = nil
	if d.in.Blocks {
		c.Blocks = d.in.blocks(&text)
	}
}
