package prompt

import (
	"fmt"
	"strconv"
	"unicode/utf8"

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
	// Criteria are the item's acceptance criteria.
	Criteria Criteria
	// Blocks requests the sections of the prompt as separate values.
	Blocks bool
	// Degraded explains why the ledger could not be refreshed from its plan. It is "" if the ledger is current.
	Degraded string
}

// Criteria are the acceptance criteria of an item.
type Criteria struct {
	List []criteria.Criterion
	// Source is the file of the list.
	Source string
	// Missing explains an unexpected lack of criteria, and is "" otherwise.
	Missing string
}

// Compaction controls how a prompt that exceeds its budget shrinks. A prompt that fits is not changed.
type Compaction struct {
	// Off makes Compile return an *OverflowError for a prompt that exceeds its budget, without compaction.
	Off bool
	// KeepPacket skips the stage that prunes the packet.
	KeepPacket bool
	// Context is added to a prompt that StageShorten shortened.
	Context []string
	// PromptOverride replaces the task prompt in a shortened prompt, unchanged. It must ask for the same work.
	PromptOverride string
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

// place returns the file and line of the item.
func (in *CompileInput) place() string {
	it := in.Progress.CurrentItem
	return in.Progress.SourcePath + ":" + strconv.Itoa(it.Line)
}

// tokens counts the tokens of a part of a prompt.
func (in *CompileInput) tokens(text string) int {
	if in.Count == nil {
		return Tokens(utf8.RuneCountInString(text))
	}
	return in.Count(text)
}

// Tokens estimates the tokens of a text from its characters, rounded up. The estimate is good for English only.
func Tokens(runes int) int {
	const charactersPerToken = 4
	return (runes + charactersPerToken - 1) / charactersPerToken
}
