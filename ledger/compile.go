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
	// Degraded is why the ledger could not be read anew, "" when it was.
	Degraded string
}

// Omission says what was left out of a prompt and why.
type Omission struct{ What, Why string }

// TraceStep is one compaction stage that was tried and the size after it.
type TraceStep struct {
	Stage        string
	PromptTokens int
}

// Compiled is a prompt and how it came about.
type Compiled struct {
	// Prompt begins with StablePrefix.
	Prompt string
	// StablePrefix depends on the role alone.
	StablePrefix string
	// The hashes are SHA-256 in lower-case hex.
	StablePrefixHash, FullPromptHash string
	Packet                           Packet
	// TokensBefore and TokensAfter estimate the prompt before and after compaction.
	TokensBefore, TokensAfter, Budget int
	Omitted                           []Omission
	// Stage is the last stage that was adopted.
	Stage string
	Trace []TraceStep
	// Neutralised counts the characters and lines of foreign text that had to
	// be changed so that they cannot pass for structure.
	Neutralised int
}

// draft is a prompt in the making: what the stages take things out of.
type draft struct {
	in      *CompileInput
	packet  *Packet
	omitted []Omission
}

// stage is one way to make a prompt smaller.
type stage struct {
	name   string
	shrink func(draft) draft
}

// stages are tried in this order until the prompt fits.
var stages = [...]stage{
	{name: "none", shrink: func(d draft) draft { return d }},
}

// Compile writes the prompt for the current item of the ledger. The same input
// gives the same bytes. The item's text, required fixes, blockers, review
// issues and the replan hint are in it whole, or the error is an
// *OverflowError. A *MissingPromptError says that there is nothing to ask for,
// an *ItemError that the two ledgers speak of different items.
func Compile(in CompileInput) (Compiled, error) {
	if err := in.check(); err != nil {
		return Compiled{}, err
	}
	fixed := &prefixes[in.Role]
	packet, omitted := packetOf(&in)
	c := Compiled{
		StablePrefix: fixed.text, StablePrefixHash: fixed.hash,
		Packet: packet,
		Budget: budget(&in),
	}
	d := draft{in: &in, packet: &packet, omitted: omitted}
	for _, s := range stages {
		d = s.shrink(d)
		var runes int
		c.Prompt, runes, c.Neutralised = d.render(fixed)
		c.Stage, c.Omitted = s.name, d.omitted
		c.TokensAfter = Tokens(runes)
		c.Trace = append(c.Trace, TraceStep{s.name, c.TokensAfter})
		if c.TokensAfter <= c.Budget {
			c.TokensBefore = c.Trace[0].PromptTokens
			c.FullPromptHash = hashText(c.Prompt)
			return c, nil
		}
	}
	return Compiled{}, &OverflowError{Estimate: c.TokensAfter, Budget: c.Budget, Role: in.Role, Stage: c.Stage}
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
