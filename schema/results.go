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

// Capabilities lists the methods and notifications.
type Capabilities struct {
	Methods       []string `json:"methods"`
	Notifications []string `json:"notifications"`
}

// Limits are the limits in force.
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
	Moves      Moves             `json:"moves"`
	Dialects   []DialectRule     `json:"dialects" doc:"the configuration of the plans' dialects; the first rule that fits a path counts"`
	Settings   []Setting         `json:"settings" doc:"settings of this process that differ from their defaults"`
	Degraded   []string          `json:"degraded" doc:"problems, one sentence each"`
	Well       bool              `json:"well" doc:"whether all is well, which means that attention is empty"`
	Attention  []Concern         `json:"attention" doc:"everything that needs attention, including the sentences of degraded"`
}

// Concern is one thing that needs attention.
type Concern struct {
	Kind    string   `json:"kind" schema:"enum=fault|questions|blocked_runs|failed_tasks|failed_instructions"`
	Text    string   `json:"text" doc:"one sentence for a person"`
	Count   int      `json:"count"`
	IDs     []string `json:"ids" doc:"the first 5 of them; none for a fault"`
	Command []string `json:"command,omitzero" doc:"the words of a command that shows or helps the first of them in a terminal"`
}

// Setting is a setting that differs from its default.
type Setting struct {
	Name   string         `json:"name" doc:"such as prompt.max_output_tokens"`
	Value  jsontext.Value `json:"value"`
	Origin string         `json:"origin" doc:"its source: a flag such as --tokenizer, an environment variable, or the path of a configuration file"`
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

// ConnectionStatus describes the connection of the caller.
type ConnectionStatus struct {
	NotificationsFailed  int64 `json:"notifications_failed" doc:"notifications from the host that were dropped; nothing else reports that they had no effect"`
	NotificationsDropped int64 `json:"notifications_dropped" doc:"notifications that the host did not read in time; events_since has their events"`
}

// Moves counts the state changes of instructions by this process. It excludes sends that were taken back.
type Moves struct {
	First        int64 `json:"first_sends"`
	Repeats      int64 `json:"repeats"`
	Acknowledged int64 `json:"acknowledged" doc:"in time"`
	Failed       int64 `json:"failed"`
}

// Counts counts the records in the store.
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
	Remaining    int           `json:"remaining" doc:"number of instructions of this pass that are left for the next call; none is sent again before"`
	Seq          int64         `json:"seq"`
}

// AcknowledgeResult is the result of acknowledge.
type AcknowledgeResult struct {
	Instruction    Instruction `json:"instruction"`
	Already        bool        `json:"already" doc:"whether this was known before. It is false as well for a standing instruction that waits for its trigger: nothing was acknowledged, and it stays armed. One that was due is armed again"`
	BeforeDispatch bool        `json:"before_dispatch,omitzero" doc:"nothing had been sent, and nothing will be"`
	Seq            int64       `json:"seq"`
}

// ReportEventResult is the result of report_event.
type ReportEventResult struct {
	Acknowledged []string        `json:"acknowledged" doc:"the ids of the instructions that matched"`
	Unmatched    bool            `json:"unmatched" doc:"whether none was acknowledged"`
	Due          []string        `json:"due,omitzero" doc:"the ids of the standing instructions that wait for a dispatch because the event fired their trigger"`
	Matched      []OperatorMatch `json:"matched,omitzero" doc:"what the operators of their rules matched"`
	Seq          int64           `json:"seq"`
}

// OperatorMatch says which operator of an ack_on matched which text of an event.
type OperatorMatch struct {
	InstructionID string `json:"instruction_id" schema:"id"`
	Path          string `json:"path"`
	Operator      string `json:"operator" doc:"of an alternative in $any its own operator, or $any for a plain value"`
	Text          string `json:"text" doc:"its first 200 characters; of $command the command in the line"`
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
	DialectReason    string      `json:"dialect_reason,omitzero" doc:"the evidence that decided the dialect; get_plan has all evidence"`
	Totals           Totals      `json:"totals" doc:"totals of the file"`
	Runs             *PlanRuns   `json:"runs,omitzero" doc:"counts from the runs of its items; absent if there are none"`
	Fingerprint      Fingerprint `json:"fingerprint"`
	DiagnosticsCount int         `json:"diagnostics_count"`
	Error            *PlanError  `json:"error,omitzero" doc:"why it cannot be read"`
	Stale            string      `json:"stale,omitzero" doc:"why this is the last good reading and not the file as it is"`
	StaleReason      string      `json:"stale_reason,omitzero" doc:"the problem of the file, as in error, also without an earlier reading"`
	StaleSince       Time        `json:"stale_since,omitzero" doc:"when this process first found that the file cannot be read as it is"`
	AsOf             Time        `json:"as_of,omitzero" doc:"when the version was written that is shown instead"`
}

// PlanError is the reason why a plan is unreadable.
type PlanError struct {
	Code    Code   `json:"code"`
	Reason  string `json:"reason,omitzero"`
	Message string `json:"message"`
}

// PlanList is the result of list_plans.
type PlanList struct {
	Items    []PlanSummary `json:"items"`
	Problems []string      `json:"problems" doc:"one sentence each: folders that were not searched, the number of plans if only the latest 100 are listed, and the number of files that were not read; plans may be missing from items"`
	Others   []OtherFile   `json:"others" doc:"files and folders in which no item was found; they lie where tools keep plans among other files"`
}

// OtherFile is a file or folder among plans that is not a plan.
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
	Totals      Totals            `json:"totals" doc:"totals of the file"`
	Runs        *PlanRuns         `json:"runs,omitzero" doc:"counts from the runs of its items; absent if there are none"`
	RunsError   *PlanError        `json:"runs_error,omitzero" doc:"why the runs cannot be read; the rest comes from the file alone"`
	Items       []Item            `json:"items"`
	Diagnostics []Diagnostic      `json:"diagnostics"`
	Evidence    []DialectSign     `json:"evidence" doc:"evidence for the dialect, the deciding one first, and for others"`
	Marks       map[string]string `json:"marks,omitzero" doc:"status of each mark in a box: -, ~ and those of a legend; absent if tasks have no boxes"`
	Stale       string            `json:"stale,omitzero" doc:"why this is the last good reading and not the file as it is"`
	StaleReason string            `json:"stale_reason,omitzero" doc:"the problem of the file, such as not_regular, outside_workspace or no_items"`
	StaleSince  Time              `json:"stale_since,omitzero" doc:"when this process first found that the file cannot be read as it is"`
	AsOf        Time              `json:"as_of,omitzero" doc:"when the version was written that is shown instead"`
}

// DialectSign is one piece of evidence for a dialect.
type DialectSign struct {
	Line    int    `json:"line,omitzero" doc:"its line; absent if it is not in the file, but in its path or the configuration"`
	Dialect string `json:"dialect"`
	Signal  string `json:"signal"`
}

// DialectRule names the dialect of the plans at some paths in the configuration.
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
	Run         Run         `json:"run"`
	Created     bool        `json:"created"`
	Directives  *Directives `json:"directives,omitzero" doc:"directives of the item for its run; run.policy has the reviewers"`
	NextAction  string      `json:"next_action" schema:"enum=dispatch_worker|dispatch_reviewer|dispatch_worker_fixes|retry_worker|retry_with_preamble|spawn_fresh_reviewer|run_checks|advance_to_next_item|plan_completed|halt_and_escalate"`
	Next        Next        `json:"next"`
	RetryPrompt string      `json:"retry_prompt,omitzero" doc:"with retry_with_preamble"`
	Seq         int64       `json:"seq"`
}

// Directives are the directives of an item for its run.
type Directives struct {
	Review string `json:"review,omitzero" schema:"enum=spec-only|none|full" doc:"the reviewers of the run, unless policy.reviewers says otherwise"`
	Model  string `json:"model,omitzero" doc:"as in the plan; with a provider before a slash, it is the first model of the run's tasks that name none"`
}

// Ledger is the result of get_ledger.
type Ledger struct {
	Etag           string          `json:"etag"`
	NotModified    bool            `json:"not_modified,omitzero"`
	TaskLedger     *TaskLedger     `json:"task_ledger,omitzero"`
	ProgressLedger *ProgressLedger `json:"progress_ledger,omitzero"`
	LedgerMode     string          `json:"ledger_mode" schema:"enum=ledger_only|ledger_plus_fallback"`
	FallbackReason string          `json:"fallback_reason,omitzero" doc:"why the progress ledger differs from the file"`
	FallbackDetail string          `json:"fallback_detail,omitzero" doc:"the problem of the file, for a person"`
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
	Rule     string   `json:"rule"`
	Text     string   `json:"text"`
	EventSeq int64    `json:"event_seq,omitzero"`
	IDs      []string `json:"ids,omitzero" doc:"the first 5 tasks, attempts, runs or items that text speaks of"`
}

// NextStep is a call that would change the state of the subject.
type NextStep struct {
	Action  string   `json:"action" doc:"a method, or edit_plan where a person has to edit the plan file"`
	Text    string   `json:"text"`
	Subject string   `json:"subject" doc:"the id that the method acts on: the explained thing, or one that it waits for"`
	By      []string `json:"by" schema:"enum=host|person|waybill|agent" doc:"the possible callers, the usual one first; waybill means waybill work"`
	Command []string `json:"command,omitzero" doc:"the words of a command that does the same in a terminal; … stands for a text, COMMAND for the command of an agent"`
}

// OpenRPC is the result of rpc.discover: the OpenRPC document, as generated.
type OpenRPC struct{ jsontext.Value }
