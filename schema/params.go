package schema

import "github.com/go-json-experiment/json/jsontext"

// None is the params of a method that takes none.
type None struct{}

// Keyed is part of the params of every changing method.
type Keyed struct {
	IdempotencyKey string `json:"idempotency_key,omitzero" schema:"id" doc:"the same key with the same params returns the first answer again"`
}

// Page is part of the params of every list.
type Page struct {
	Limit  *int   `json:"limit,omitzero" schema:"min=1,max=500,default=50"`
	Cursor string `json:"cursor,omitzero" doc:"next_cursor of the page before"`
}

// InitializeParams are the params of initialize. Unknown members are ignored here, and only here.
type InitializeParams struct {
	_                struct{}          `schema:"open"`
	ProtocolVersion  *int              `json:"protocol_version,omitzero" schema:"min=0,max=1000000,default=1"`
	ClientInfo       *ClientInfo       `json:"client_info,omitzero"`
	ProcessID        *int64            `json:"process_id,omitzero" doc:"waybill ends when this process ends, and at once if it does not exist; a host on another machine omits it"`
	WorkspaceFolders []WorkspaceFolder `json:"workspace_folders,omitzero"`
	RootURI          string            `json:"root_uri,omitzero"`
}

// ClientInfo names the host.
type ClientInfo struct {
	_       struct{} `schema:"open"`
	Name    string   `json:"name,omitzero"`
	Version string   `json:"version,omitzero"`
}

// WorkspaceFolder is a directory that the host works in.
type WorkspaceFolder struct {
	_    struct{} `schema:"open"`
	URI  string   `json:"uri" schema:"required" doc:"a file URI or an absolute path"`
	Name string   `json:"name,omitzero"`
}

// CancelParams are the params of $/cancelRequest.
type CancelParams struct {
	ID jsontext.Value `json:"id" schema:"required" doc:"the id of the request to cancel"`
}

// QueueInstructionParams are the params of queue_instruction.
type QueueInstructionParams struct {
	Content   string `json:"content" schema:"required,nonblank" doc:"at most 1 MiB"`
	SessionID string `json:"session_id,omitzero" schema:"id,default=default"`
	Priority  bool   `json:"priority,omitzero" schema:"default=false" doc:"goes ahead of those without"`
	Keyed
}

// QueueInstructionWithAckParams are the params of queue_instruction_with_ack.
type QueueInstructionWithAckParams struct {
	Content    string   `json:"content" schema:"required,nonblank" doc:"at most 1 MiB"`
	SessionID  string   `json:"session_id,omitzero" schema:"id,default=default"`
	Priority   bool     `json:"priority,omitzero" schema:"default=false"`
	MaxRetries *int     `json:"max_retries,omitzero" schema:"min=0,max=1000,default=3" doc:"sends after the first; of a standing instruction for each firing, and 0 by default"`
	AckOn      *AckRule `json:"ack_on,omitzero" doc:"a reported event that matches acknowledges the instruction"`
	Standing   bool     `json:"standing,omitzero" schema:"default=false" doc:"the instruction stays until it is cancelled, and is due each time trigger fires and no acknowledgement followed"`
	Trigger    *Trigger `json:"trigger,omitzero" doc:"required if standing is true"`
	Keyed
}

// DispatchParams are the params of dispatch_instructions.
type DispatchParams struct {
	SessionID string `json:"session_id,omitzero" schema:"id,default=default"`
	Limit     *int   `json:"limit,omitzero" schema:"min=1,max=500,default=50"`
	MaxBytes  *int   `json:"max_bytes,omitzero" schema:"min=1,max=8388608,default=1048576" doc:"of content; one larger content is sent alone"`
	WaitMS    int    `json:"wait_ms,omitzero" schema:"min=0,max=25000,default=0" doc:"how long to wait for something to hand out"`
	MinAgeMS  int    `json:"min_age_ms,omitzero" schema:"min=0,max=86400000,default=0" doc:"how old the last send must be before a repeat or a failure"`
	Escalate  *bool  `json:"escalate,omitzero" schema:"default=true" doc:"whether text gets a prefix on repeats"`
	Keyed
}

// AcknowledgeParams are the params of acknowledge.
type AcknowledgeParams struct {
	InstructionID string `json:"instruction_id" schema:"required,id"`
	Keyed
}

// ReportEventParams are the params of report_event.
type ReportEventParams struct {
	Type      string         `json:"type" schema:"required"`
	Data      jsontext.Value `json:"data,omitzero" schema:"object"`
	SessionID string         `json:"session_id,omitzero" schema:"id" doc:"without it, all sessions are looked at"`
	Notice    string         `json:"notice,omitzero" doc:"posts a notice with this text, at most 500 characters on one line, that has data; for an event that a person must know of"`
	Keyed
}

// FailedParams are the params of get_failed_instructions.
type FailedParams struct {
	SessionID string `json:"session_id,omitzero" schema:"id"`
	Page
}

// ListInstructionsParams are the params of list_instructions.
type ListInstructionsParams struct {
	SessionID     string `json:"session_id,omitzero" schema:"id"`
	State         string `json:"state,omitzero" schema:"enum=armed|queued|sent|delivered|acknowledged|failed|cancelled"`
	InstructionID string `json:"instruction_id,omitzero" schema:"id" doc:"this one alone, whatever its state; without session_id, state and cursor"`
	Page
}

// CancelInstructionParams are the params of cancel_instruction: one instruction, or all of a session.
type CancelInstructionParams struct {
	InstructionID string `json:"instruction_id,omitzero" schema:"id"`
	SessionID     string `json:"session_id,omitzero" schema:"id" doc:"with all: the session to clear"`
	All           bool   `json:"all,omitzero" schema:"default=false"`
	Reason        string `json:"reason,omitzero"`
	Keyed
}

// GetPlanParams are the params of get_plan.
type GetPlanParams struct {
	Plan string `json:"plan" schema:"required" doc:"the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder"`
}

// SetItemStatusParams are the params of set_item_status.
type SetItemStatusParams struct {
	Plan         string `json:"plan" schema:"required" doc:"the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder"`
	ItemID       string `json:"item_id" schema:"required"`
	Status       string `json:"status" schema:"required,enum=pending|in_progress|completed|blocked|skipped"`
	Line         *int   `json:"line,omitzero" schema:"min=1" doc:"tells items apart that share an id"`
	ExpectedHash string `json:"expected_hash,omitzero" doc:"fingerprint.hash of the plan that the caller read; nothing is written if the file has changed"`
	Keyed
}

// InitRunParams are the params of init_run.
type InitRunParams struct {
	Plan   string  `json:"plan" schema:"required,alias=specName" doc:"the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder"`
	ItemID string  `json:"item_id" schema:"required,alias=taskId"`
	Policy *Policy `json:"policy,omitzero"`
	Resume string  `json:"resume,omitzero" schema:"enum=existing|new,default=existing"`
	Commit string  `json:"commit,omitzero" schema:"id" doc:"the commit that is checked out when the work begins; the event run.started keeps it"`
	Tree   string  `json:"tree,omitzero" schema:"id" doc:"a hash over the contents of the files when the work begins, as tree_after of a receipt"`
	Keyed
}

// CompilePromptParams are the params of compile_prompt.
type CompilePromptParams struct {
	RunID           string            `json:"run_id" schema:"required,id"`
	Role            string            `json:"role" schema:"required,enum=worker|implementer|spec-reviewer|code-quality-reviewer|reviewer"`
	TaskPrompt      string            `json:"task_prompt,omitzero" doc:"replaces the item's own prompt, word for word"`
	Since           string            `json:"since,omitzero" doc:"packet.cursor that the agent acknowledged last"`
	MaxOutputTokens *int              `json:"max_output_tokens,omitzero" schema:"min=1,max=1000000000,default=1200,setting=prompt.max_output_tokens"`
	MaxInputTokens  *int              `json:"max_input_tokens,omitzero" schema:"min=1,max=1000000000,setting=prompt.max_input_tokens" doc:"input limit of the model"`
	Tokenizer       string            `json:"tokenizer,omitzero" schema:"enum=estimate|o200k,default=estimate,setting=prompt.tokenizer" doc:"how tokens are counted: four characters each, or with the vocabulary o200k_base"`
	Compaction      *CompactionParams `json:"compaction,omitzero"`
	Blocks          bool              `json:"blocks,omitzero" doc:"give the sections of the prompt by themselves, too, with whose words they hold"`
	Preview         bool              `json:"preview,omitzero" doc:"returns the prompt without counting it or keeping it as the last prompt; the result has the last prompt"`
}

// CompileAnchorParams are the params of compile_anchor.
type CompileAnchorParams struct {
	SessionID string `json:"session_id,omitzero" schema:"id,default=default" doc:"the session that reads the anchor: its own work comes first, and its instructions are named"`
	MaxTokens *int   `json:"max_tokens,omitzero" schema:"min=200,max=800,default=800"`
}

// CompactionParams control how a prompt over its budget is shortened. A prompt that fits ignores them, and omitted
// lists those without effect.
type CompactionParams struct {
	Auto           *bool    `json:"auto,omitzero" schema:"default=true,setting=prompt.compaction.auto" doc:"false: a prompt over its budget is an error at once"`
	Prune          *bool    `json:"prune,omitzero" schema:"default=true,setting=prompt.compaction.prune" doc:"false: the stage prune_packet is left out"`
	Context        []string `json:"context,omitzero" doc:"said in a prompt that is shortened"`
	PromptOverride string   `json:"prompt_override,omitzero" doc:"takes the place of the task prompt in one that is shortened, word for word"`
}

// RunParams are the params of a method about one run.
type RunParams struct {
	RunID string `json:"run_id" schema:"required,id"`
}

// GetLedgerParams are the params of get_ledger.
type GetLedgerParams struct {
	RunID       string `json:"run_id" schema:"required,id"`
	Kind        string `json:"kind,omitzero" schema:"enum=task|progress" doc:"without it, both"`
	IfNoneMatch string `json:"if_none_match,omitzero" doc:"the etag that the host has"`
}

// EventsSinceParams are the params of events_since.
type EventsSinceParams struct {
	Cursor  string   `json:"cursor" schema:"required" doc:"\"0\" for the beginning"`
	Limit   *int     `json:"limit,omitzero" schema:"min=1,max=500,default=50"`
	Types   []string `json:"types,omitzero"`
	Subject string   `json:"subject_id,omitzero" schema:"id" doc:"only events about this run, task or instruction"`
}

// ListNoticesParams are the params of list_notices.
type ListNoticesParams struct {
	SessionID string `json:"session_id,omitzero" schema:"id"`
	Peek      bool   `json:"peek,omitzero" schema:"default=false" doc:"only looks: it does not count as a delivery"`
	Page
}

// ConsumeNoticesParams are the params of consume_notices.
type ConsumeNoticesParams struct {
	NoticeIDs []string `json:"notice_ids" schema:"required,id"`
	Keyed
}

// ExplainParams are the params of explain: an id, or an item of a plan.
type ExplainParams struct {
	SubjectID string `json:"subject_id,omitzero" schema:"id"`
	Plan      string `json:"plan,omitzero"`
	ItemID    string `json:"item_id,omitzero"`
}
