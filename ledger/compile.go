package ledger

import "fmt"

// CompileInput is what a prompt is made of.
type CompileInput struct {
	RunID    string
	Role     Role
	Progress ProgressLedger
	Task     TaskLedger
	// TaskPrompt takes the place of the item's prompt, word for word: it is the
	// caller's own text, and nothing in it is neutralised.
	TaskPrompt string
	// MaxOutputTokens is what the agent may write; 0 means 1200.
	MaxOutputTokens int
	// MaxInputTokens is what the agent's model takes in; 0 means the role's
	// usual 4800 for a worker and 4000 for a reviewer.
	MaxInputTokens int
	// Since is the cursor of the newest packet that the agent has, "" if it has none.
	Since string
	// Count counts the tokens of a text; nil estimates them by Tokens.
	Count func(text string) int
	// Compaction steers what is done if the prompt is over its budget.
	Compaction Compaction
	// Criteria are what the requirements want of the item, CriteriaSource is the file that has them.
	// CriteriaMissing says why there are none although there may be, "" if nothing is amiss.
	Criteria                        []Criterion
	CriteriaSource, CriteriaMissing string
	// Blocks asks for the sections of the prompt by themselves.
	Blocks bool
	// Degraded is why the ledger could not be read anew, "" when it was.
	Degraded string
}

// Omission says what was left out of a prompt and why.
type Omission struct{ What, Why string }

// TraceStep is one compaction stage that was tried and the size after it.
type TraceStep struct {
	Stage        Stage
	PromptTokens int
}

// Compiled is a prompt and how it came about.
type Compiled struct {
	// Prompt begins with StablePrefix.
	Prompt string
	// StablePrefix depends on the role alone, and on PromptVersion.
	StablePrefix string
	// The hashes are SHA-256 in lower-case hex.
	StablePrefixHash, FullPromptHash string
	Packet                           Packet
	// TokensBefore and TokensAfter are the size of the prompt before and after compaction, as Count has it.
	TokensBefore, TokensAfter, Budget int
	// Estimate is the size after compaction as Tokens has it.
	Estimate int
	Omitted  []Omission
	// Stage is the last stage that was adopted. Trace has all that were, the first one StageNone, and each
	// prompt in it is smaller than the one before.
	Stage Stage
	Trace []TraceStep
	// Blocks are the sections of the prompt in their order, if CompileInput.Blocks asks for them.
	Blocks []Block
	// Resend is the estimated size of a prompt with the whole plan and all facts, which this one spares.
	Resend int
	// Cut names what a stage, or the bound of a list, left out or shortened: keys of facts, and item.X for what
	// the plan says. What the agent was told before is not among them.
	Cut []string
	// Neutralised counts the characters and lines of foreign text that had to
	// be changed so that they cannot pass for structure.
	Neutralised int
}

// Compile writes the prompt for the current item of the ledger. The same input
// gives the same bytes. The item's title, prompt and details, required fixes,
// blockers, review issues and the replan hint are in it whole, or the error is an
// *OverflowError. A *MissingPromptError says that there is nothing to ask for,
// an *ItemError that the two ledgers speak of different items.
func Compile(in CompileInput) (Compiled, error) {
	if err := in.check(); err != nil {
		return Compiled{}, err
	}
	fixed := &prefixes[in.Role]
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
		// What does not make the prompt smaller is not done.
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

// adopt takes the prompt that a stage has come to.
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
	if !in.Role.known() {
		return fmt.Errorf("compile prompt: role %d is none", in.Role)
	}
	it := in.Progress.CurrentItem
	if it == nil {
		return &MissingPromptError{ItemID: in.Progress.ItemID, Missing: missingCurrentTask}
	}
	for _, want := range [...]string{in.Progress.ItemID, in.Task.ItemID} {
		if want != "" && want != it.ID {
			return fmt.Errorf("compile prompt: the current item is %q: %w",
				it.ID, &ItemError{Plan: in.Progress.Plan, ItemID: want})
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

// budget is what is left of the input for the prompt when the answer has its
// share; at least one token, so that every limit ends in a figure.
func budget(in *CompileInput) int {
	limit := in.MaxInputTokens
	if limit <= 0 {
		limit = in.Role.inputTokens()
	}
	return max(1, limit-min(limit-1, in.maxOutput()))
}

// Tokens estimates how many tokens a text of so many characters is, and never none for a text that is not
// empty. It is about right for English; nothing may rely on more.
func Tokens(runes int) int {
	const charactersPerToken = 4
	return (runes + charactersPerToken - 1) / charactersPerToken
}
