package schema

// Declarations about runs: params, results, and their objects.

// ReadyItemsParams are the params of ready_items.
type ReadyItemsParams struct {
	Plan  string `json:"plan" schema:"required" doc:"the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder"`
	Limit *int   `json:"limit,omitzero" schema:"min=1,max=500,default=50" doc:"of ready; waiting has every other item"`
}

// ResumeRunParams are the params of resume_run.
type ResumeRunParams struct {
	Plan   string `json:"plan" schema:"required" doc:"the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder"`
	ItemID string `json:"item_id" schema:"required"`
}

// ListRunsParams are the params of list_runs.
type ListRunsParams struct {
	Plan  string `json:"plan,omitzero" doc:"only runs of this plan: its path or its short name"`
	State string `json:"state,omitzero" schema:"enum=running|blocked|done|failed"`
	RunID string `json:"run_id,omitzero" schema:"id" doc:"this run alone, without plan, state and cursor"`
	Page
}

// RunList is a page of runs.
type RunList struct {
	Items      []Run  `json:"items"`
	NextCursor string `json:"next_cursor,omitzero"`
}

// IngestOutputParams are the params of ingest_output: a text, or the path of a file with it.
type IngestOutputParams struct {
	RunID           string  `json:"run_id" schema:"required,id"`
	Role            string  `json:"role" schema:"required,enum=worker|implementer|spec-reviewer|code-quality-reviewer|reviewer"`
	Output          *string `json:"output,omitzero" doc:"what the agent printed; \"\" for an agent that printed nothing"`
	OutputPath      string  `json:"output_path,omitzero" doc:"relative to the workspace, or absolute within the workspace or the folder of --output-dir"`
	TaskID          string  `json:"task_id,omitzero" schema:"id" doc:"the task of the queue that has this result; its id is then also accepted as task_id in the text"`
	AttemptID       string  `json:"attempt_id,omitzero" schema:"id"`
	LeaseToken      string  `json:"lease_token,omitzero" doc:"finishes the attempt that has this lease, in the same transaction"`
	Prompt          string  `json:"prompt,omitzero" doc:"the prompt of the agent, which a retry prompt repeats; by default that of the task, or of compile_prompt"`
	MaxOutputTokens *int    `json:"max_output_tokens,omitzero" schema:"min=1,max=1000000000" doc:"more than that in the result is a warning"`
	Tree            string  `json:"tree,omitzero" doc:"the tree of the present files; without it, an approval makes the receipts of the run stale, and its checks run again"`
	Keyed
}

// ReplanParams are the params of replan.
type ReplanParams struct {
	RunID     string   `json:"run_id" schema:"required,id"`
	Summary   string   `json:"summary" schema:"required" doc:"the changes that are needed"`
	PlanItems []string `json:"plan_items,omitzero" doc:"the steps from here on, in order; without them those of the last version"`
	Keyed
}

// UnblockRunParams are the params of unblock_run.
type UnblockRunParams struct {
	RunID  string `json:"run_id" schema:"required,id"`
	Reason string `json:"reason,omitzero" doc:"the solved cause; the event has it as why"`
	Keyed
}

// TelemetryParams are the params of get_telemetry.
type TelemetryParams struct {
	RunID string `json:"run_id,omitzero" schema:"id" doc:"without it, all runs"`
}

// ReadyItems is the result of ready_items.
type ReadyItems struct {
	OpenBoxes   []Diagnostic  `json:"open_boxes,omitzero" doc:"the first open boxes and signs that are not items, so that no run can work on them; a person does them or adds an id"`
	Ready       []string      `json:"ready" doc:"in the order of the plan, which is no dependency; a single worker takes the first"`
	Parallel    []string      `json:"parallel" doc:"those of ready that the plan says may be worked on beside others"`
	ReadyTotal  int           `json:"ready_total"`
	Waiting     []WaitingItem `json:"waiting"`
	Left        int           `json:"left" doc:"items that have to be done and are not, plus unread"`
	Unread      int           `json:"unread,omitzero" doc:"number of open boxes and signs of the plan that are not items; the plan is not completed while there are any"`
	Completed   bool          `json:"completed"`
	Runs        *PlanRuns     `json:"runs,omitzero" doc:"counts from the runs of all items; absent if there are none"`
	Stale       string        `json:"stale,omitzero" doc:"why this rests on the last good reading and not on the file as it is"`
	StaleReason string        `json:"stale_reason,omitzero" doc:"the problem of the file, such as not_regular, outside_workspace or no_items"`
	StaleSince  Time          `json:"stale_since,omitzero" doc:"when this process first found that the file cannot be read as it is"`
	AsOf        Time          `json:"as_of,omitzero" doc:"when the version was written that this rests on instead"`
}

// ResumeRunResult is the result of resume_run.
type ResumeRunResult struct {
	Run                 Run         `json:"run"`
	ResumptionPrompt    string      `json:"resumption_prompt"`
	Stale               bool        `json:"stale" doc:"whether the plan reads differently than when the run saw it last, or cannot be read"`
	ProgressLedgerError *PlanError  `json:"progress_ledger_error,omitzero"`
	NextAction          string      `json:"next_action" schema:"enum=dispatch_worker|dispatch_reviewer|dispatch_worker_fixes|retry_worker|retry_with_preamble|spawn_fresh_reviewer|run_checks|advance_to_next_item|plan_completed|halt_and_escalate"`
	Next                Next        `json:"next"`
	RetryPrompt         string      `json:"retry_prompt,omitzero" doc:"with retry_with_preamble"`
	Evidence            *Evidence   `json:"evidence,omitzero" doc:"with plan_completed"`
	TaskLedger          *TaskLedger `json:"task_ledger"`
}

// IngestOutputResult is the result of ingest_output.
type IngestOutputResult struct {
	Verdict      string          `json:"verdict" schema:"enum=pass|gaps|error|invalid"`
	Grammar      string          `json:"grammar" schema:"enum=json_block|v2|legacy|none"`
	Result       *Result         `json:"result,omitzero" doc:"absent if nothing could be read"`
	Errors       []ResultError   `json:"errors" doc:"why it is invalid, all of it"`
	Warnings     []ResultWarning `json:"warnings"`
	NextAction   string          `json:"next_action,omitzero" doc:"absent if it was not applied" schema:"enum=dispatch_worker|dispatch_reviewer|dispatch_worker_fixes|retry_worker|retry_with_preamble|spawn_fresh_reviewer|run_checks|advance_to_next_item|plan_completed|halt_and_escalate"`
	Next         *Next           `json:"next,omitzero"`
	Decision     *Decision       `json:"decision,omitzero" doc:"absent if nothing moved"`
	RetryPrompt  string          `json:"retry_prompt,omitzero"`
	Counters     Counters        `json:"counters"`
	TaskLedger   *TaskLedger     `json:"task_ledger"`
	Run          Run             `json:"run"`
	Evidence     *Evidence       `json:"evidence,omitzero" doc:"with plan_completed"`
	RetryContext bool            `json:"retry_context,omitzero" doc:"whether the agent was given a retry prompt"`
	OutputTokens int             `json:"output_tokens" doc:"an estimate for the result alone"`
	Applied      bool            `json:"applied"`
	Already      bool            `json:"already,omitzero" doc:"whether this very result of the attempt was taken before; then nothing moved"`
	Reason       string          `json:"reason,omitzero" schema:"enum=stale_attempt"`
	Task         *Task           `json:"task,omitzero" doc:"whose attempt was finished"`
	Attempt      *Attempt        `json:"attempt,omitzero"`
	Seq          int64           `json:"seq"`
}

// Moved is the state of a run after a change.
type Moved struct {
	Run         Run    `json:"run"`
	RetryPrompt string `json:"retry_prompt,omitzero" doc:"with retry_with_preamble"`
	NextAction  string `json:"next_action" schema:"enum=dispatch_worker|dispatch_reviewer|dispatch_worker_fixes|retry_worker|retry_with_preamble|spawn_fresh_reviewer|run_checks|advance_to_next_item|plan_completed|halt_and_escalate"`
	Next        Next   `json:"next"`
	Seq         int64  `json:"seq"`
}

// ReplanResult is the result of replan.
type ReplanResult struct {
	Moved
	TaskLedger      *TaskLedger `json:"task_ledger"`
	FrontierChanged bool        `json:"frontier_changed" doc:"whether something else is to be done next; only that ends a block"`
}

// UnblockRunResult is the result of unblock_run.
type UnblockRunResult struct{ Moved }

// Telemetry is the result of get_telemetry. After a kill, counts of compiled prompts may lack the last second; all
// others are exact.
type Telemetry struct {
	Dispatch         DispatchCounts   `json:"dispatch"`
	Tokens           TokenCounts      `json:"tokens"`
	Packets          PacketCounts     `json:"packets"`
	PromptVersions   map[string]int64 `json:"prompt_versions"`
	Cut              map[string]int64 `json:"cut" doc:"how often a fact, or an item.X of the plan, was shortened or left out to fit a budget"`
	CompactionStages map[string]int64 `json:"compaction_stages"`
	LedgerModes      map[string]int64 `json:"ledger_modes"`
	Rebuilds         RebuildCounts    `json:"rebuilds"`
	Verdicts         map[string]int64 `json:"verdicts"`
	Grammars         map[string]int64 `json:"grammars"`
	Errors           map[string]int64 `json:"errors" doc:"of invalid results, by code"`
	NextActions      map[string]int64 `json:"next_actions" doc:"as they were given with results"`
}

// DispatchCounts count prompts and results.
type DispatchCounts struct {
	Prompts          int64 `json:"prompts" doc:"compiled"`
	Overflows        int64 `json:"overflows" doc:"refused because they were over their budget"`
	Results          int64 `json:"results" doc:"judged"`
	RetryPrompts     int64 `json:"retry_prompts"`
	ReviewRejections int64 `json:"review_rejections"`
}

// TokenCounts sum up estimates of tokens.
type TokenCounts struct {
	PromptsBefore int64 `json:"prompts_before" doc:"of all prompts before they were compacted"`
	PromptsAfter  int64 `json:"prompts_after"`
	Results       int64 `json:"results"`
	Sent          int64 `json:"sent" doc:"prompts_after as the estimate has it"`
	Resend        int64 `json:"resend" doc:"the same prompts with the whole plan and all facts, by the same estimate"`
	Saved         int64 `json:"saved" doc:"resend less sent"`
}

// PacketCounts count the packets of prompts.
type PacketCounts struct {
	Full    int64            `json:"full"`
	Delta   int64            `json:"delta"`
	WhyFull map[string]int64 `json:"why_full"`
}

// RebuildCounts count the new readings of a plan for the facts of a run, and the failed ones.
type RebuildCounts struct {
	Total      int64            `json:"total"`
	Fallbacks  map[string]int64 `json:"fallbacks" doc:"by reason"`
	FallbackMS int64            `json:"fallback_ms" doc:"sum over all prompts that used the last reading: time for which the plan had been unreadable"`
}

// Result is the result of an agent, without the members that it lacks.
type Result struct {
	Role            string        `json:"role"`
	TaskID          string        `json:"task_id,omitzero"`
	Status          string        `json:"status" doc:"the agent's own word"`
	GitRange        string        `json:"git_range,omitzero"`
	Confidence      string        `json:"confidence,omitzero"`
	Summary         string        `json:"summary,omitzero"`
	Issues          []ReviewIssue `json:"issues"`
	FilesChanged    []string      `json:"files_changed"`
	Tests           []ResultTest  `json:"tests"`
	FollowUpActions []string      `json:"follow_up_actions"`
	Strengths       []string      `json:"strengths"`
	RequiredFixes   []string      `json:"required_fixes"`
}

// ResultTest is a check that a worker ran.
type ResultTest struct {
	Command  string   `json:"command"`
	Passed   bool     `json:"passed"`
	Failures []string `json:"failures"`
}

// ResultError is one reason why a result is invalid.
type ResultError struct {
	Code     string `json:"code"`
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
	Line     int    `json:"line"`
	Message  string `json:"message"`
}

// ResultWarning is a tolerated or odd part that changed nothing.
type ResultWarning struct {
	Code    string `json:"code"`
	Line    int    `json:"line,omitzero"`
	Message string `json:"message"`
}

// Next is the next action of a run, with its reason.
type Next struct {
	Action  string   `json:"action" schema:"enum=dispatch_worker|dispatch_reviewer|dispatch_worker_fixes|retry_worker|retry_with_preamble|spawn_fresh_reviewer|run_checks|advance_to_next_item|plan_completed|halt_and_escalate"`
	Role    string   `json:"role,omitzero" doc:"the role of the agent, if one has to act"`
	ItemIDs []string `json:"item_ids" doc:"with advance_to_next_item: the items that can begin now"`
	Checks  []string `json:"checks,omitzero" doc:"with run_checks: the required checks that are not green on the present files"`
}

// Decision is the rule that moved a run.
type Decision struct {
	Rule  string `json:"rule"`
	Count int    `json:"count,omitzero" doc:"present count of the rule"`
	Limit int    `json:"limit,omitzero" doc:"the number at which it does something else"`
}

// Evidence holds the proof of a completed plan.
type Evidence struct {
	AcceptanceCriteria []Criterion   `json:"acceptance_criteria"`
	Outcomes           []ItemOutcome `json:"outcomes"`
	FilesChanged       []string      `json:"files_changed"`
}

// Criterion is an acceptance criterion in the requirements file of a plan.
type Criterion struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	ID   string `json:"id,omitzero" doc:"by which items name it, such as 1.2 or FR-004"`
}

// ItemOutcome is the outcome of one item of a plan.
type ItemOutcome struct {
	ItemID           string   `json:"item_id"`
	Title            string   `json:"title"`
	DoneBy           string   `json:"done_by" schema:"enum=run|plan" doc:"whether a run was approved, or the file says so"`
	RunID            string   `json:"run_id,omitzero"`
	Proof            string   `json:"proof,omitzero" doc:"of a run with required checks: proof.state of the run"`
	Attempts         int      `json:"attempts,omitzero"`
	ReviewRejections int      `json:"review_rejections,omitzero"`
	Summary          string   `json:"summary,omitzero"`
	FilesChanged     []string `json:"files_changed"`
}

// WaitingItem is an item that cannot begin now, with the reasons.
type WaitingItem struct {
	ItemID  string `json:"item_id"`
	Because []Hold `json:"because"`
}

// Hold is one reason why an item cannot begin.
type Hold struct {
	Kind   string `json:"kind" schema:"enum=depends_on|blocked|in_progress|done|parent"`
	ItemID string `json:"item_id,omitzero"`
}

// RunNote is the params of run/updated.
type RunNote struct {
	Seq        int64     `json:"seq"`
	SubjectID  string    `json:"subject_id" schema:"id"`
	Event      string    `json:"event" doc:"the type of the event"`
	RunID      string    `json:"run_id" schema:"id"`
	Plan       string    `json:"plan"`
	ItemID     string    `json:"item_id"`
	State      string    `json:"state" schema:"enum=running|blocked|done|failed"`
	Reason     string    `json:"reason,omitzero" doc:"why it is blocked"`
	Revision   int64     `json:"revision"`
	Role       string    `json:"role,omitzero" doc:"the role of the report"`
	Verdict    string    `json:"verdict,omitzero"`
	Decision   *Decision `json:"decision,omitzero"`
	NextAction string    `json:"next_action,omitzero"`
}
