package schema

import "github.com/go-json-experiment/json/jsontext"

// Null is the result of a method that answers null.
type Null struct{}

// InitializeResult is the result of initialize.
type InitializeResult struct {
	ProtocolVersion int          `json:"protocol_version"`
	ServerInfo      ServerInfo   `json:"server_info"`
	Workspace       *Workspace   `json:"workspace,omitzero" doc:"absent while none could be found"`
	Capabilities    Capabilities `json:"capabilities"`
	Limits          Limits       `json:"limits"`
	Cursor          string       `json:"cursor" doc:"for events_since: from here on"`
}

// ServerInfo names this process.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	PID     int    `json:"pid"`
}

// Capabilities lists what can be called and heard.
type Capabilities struct {
	Methods       []string `json:"methods"`
	Notifications []string `json:"notifications"`
}

// Limits are the bounds in force.
type Limits struct {
	MaxMessageBytes int `json:"max_message_bytes"`
	MaxContentBytes int `json:"max_content_bytes"`
	MaxPending      int `json:"max_pending"`
}

// PingResult is the result of ping.
type PingResult struct {
	Pong bool `json:"pong"`
}

// StatusResult is the result of get_status.
type StatusResult struct {
	Version    string            `json:"version"`
	UptimeMS   int64             `json:"uptime_ms"`
	Workspace  Workspace         `json:"workspace"`
	Store      StoreStatus       `json:"store"`
	Watcher    WatcherStatus     `json:"watcher"`
	Connection *ConnectionStatus `json:"connection,omitzero" doc:"absent without one, as in the terminal commands"`
	Counts     Counts            `json:"counts"`
	Dialects   []DialectRule     `json:"dialects" doc:"the configuration of the plans' dialects; the first rule that fits a path counts"`
	Settings   []Setting         `json:"settings" doc:"what this process was given that is not as it is built in"`
	Degraded   []string          `json:"degraded" doc:"what is not as it should be, a sentence each"`
}

// Setting is a setting that is not as it is built in.
type Setting struct {
	Name   string         `json:"name" doc:"such as prompt.max_output_tokens"`
	Value  jsontext.Value `json:"value"`
	Origin string         `json:"origin" doc:"where it was set: a flag such as --tokenizer, an environment variable, or the path of a configuration file"`
}

// StoreStatus describes the store.
type StoreStatus struct {
	Kind          string `json:"kind"`
	Path          string `json:"path,omitzero"`
	SizeBytes     int64  `json:"size_bytes"`
	Mode          string `json:"mode" schema:"enum=read_write|read_only"`
	SchemaVersion int    `json:"schema_version"`
}

// WatcherStatus describes the watcher.
type WatcherStatus struct {
	Mode   string `json:"mode" schema:"enum=inotify|kqueue|windows|polling|off"`
	Reason string `json:"reason,omitzero" doc:"why it polls"`
	Plans  int    `json:"plans"`

	Overflows    int64 `json:"overflows" doc:"how often the system dropped notifications of files"`
	Rescans      int64 `json:"rescans" doc:"how often every plan was looked at again because of that"`
	LastRescanAt Time  `json:"last_rescan_at,omitzero"`
}

// ConnectionStatus describes the connection that the question came over.
type ConnectionStatus struct {
	NotificationsFailed  int64 `json:"notifications_failed" doc:"of the host's own: nobody is answered, so nothing else says that they had no effect"`
	NotificationsDropped int64 `json:"notifications_dropped" doc:"to the host, which did not read them in time; events_since has what they told of"`
}

// Counts counts what is in the store.
type Counts struct {
	Instructions map[string]int `json:"instructions" doc:"by state"`
	Tasks        map[string]int `json:"tasks" doc:"by status"`
	Runs         map[string]int `json:"runs" doc:"by state"`
	NoticesOpen  int            `json:"notices_open"`
}

// InstructionResult is one instruction after a change.
type InstructionResult struct {
	Instruction Instruction `json:"instruction"`
	Seq         int64       `json:"seq"`
}

// QueueInstructionWithAckResult is the result of queue_instruction_with_ack.
type QueueInstructionWithAckResult struct {
	InstructionID string      `json:"instruction_id" schema:"id"`
	Instruction   Instruction `json:"instruction"`
	Seq           int64       `json:"seq"`
}

// DispatchResult is the result of dispatch_instructions.
type DispatchResult struct {
	Instructions []Send        `json:"instructions"`
	Failed       []Instruction `json:"failed" doc:"those whose sends were used up in this pass"`
	Remaining    int           `json:"remaining" doc:"how much of this pass is left for the next call; nothing is repeated before it is through"`
	Seq          int64         `json:"seq"`
}

// AcknowledgeResult is the result of acknowledge.
type AcknowledgeResult struct {
	Instruction    Instruction `json:"instruction"`
	Already        bool        `json:"already" doc:"whether this was known before"`
	BeforeDispatch bool        `json:"before_dispatch,omitzero" doc:"nothing had been sent, and nothing will be"`
	Seq            int64       `json:"seq"`
}

// ReportEventResult is the result of report_event.
type ReportEventResult struct {
	Acknowledged []string `json:"acknowledged" doc:"the ids of the instructions that matched"`
	Unmatched    bool     `json:"unmatched"`
	Seq          int64    `json:"seq"`
}

// InstructionList is a page of instructions.
type InstructionList struct {
	Items      []Instruction `json:"items"`
	NextCursor string        `json:"next_cursor,omitzero"`
}

// CancelInstructionResult is the result of cancel_instruction.
type CancelInstructionResult struct {
	Instruction *Instruction `json:"instruction,omitzero" doc:"the one that was named"`
	Cancelled   int          `json:"cancelled" doc:"how many were outstanding and no longer are"`
	Seq         int64        `json:"seq"`
}

// PlanSummary is one plan in a list.
type PlanSummary struct {
	Plan             string      `json:"plan" doc:"how other methods name it"`
	Path             string      `json:"path"`
	Dialect          string      `json:"dialect,omitzero"`
	DialectReason    string      `json:"dialect_reason,omitzero" doc:"what decided on the dialect; get_plan has everything that speaks for one"`
	Totals           Totals      `json:"totals"`
	Fingerprint      Fingerprint `json:"fingerprint"`
	DiagnosticsCount int         `json:"diagnostics_count"`
	Error            *PlanError  `json:"error,omitzero" doc:"why it cannot be read"`
	Stale            string      `json:"stale,omitzero" doc:"why this is the last good reading and not the file as it is"`
	StaleReason      string      `json:"stale_reason,omitzero" doc:"what is wrong with the file, as in error, also if nothing was read before"`
	StaleSince       Time        `json:"stale_since,omitzero" doc:"when this process first found that the file cannot be read as it is"`
	AsOf             Time        `json:"as_of,omitzero" doc:"when the version was written that is shown instead"`
}

// PlanError says why a plan cannot be read.
type PlanError struct {
	Code    Code   `json:"code"`
	Reason  string `json:"reason,omitzero"`
	Message string `json:"message"`
}

// PlanList is the result of list_plans.
type PlanList struct {
	Items    []PlanSummary `json:"items"`
	Problems []string      `json:"problems" doc:"a sentence each: what could not be searched, how many plans there are if only the latest 100 are listed, and how many files were not looked into; plans may be missing from items"`
	Others   []OtherFile   `json:"others" doc:"files and folders in which no item was found; they lie where tools keep plans among other files"`
}

// OtherFile is a file or a folder that lies where plans do and is none.
type OtherFile struct {
	Path string    `json:"path"`
	Why  PlanError `json:"why" doc:"why it is no plan"`
}

// Plan is the result of get_plan.
type Plan struct {
	Plan        string            `json:"plan"`
	Path        string            `json:"path"`
	Dialect     string            `json:"dialect"`
	Fingerprint Fingerprint       `json:"fingerprint"`
	Totals      Totals            `json:"totals"`
	Items       []Item            `json:"items"`
	Diagnostics []Diagnostic      `json:"diagnostics"`
	Evidence    []DialectSign     `json:"evidence" doc:"what speaks for the dialect, that which decided first, and what speaks for others"`
	Marks       map[string]string `json:"marks,omitzero" doc:"what - and ~ and the marks of a legend mean in a box: a status for each; absent where tasks are no boxes"`
	Stale       string            `json:"stale,omitzero" doc:"why this is the last good reading and not the file as it is"`
	StaleReason string            `json:"stale_reason,omitzero" doc:"what is wrong with the file then, such as not_regular, outside_workspace or no_items"`
	StaleSince  Time              `json:"stale_since,omitzero" doc:"when this process first found that the file cannot be read as it is"`
	AsOf        Time              `json:"as_of,omitzero" doc:"when the version was written that is shown instead"`
}

// DialectSign is something that speaks for a dialect.
type DialectSign struct {
	Line    int    `json:"line,omitzero" doc:"where it stands; absent if it is not in the file, but said by its path or the configuration"`
	Dialect string `json:"dialect"`
	Signal  string `json:"signal"`
}

// DialectRule is a part of the configuration: what the plans at some paths are read in.
type DialectRule struct {
	Pattern string `json:"pattern"`
	Dialect string `json:"dialect"`
}

// SetItemStatusResult is the result of set_item_status.
type SetItemStatusResult struct {
	Item         Item        `json:"item" doc:"as the plan has it now"`
	Fingerprint  Fingerprint `json:"fingerprint" doc:"of the file as it is now"`
	ChangedBytes int         `json:"changed_bytes" doc:"0 if the item had the status already"`
	Seq          int64       `json:"seq"`
}

// InitRunResult is the result of init_run.
type InitRunResult struct {
	Run         Run    `json:"run"`
	Created     bool   `json:"created"`
	NextAction  string `json:"next_action" schema:"enum=dispatch_worker|dispatch_reviewer|dispatch_worker_fixes|retry_worker|retry_with_preamble|spawn_fresh_reviewer|advance_to_next_item|plan_completed|halt_and_escalate"`
	Next        Next   `json:"next"`
	RetryPrompt string `json:"retry_prompt,omitzero" doc:"with retry_with_preamble"`
	Seq         int64  `json:"seq"`
}

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
	Tokenizer          string     `json:"tokenizer" schema:"enum=estimate|o200k" doc:"what the token counts are of"`
	PromptEstimate     int        `json:"prompt_tokens_estimate" doc:"prompt_tokens_after as the estimate has it"`
	PromptResend       int        `json:"prompt_tokens_resend" doc:"estimate of a prompt with the whole plan and all facts in it, which the packet spares"`
	Compaction         Compaction `json:"compaction"`
	Omitted            []Omission `json:"omitted"`
	LedgerMode         string     `json:"ledger_mode" schema:"enum=ledger_only|ledger_plus_fallback"`
	FallbackReason     string     `json:"fallback_reason,omitzero"`
	FallbackDetail     string     `json:"fallback_detail,omitzero" doc:"what is wrong with the file, for a person"`
	FallbackSince      Time       `json:"fallback_since,omitzero" doc:"when this process first found that the file cannot be read as it is"`
	LedgerAsOf         Time       `json:"ledger_as_of,omitzero" doc:"when the version of the plan was written that is used instead"`
	Rebuilt            bool       `json:"rebuilt" doc:"whether the plan was read anew"`

	Blocks []PromptBlock `json:"blocks,omitzero" doc:"only if the call has blocks; their texts joined are the prompt"`

	LastPrompt     *LastPrompt `json:"last_prompt,omitzero" doc:"only with preview: what was given last for this role of the run; absent if nothing was"`
	LastPromptLost string      `json:"last_prompt_lost,omitzero" schema:"enum=too_large|damaged" doc:"only with preview: why last_prompt is not there although there was one"`
}

// LastPrompt is the prompt that was given last for a role of a run. Nothing is decided by it. It is kept for
// 30 days, and it may lack one of the last second before waybill was killed.
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

// Packet is the set of ledger facts behind the stable prefix.
type Packet struct {
	Cursor  string            `json:"cursor"`
	Base    string            `json:"base,omitzero" doc:"the cursor that a delta builds on"`
	Mode    string            `json:"mode" schema:"enum=full|delta"`
	WhyFull string            `json:"why_full,omitzero" schema:"enum=no_cursor|unknown_cursor|other_run|other_prompt"`
	Facts   map[string]string `json:"facts"`
	Removed []string          `json:"removed"`
}

// Compaction says what was done to fit the budget.
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

// Ledger is the result of get_ledger.
type Ledger struct {
	Etag           string          `json:"etag"`
	NotModified    bool            `json:"not_modified,omitzero"`
	TaskLedger     *TaskLedger     `json:"task_ledger,omitzero"`
	ProgressLedger *ProgressLedger `json:"progress_ledger,omitzero"`
	LedgerMode     string          `json:"ledger_mode" schema:"enum=ledger_only|ledger_plus_fallback"`
	FallbackReason string          `json:"fallback_reason,omitzero" doc:"why the progress ledger is not what the file says now"`
	FallbackDetail string          `json:"fallback_detail,omitzero" doc:"what is wrong with the file, for a person"`
	FallbackSince  Time            `json:"fallback_since,omitzero" doc:"when this process first found that the file cannot be read as it is"`
	LedgerAsOf     Time            `json:"ledger_as_of,omitzero" doc:"when the version of the plan was written that is used instead"`
}

// Snapshot is the result of get_snapshot.
type Snapshot struct {
	RunID     string `json:"run_id" schema:"id"`
	Revision  int64  `json:"revision"`
	Status    string `json:"status" schema:"enum=running|blocked|done|failed"`
	Facts     []Fact `json:"facts"`
	UpdatedAt Time   `json:"updated_at"`
}

// EventList is the result of events_since.
type EventList struct {
	Events []Event `json:"events"`
	Cursor string  `json:"cursor" doc:"for the next call"`
	More   bool    `json:"more"`
}

// NoticeList is the result of list_notices.
type NoticeList struct {
	Items      []Notice `json:"items"`
	NextCursor string   `json:"next_cursor,omitzero"`
}

// ConsumeNoticesResult is the result of consume_notices.
type ConsumeNoticesResult struct {
	Consumed []string `json:"consumed" doc:"those that were still there"`
	Seq      int64    `json:"seq"`
}

// Explanation is the result of explain.
type Explanation struct {
	Subject string     `json:"subject"`
	State   string     `json:"state"`
	Because []Because  `json:"because"`
	Next    []NextStep `json:"next"`
}

// Because is one reason for a state.
type Because struct {
	Rule     string `json:"rule"`
	Text     string `json:"text"`
	EventSeq int64  `json:"event_seq,omitzero"`
}

// NextStep is something that would move the subject on.
type NextStep struct {
	Action string `json:"action"`
	Text   string `json:"text"`
}

// OpenRPC is the result of rpc.discover: the OpenRPC document, as generated.
type OpenRPC struct{ jsontext.Value }

// InstructionNote is the params of instruction/available and instruction/updated. A content of more
// than 4 KiB is left out; it comes with the dispatch.
type InstructionNote struct {
	Seq           int64  `json:"seq"`
	SubjectID     string `json:"subject_id" schema:"id"`
	State         string `json:"state" schema:"enum=queued|sent|acknowledged|failed|cancelled"`
	InstructionID string `json:"instruction_id" schema:"id"`
	SessionID     string `json:"session_id" schema:"id"`
	Tracked       bool   `json:"tracked"`
	Priority      bool   `json:"priority"`
	Sends         int    `json:"sends"`
	SendsMax      int    `json:"sends_max"`
	Content       string `json:"content,omitzero"`
	ContentBytes  int    `json:"content_bytes"`
	Reason        string `json:"reason,omitzero"`
}

// LedgerNote is the params of ledger/changed.
type LedgerNote struct {
	Seq         int64       `json:"seq"`
	Plan        string      `json:"plan"`
	Fingerprint Fingerprint `json:"fingerprint"`
	ChangedIDs  []string    `json:"changed_ids" doc:"items that were added, removed or read differently"`
	Unseen      bool        `json:"unseen,omitzero" doc:"the plan changed while no process looked, so it is not known which items did"`
	Gone        bool        `json:"gone,omitzero" doc:"the file is not there any more; the fingerprint is that of what it said last"`
	Stale       string      `json:"stale,omitzero" doc:"why the file cannot be read as it is, if it cannot; the fingerprint is that of what it said last"`
	StaleReason string      `json:"stale_reason,omitzero" doc:"what is wrong with the file then, such as missing, not_regular or no_items"`
}

// NoticeNote is the params of notice/posted. Notices about the tasks of one session that are posted
// shortly after one another come in one.
type NoticeNote struct {
	Seq     int64    `json:"seq"`
	Notice  Notice   `json:"notice" doc:"the last of notices"`
	Notices []Notice `json:"notices" doc:"all that come with this, in order"`
}

// LogNote is the params of log. It is about no event, so it carries no seq.
type LogNote struct {
	Level   string `json:"level" schema:"enum=warning|error"`
	Message string `json:"message"`
	Dropped int    `json:"dropped,omitzero" doc:"how many notifications were dropped in this place; events_since has what they were about"`
}
