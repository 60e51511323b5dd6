package schema

// CompilePromptResult is the result of compile_prompt.
type CompilePromptResult struct {
	Prompt             string     `json:"prompt"`
	StablePrefix       string     `json:"stable_prefix"`
	StablePrefixHash   string     `json:"stable_prefix_hash" doc:"SHA-256, hex"`
	PromptVersion      string     `json:"prompt_version" doc:"the version of the stable prefixes: the same version has the same bytes"`
	FullPromptHash     string     `json:"full_prompt_hash" doc:"SHA-256, hex"`
	Packet             Packet     `json:"packet"`
	PromptTokensBefore int        `json:"prompt_tokens_before"`
	PromptTokensAfter  int        `json:"prompt_tokens_after"`
	PromptTokenBudget  int        `json:"prompt_token_budget"`
	Tokenizer          string     `json:"tokenizer" schema:"enum=estimate|o200k" doc:"tokenizer of the token counts"`
	PromptEstimate     int        `json:"prompt_tokens_estimate" doc:"prompt_tokens_after as the estimate has it"`
	PromptResend       int        `json:"prompt_tokens_resend" doc:"estimate of a prompt with the whole plan and all facts in it, which the packet spares"`
	Compaction         Compaction `json:"compaction"`
	Omitted            []Omission `json:"omitted"`
	ItemChanged        string     `json:"item_changed,omitzero" doc:"only if the title of the item has changed since the run was started or replanned: the id may belong to another item now; says what to do"`
	LedgerMode         string     `json:"ledger_mode" schema:"enum=ledger_only|ledger_plus_fallback"`
	FallbackReason     string     `json:"fallback_reason,omitzero"`
	FallbackDetail     string     `json:"fallback_detail,omitzero" doc:"the problem of the file, for a person"`
	FallbackSince      Time       `json:"fallback_since,omitzero" doc:"when this process first found that the file cannot be read as it is"`
	LedgerAsOf         Time       `json:"ledger_as_of,omitzero" doc:"when the version of the plan was written that is used instead"`
	Rebuilt            bool       `json:"rebuilt" doc:"whether the plan was read anew"`

	Blocks []PromptBlock `json:"blocks,omitzero" doc:"only if the call has blocks; their texts joined are the prompt"`

	LastPrompt     *LastPrompt `json:"last_prompt,omitzero" doc:"only with preview: the last prompt for this role of the run, if there is one"`
	LastPromptLost string      `json:"last_prompt_lost,omitzero" schema:"enum=too_large|damaged" doc:"only with preview: why an existing last_prompt is left out"`
}

// CompileAnchorResult is the result of compile_anchor.
type CompileAnchorResult struct {
	Text      string     `json:"text" doc:"empty if nothing is being worked on and nothing waits"`
	Tokens    int        `json:"tokens" doc:"of the text"`
	Tokenizer string     `json:"tokenizer" schema:"enum=estimate|o200k" doc:"tokenizer of the token count"`
	Omitted   []Omission `json:"omitted" doc:"the facts that the text names only by their number, and the methods that have them"`
}

// LastPrompt is the last prompt of a role of a run, for display only. It is kept for 30 days by default. After a
// kill, the prompt of the last second may be missing.
type LastPrompt struct {
	Prompt        string `json:"prompt"`
	CompiledAt    Time   `json:"compiled_at"`
	Cursor        string `json:"cursor" doc:"of its packet"`
	PromptVersion string `json:"prompt_version"`
	PromptTokens  int64  `json:"prompt_tokens"`
}

// PromptBlock is a section of a prompt.
type PromptBlock struct {
	Name        string   `json:"name" doc:"the heading without its brackets; stable_prefix for the first block"`
	Sources     []string `json:"sources" doc:"whose words it holds: waybill, host, plan, requirements, worker, reviewer"`
	Trust       string   `json:"trust" schema:"enum=trusted|untrusted" doc:"that of the least trusted source"`
	Ref         string   `json:"ref,omitzero" doc:"where exactly the words are from"`
	Text        string   `json:"text"`
	SHA256      string   `json:"sha256" doc:"of the text, hex"`
	Tokens      int      `json:"tokens" doc:"rounded up for each block by itself"`
	Neutralised int      `json:"neutralised" doc:"characters and lines that were changed so that they cannot pass for structure"`
}

// Packet is the set of ledger facts after the stable prefix.
type Packet struct {
	Cursor  string            `json:"cursor"`
	Base    string            `json:"base,omitzero" doc:"the cursor that a delta builds on"`
	Mode    string            `json:"mode" schema:"enum=full|delta"`
	WhyFull string            `json:"why_full,omitzero" schema:"enum=no_cursor|unknown_cursor|other_run|other_prompt"`
	Facts   map[string]string `json:"facts"`
	Removed []string          `json:"removed"`
}

// Compaction describes how a prompt was fitted into its budget.
type Compaction struct {
	Applied bool        `json:"applied"`
	Stage   string      `json:"stage"`
	Trace   []TraceStep `json:"trace"`
}

// TraceStep is the size of the prompt after one stage.
type TraceStep struct {
	Stage        string `json:"stage"`
	PromptTokens int    `json:"prompt_tokens"`
}

// Omission is something that was left out of a prompt.
type Omission struct {
	What string `json:"what"`
	Why  string `json:"why"`
}
