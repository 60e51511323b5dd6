// Generated from the declarations in schema/ by `go test ./schema -run TestGenerated -update`. Do not edit.

/** The version of the protocol that is described here. */
export type ProtocolVersion = 1;

/** A Time is an RFC 3339 instant in UTC. */
export type Time = string;

/** A Code is the stable name of an error: the contract of data.code. */
export type ErrorCode =
  /** The message is not JSON. The session goes on with the next message. */
  | "PARSE_ERROR"
  /** The frame around the message is broken. The session goes on with the next frame that can be found. */
  | "FRAMING_ERROR"
  /** The message is not valid UTF-8, or has half of a surrogate pair. */
  | "INVALID_UTF8"
  /** The message is JSON but not a request. */
  | "INVALID_REQUEST"
  /** A request with the same id is still being worked on. */
  | "DUPLICATE_ID"
  /** A member occurs twice in one object. */
  | "DUPLICATE_KEY"
  /** The batch is empty or has too many members. */
  | "INVALID_BATCH"
  /** The message is larger than limits.max_message_bytes. */
  | "MESSAGE_TOO_LARGE"
  /** The message is nested more deeply than 128 levels. */
  | "NESTING_TOO_DEEP"
  /** There is no such method; details.did_you_mean lists the nearest. */
  | "METHOD_NOT_FOUND"
  /** A param is missing or not of its type; details.errors lists all of them with a JSON Pointer each. */
  | "INVALID_PARAMS"
  /** A param is not known; details names it and the nearest known one. */
  | "UNKNOWN_FIELD"
  /** The content is empty or only white space. */
  | "EMPTY_CONTENT"
  /** The path leaves the workspace or is not a portable relative path. */
  | "PATH_OUTSIDE_WORKSPACE"
  /** A defect of waybill. data.incident finds the details in its log. */
  | "INTERNAL"
  /** The request was cancelled before anything was applied. */
  | "CANCELLED"
  /** Over HTTP only: the token is missing or wrong, or the one-time code is spent. */
  | "UNAUTHORIZED"
  /** Over HTTP only: the request was meant for another host, or a page of another origin sent it. */
  | "FORBIDDEN"
  /** Over HTTP only: the path is there and takes other verbs; details.allow lists them. */
  | "METHOD_NOT_ALLOWED"
  /** Over HTTP only: a body must be application/json and not be compressed. */
  | "UNSUPPORTED_MEDIA_TYPE"
  /** The thing is in a state that does not allow this; data.details.state, of a task status, names it, and allowed what it allows. */
  | "INVALID_STATE"
  /** No instruction has this id. */
  | "INSTRUCTION_NOT_FOUND"
  /** No task has this id. */
  | "TASK_NOT_FOUND"
  /** The task has no attempt with this id. */
  | "ATTEMPT_NOT_FOUND"
  /** No run has this id. */
  | "RUN_NOT_FOUND"
  /** The workspace has no such plan. */
  | "PLAN_NOT_FOUND"
  /** There is no file at output_path, or it cannot be read; details.reason says which. */
  | "OUTPUT_NOT_FOUND"
  /** Nothing has this id. */
  | "SUBJECT_NOT_FOUND"
  /** The cursor is older than the log that is kept, or of another log, such as one before a restore; after reading the lists anew, details.newest is where to go on, and details.oldest with all that the log has. */
  | "CURSOR_EXPIRED"
  /** The idempotency key was used before with other params. */
  | "IDEMPOTENCY_MISMATCH"
  /** The task cannot take this besides what is under way; details.status names where it is. Or the plan file is not what the caller had read; details.expected_hash and found_hash tell the two apart. */
  | "CONFLICT"
  /** The question was answered, or the task has gone on since; details.status names where it is. */
  | "ALREADY_RESOLVED"
  /** The session is of another task or runs an attempt now, or the attempt runs in another session. */
  | "SESSION_ALREADY_BOUND"
  /** The attempt is over and does not change any more. */
  | "ATTEMPT_FINALIZED"
  /** A value is over its limit; details.limit names it. */
  | "TOO_LARGE"
  /** The plan file is not there. */
  | "progress_ledger_missing_tasks"
  /** No item can be read from the plan file; details says what was tried. */
  | "progress_ledger_parse_failed"
  /** A fact that the prompt needs is missing or damaged. */
  | "progress_ledger_incomplete"
  /** The plan has no item with this id. */
  | "item_not_found"
  /** The item cannot be given this status in its plan; details.reason says why, and lines where it stands. */
  | "ITEM_NOT_SETTABLE"
  /** The plan file can be read and not written; details.reason says why. */
  | "PLAN_NOT_WRITABLE"
  /** The prompt is over its budget and nothing more may be cut from it. */
  | "dispatch_prompt_overflow_terminal"
  /** No workspace could be found; the message lists what was tried. */
  | "WORKSPACE_UNRESOLVED"
  /** The protocol version is not served; details has the range. */
  | "UNSUPPORTED_VERSION"
  /** Too many instructions wait already. */
  | "QUEUE_FULL"
  /** Too many requests are in hand already. */
  | "OVERLOADED"
  /** waybill is on its way out; nothing new is accepted. */
  | "SHUTTING_DOWN"
  /** The disk is full. Acknowledging existing work and reading go on. */
  | "STORE_FULL"
  /** The store could not be read or written; retry with the same idempotency key. */
  | "STORE_IO_ERROR"
  /** The store can be read only. */
  | "STORE_READ_ONLY"
  /** The store was written by a newer waybill. */
  | "STORE_NEWER_SCHEMA"
  /** Another process holds the store. */
  | "STORE_BUSY"
  /** The store, or a record in it, is not what was written; the message says which. Nothing of it was deleted. */
  | "STORE_CORRUPT"
  /** The file of the store was removed or replaced while it was open; the message says where its rescued content lies. */
  | "STORE_LOST"
  /** The store lies where it cannot be used safely. */
  | "STORE_UNSAFE";

/** AckRule says which reported events acknowledge an instruction. */
export interface AckRule {
  /** the exact type */
  event_type: string;
  /** path to value: dotted, list positions as numbers, or a JSON Pointer; every value must be equal */
  match?: Record<string, unknown>;
}

/** AcknowledgeParams are the params of acknowledge. */
export interface AcknowledgeParams {
  instruction_id: string;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** AcknowledgeResult is the result of acknowledge. */
export interface AcknowledgeResult {
  instruction: Instruction;
  /** whether this was known before */
  already: boolean;
  /** nothing had been sent, and nothing will be */
  before_dispatch?: boolean;
  seq: number;
}

/** Attempt is one execution of a task. */
export interface Attempt {
  attempt_id: string;
  task_id: string;
  /** from 1 */
  attempt_number: number;
  /** why it was made */
  cause: "first" | "retry" | "reply" | "request";
  status: "pending" | "running" | "completed" | "error" | "cancelled" | "interrupted" | "lost" | "awaiting_response";
  worker?: string;
  session_id?: string;
  model?: Model;
  /** in a timeline, of a long one the beginning */
  error?: string;
  error_class?: "transient" | "provider" | "terminal" | "user";
  created_at: Time;
  started_at?: Time;
  completed_at?: Time;
  /** of one that began and is over */
  duration_ms?: number;
  /** the clock was set back to before it began; duration_ms is then 0 */
  clock_skew?: boolean;
  /** reports that came when it was not theirs to make any more */
  stale_events: number;
}

/** AttemptNote is the params of attempt/updated. */
export interface AttemptNote {
  seq: number;
  subject_id: string;
  /** the type of the event */
  event: string;
  attempt_id: string;
  task_id: string;
  attempt_number: number;
  status: "pending" | "running" | "completed" | "error" | "cancelled" | "interrupted" | "lost" | "awaiting_response";
  worker?: string;
  session_id?: string;
  model?: string;
  error_class?: string;
  /** of a progress */
  message?: string;
  /** of a report that came too late: which */
  call?: string;
}

/** AttemptReport says what became of a report about an attempt. */
export interface AttemptReport {
  applied: boolean;
  /** why it was not applied */
  reason?: "stale_attempt" | "unknown_session";
  attempt?: Attempt;
  seq: number;
}

/** Awaiting is a task that waits for a person. */
export interface Awaiting {
  task_id: string;
  /** the attempt that asked; give it to reply */
  attempt_id: string;
  description?: string;
  question: string;
  /** the end of the output */
  output_excerpt: string;
  since: Time;
  waiting_ms: number;
  /** the clock was set back since it began to wait */
  clock_skew?: boolean;
  url?: string;
}

/** AwaitingList is a page of tasks that wait for a person. */
export interface AwaitingList {
  items: Array<Awaiting>;
  next_cursor?: string;
}

/** Because is one reason for a state. */
export interface Because {
  rule: string;
  text: string;
  event_seq?: number;
}

/** BindSessionParams are the params of bind_session. */
export interface BindSessionParams {
  task_id: string;
  attempt_id: string;
  lease_token: string;
  session_id: string;
  /** what it really runs on */
  model?: Model;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** CancelInstructionParams are the params of cancel_instruction: one instruction, or all of a session. */
export interface CancelInstructionParams {
  instruction_id?: string;
  /** with all: the session to clear */
  session_id?: string;
  /** default `false` */
  all?: boolean;
  reason?: string;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** CancelInstructionResult is the result of cancel_instruction. */
export interface CancelInstructionResult {
  /** the one that was named */
  instruction?: Instruction;
  /** how many were outstanding and no longer are */
  cancelled: number;
  seq: number;
}

/** CancelParams are the params of $/cancelRequest. */
export interface CancelParams {
  /** the id of the request to cancel */
  id: unknown;
}

/** CancelTaskParams are the params of cancel_task. */
export interface CancelTaskParams {
  task_id: string;
  reason?: string;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** Capabilities lists what can be called and heard. */
export interface Capabilities {
  methods: Array<string>;
  notifications: Array<string>;
}

/** Claim is a task in the hands of a worker. */
export interface Claim {
  task: Task;
  attempt: Attempt;
  lease: Lease;
  /** what to run */
  prompt: string;
  /** whether prompt carries a person's answer */
  continuation: boolean;
}

/** ClaimTaskParams are the params of claim_task. */
export interface ClaimTaskParams {
  worker: string;
  run_id?: string;
  role?: "worker" | "implementer" | "spec-reviewer" | "code-quality-reviewer" | "reviewer";
  /** how long to wait for a task; a whole number from 0 to 25000; default `0` */
  wait_ms?: number;
  /** a whole number from 1000 to 3600000; default `60000` */
  lease_ms?: number;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** ClaimTaskResult is the result of claim_task. */
export interface ClaimTaskResult {
  /** null if no task is ready */
  claim: Claim | null;
  seq: number;
}

/** ClientInfo names the host. */
export interface ClientInfo {
  name?: string;
  version?: string;
  [ignored: string]: unknown;
}

/** Compaction says what was done to fit the budget. */
export interface Compaction {
  applied: boolean;
  stage: string;
  trace: Array<TraceStep>;
}

/** CompactionParams steer how a prompt over its budget is made smaller. A prompt that fits is not touched; what of them then has no part in it, omitted says. */
export interface CompactionParams {
  /** false: a prompt over its budget is an error at once; default: the setting `prompt.compaction.auto`, which is `true` where it is not set */
  auto?: boolean;
  /** false: the stage prune_packet is left out; default: the setting `prompt.compaction.prune`, which is `true` where it is not set */
  prune?: boolean;
  /** said in a prompt that is shortened */
  context?: Array<string>;
  /** takes the place of the task prompt in one that is shortened, word for word */
  prompt_override?: string;
}

/** CompilePromptParams are the params of compile_prompt. */
export interface CompilePromptParams {
  run_id: string;
  role: "worker" | "implementer" | "spec-reviewer" | "code-quality-reviewer" | "reviewer";
  /** replaces the item's own prompt, word for word */
  task_prompt?: string;
  /** packet.cursor that the agent acknowledged last */
  since?: string;
  /** a whole number from 1 to 1000000000; default: the setting `prompt.max_output_tokens`, which is `1200` where it is not set */
  max_output_tokens?: number;
  /** what the model takes in; a whole number from 1 to 1000000000; default: the setting `prompt.max_input_tokens` */
  max_input_tokens?: number;
  /** how tokens are counted: four characters each, or with the vocabulary o200k_base; default: the setting `prompt.tokenizer`, which is `estimate` where it is not set */
  tokenizer?: "estimate" | "o200k";
  compaction?: CompactionParams;
  /** give the sections of the prompt by themselves, too, with whose words they hold */
  blocks?: boolean;
  /** only to see what would be sent: it is neither counted nor kept as the prompt that was given last, which the result has instead */
  preview?: boolean;
}

/** CompilePromptResult is the result of compile_prompt. */
export interface CompilePromptResult {
  prompt: string;
  stable_prefix: string;
  /** SHA-256, hex */
  stable_prefix_hash: string;
  /** the version of the stable prefixes: the same version has the same bytes */
  prompt_version: string;
  /** SHA-256, hex */
  full_prompt_hash: string;
  packet: Packet;
  prompt_tokens_before: number;
  prompt_tokens_after: number;
  prompt_token_budget: number;
  /** what the token counts are of */
  tokenizer: "estimate" | "o200k";
  /** prompt_tokens_after as the estimate has it */
  prompt_tokens_estimate: number;
  /** estimate of a prompt with the whole plan and all facts in it, which the packet spares */
  prompt_tokens_resend: number;
  compaction: Compaction;
  omitted: Array<Omission>;
  /** only if the item has another title than what the run was begun or replanned for: it may be another item that took the id over; says what to do */
  item_changed?: string;
  ledger_mode: "ledger_only" | "ledger_plus_fallback";
  fallback_reason?: string;
  /** what is wrong with the file, for a person */
  fallback_detail?: string;
  /** when this process first found that the file cannot be read as it is */
  fallback_since?: Time;
  /** when the version of the plan was written that is used instead */
  ledger_as_of?: Time;
  /** whether the plan was read anew */
  rebuilt: boolean;
  /** only if the call has blocks; their texts joined are the prompt */
  blocks?: Array<PromptBlock>;
  /** only with preview: what was given last for this role of the run; absent if nothing was */
  last_prompt?: LastPrompt;
  /** only with preview: why last_prompt is not there although there was one */
  last_prompt_lost?: "too_large" | "damaged";
}

/** ConnectionStatus describes the connection that the question came over. */
export interface ConnectionStatus {
  /** of the host's own: nobody is answered, so nothing else says that they had no effect */
  notifications_failed: number;
  /** to the host, which did not read them in time; events_since has what they told of */
  notifications_dropped: number;
}

/** ConsumeNoticesParams are the params of consume_notices. */
export interface ConsumeNoticesParams {
  notice_ids: Array<string>;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** ConsumeNoticesResult is the result of consume_notices. */
export interface ConsumeNoticesResult {
  /** those that were still there */
  consumed: Array<string>;
  seq: number;
}

/** Counters count what went wrong in a run, each independently. */
export interface Counters {
  /** by role */
  invalid_results: Record<string, number>;
  worker_failures: number;
  review_rejections: number;
  stalled: number;
  review_loop: number;
}

/** Counts counts what is in the store. */
export interface Counts {
  /** by state */
  instructions: Record<string, number>;
  /** by status */
  tasks: Record<string, number>;
  /** by state */
  runs: Record<string, number>;
  notices_open: number;
}

/** CreateTaskParams are the params of create_task. */
export interface CreateTaskParams {
  /** at most 1 MiB */
  prompt: string;
  description?: string;
  run_id?: string;
  role?: "worker" | "implementer" | "spec-reviewer" | "code-quality-reviewer" | "reviewer";
  parent_session_id?: string;
  /** in the order in which they are tried; none leaves it to the host */
  models?: Array<Model>;
  /** tasks that must complete first */
  depends_on?: Array<string>;
  /** attempts that may fail or be lost; by default the number of models, at least 1; a whole number from 1 to 10000 */
  max_attempts?: number;
  labels?: Record<string, string>;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** Criterion is what the requirements file of a plan says that is to be true. */
export interface Criterion {
  line: number;
  text: string;
  /** by which items name it, such as 1.2 or FR-004 */
  id?: string;
}

/** Decision is the rule by which a run moved. */
export interface Decision {
  rule: string;
  /** how often what the rule counts has happened */
  count?: number;
  /** the number at which it does something else */
  limit?: number;
}

/** Diagnostic says what the parser did not take at face value. */
export interface Diagnostic {
  /** the file below the folder that the plan is, in which the line counts */
  source?: string;
  line: number;
  column?: number;
  severity: "info" | "warning" | "error";
  code: string;
  message: string;
}

/** DialectRule is a part of the configuration: what the plans at some paths are read in. */
export interface DialectRule {
  pattern: string;
  dialect: string;
}

/** DialectSign is something that speaks for a dialect. */
export interface DialectSign {
  /** where it stands; absent if it is not in the file, but said by its path or the configuration */
  line?: number;
  dialect: string;
  signal: string;
}

/** DispatchCounts count prompts and results. */
export interface DispatchCounts {
  /** compiled */
  prompts: number;
  /** refused because they were over their budget */
  overflows: number;
  /** judged */
  results: number;
  retry_prompts: number;
  review_rejections: number;
}

/** DispatchParams are the params of dispatch_instructions. */
export interface DispatchParams {
  /** default `default` */
  session_id?: string;
  /** a whole number from 1 to 500; default `50` */
  limit?: number;
  /** of content; one larger content is sent alone; a whole number from 1 to 8388608; default `1048576` */
  max_bytes?: number;
  /** how long to wait for something to hand out; a whole number from 0 to 25000; default `0` */
  wait_ms?: number;
  /** how old the last send must be before a repeat or a failure; a whole number from 0 to 86400000; default `0` */
  min_age_ms?: number;
  /** whether text gets a prefix on repeats; default `true` */
  escalate?: boolean;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** DispatchResult is the result of dispatch_instructions. */
export interface DispatchResult {
  instructions: Array<Send>;
  /** those whose sends were used up in this pass */
  failed: Array<Instruction>;
  /** how much of this pass is left for the next call; nothing is repeated before it is through */
  remaining: number;
  seq: number;
}

/** An Error is the error object of an answer. */
export interface Error {
  /** the number of data.code */
  code: number;
  /** one sentence: what is wrong, where, and what to do */
  message: string;
  data: ErrorData;
}

/** ErrorData is what an error says to a program. */
export interface ErrorData {
  /** the stable name of the error */
  code: ErrorCode;
  /** whether the same call may succeed later */
  retryable: boolean;
  /** whether the call took effect */
  outcome: "not_applied" | "applied" | "unknown";
  /** when to try again */
  retry_after_ms?: number;
  /** what to do about it */
  hint?: string;
  /** facts, by the code */
  details?: Record<string, unknown>;
  /** finds the details in the log of waybill */
  incident?: string;
}

/** ErrorSaid is what a worker says went wrong. */
export interface ErrorSaid {
  message: string;
  /** without it, a published table tells */
  class?: "transient" | "provider" | "terminal" | "user";
  /** a whole number from 0 to 999 */
  http_status?: number;
  name?: string;
}

/** Event is one record of the event log. */
export interface Event {
  seq: number;
  at: Time;
  type: string;
  subject_id: string;
  data: Record<string, unknown>;
}

/** EventList is the result of events_since. */
export interface EventList {
  events: Array<Event>;
  /** for the next call */
  cursor: string;
  more: boolean;
}

/** EventsSinceParams are the params of events_since. */
export interface EventsSinceParams {
  /** "0" for the beginning */
  cursor: string;
  /** a whole number from 1 to 500; default `50` */
  limit?: number;
  types?: Array<string>;
}

/** Evidence is what a completed plan rests on. */
export interface Evidence {
  acceptance_criteria: Array<Criterion>;
  outcomes: Array<ItemOutcome>;
  files_changed: Array<string>;
}

/** ExplainParams are the params of explain: an id, or an item of a plan. */
export interface ExplainParams {
  subject_id?: string;
  plan?: string;
  item_id?: string;
}

/** Explanation is the result of explain. */
export interface Explanation {
  subject: string;
  state: string;
  because: Array<Because>;
  next: Array<NextStep>;
}

/** Fact is one fact of a run. */
export interface Fact {
  k: string;
  v: string;
}

/** FailedParams are the params of get_failed_instructions. */
export interface FailedParams {
  session_id?: string;
  /** a whole number from 1 to 500; default `50` */
  limit?: number;
  /** next_cursor of the page before */
  cursor?: string;
}

/** Fingerprint tells two versions of a file apart. */
export interface Fingerprint {
  mtime_ms: number;
  size: number;
  /** SHA-256 of the bytes, in hex; this decides */
  hash: string;
}

/** FinishAttemptParams are the params of finish_attempt. */
export interface FinishAttemptParams {
  task_id: string;
  lease_token: string;
  status: "completed" | "error" | "cancelled" | "interrupted" | "awaiting_response";
  /** at most 1 MiB */
  output?: string;
  /** what the person is asked, with awaiting_response; without it the output is the question */
  question?: string;
  /** what went wrong */
  error?: ErrorSaid;
  /** default `auto` */
  retry?: "auto" | "never" | "same_model";
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** FinishAttemptResult is the result of finish_attempt. */
export interface FinishAttemptResult {
  applied: boolean;
  reason?: "stale_attempt";
  task: Task;
  attempt?: Attempt;
  /** the attempt that takes over */
  retry?: Retry;
  seq: number;
}

/** GetLedgerParams are the params of get_ledger. */
export interface GetLedgerParams {
  run_id: string;
  /** without it, both */
  kind?: "task" | "progress";
  /** the etag that the host has */
  if_none_match?: string;
}

/** GetPlanParams are the params of get_plan. */
export interface GetPlanParams {
  /** the path of a file or a folder, relative to the workspace, or the short name of a plan, which is mostly that of the folder it lies in */
  plan: string;
}

/** HeartbeatParams are the params of heartbeat. */
export interface HeartbeatParams {
  task_id: string;
  lease_token: string;
  /** its length from now on; a whole number from 1000 to 3600000 */
  lease_ms?: number;
  progress?: Progress;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** HeartbeatResult is the result of heartbeat. */
export interface HeartbeatResult {
  applied: boolean;
  reason?: "stale_attempt";
  lease?: Lease;
  /** the worker is to stop and report cancelled */
  cancel_requested: boolean;
  seq: number;
}

/** Hold is one reason why an item cannot be begun. */
export interface Hold {
  kind: "depends_on" | "blocked" | "in_progress" | "done" | "parent";
  item_id?: string;
}

/** IngestOutputParams are the params of ingest_output: a text, or the path of a file with it. */
export interface IngestOutputParams {
  run_id: string;
  role: "worker" | "implementer" | "spec-reviewer" | "code-quality-reviewer" | "reviewer";
  /** what the agent printed; "" for an agent that printed nothing */
  output?: string;
  /** relative to the workspace; or absolute, in the workspace or in the folder that was named with --output-dir */
  output_path?: string;
  /** the task of the queue that gave this result; its id is then a right task_id in the text, too */
  task_id?: string;
  attempt_id?: string;
  /** finishes the attempt that has this lease, in the same transaction */
  lease_token?: string;
  /** what the agent was given, to be repeated by a retry prompt; without it that of the task, or else what compile_prompt gives */
  prompt?: string;
  /** more than that in the result is a warning; a whole number from 1 to 1000000000 */
  max_output_tokens?: number;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** IngestOutputResult is the result of ingest_output. */
export interface IngestOutputResult {
  verdict: "pass" | "gaps" | "error" | "invalid";
  grammar: "json_block" | "v2" | "legacy" | "none";
  /** absent if nothing could be read */
  result?: Result;
  /** why it is invalid, all of it */
  errors: Array<ResultError>;
  warnings: Array<ResultWarning>;
  /** absent if it was not applied: somebody else is told what to do */
  next_action?: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
  next?: Next;
  /** absent if nothing moved */
  decision?: Decision;
  retry_prompt?: string;
  counters: Counters;
  task_ledger: TaskLedger | null;
  run: Run;
  /** with plan_completed */
  evidence?: Evidence;
  /** whether the agent was given a retry prompt */
  retry_context?: boolean;
  /** an estimate for the result, without what stands around it */
  output_tokens: number;
  applied: boolean;
  /** whether this very result of the attempt was taken before; then nothing moved */
  already?: boolean;
  reason?: "stale_attempt";
  /** whose attempt was finished */
  task?: Task;
  attempt?: Attempt;
  seq: number;
}

/** InitRunParams are the params of init_run. */
export interface InitRunParams {
  /** the path of a file or a folder, relative to the workspace, or the short name of a plan, which is mostly that of the folder it lies in */
  plan: string;
  item_id: string;
  policy?: Policy;
  /** default `existing` */
  resume?: "existing" | "new";
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** InitRunResult is the result of init_run. */
export interface InitRunResult {
  run: Run;
  created: boolean;
  next_action: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
  next: Next;
  /** with retry_with_preamble */
  retry_prompt?: string;
  seq: number;
}

/** InitializeParams are the params of initialize. Unknown members are ignored here, and only here. */
export interface InitializeParams {
  /** a whole number from 0 to 1000000; default `1` */
  protocol_version?: number;
  client_info?: ClientInfo;
  /** when this process is gone, waybill leaves, and at once if there is no such process; a host on another machine leaves it out */
  process_id?: number;
  workspace_folders?: Array<WorkspaceFolder>;
  root_uri?: string;
  [ignored: string]: unknown;
}

/** InitializeResult is the result of initialize. */
export interface InitializeResult {
  protocol_version: number;
  server_info: ServerInfo;
  /** absent while none could be found */
  workspace?: Workspace;
  capabilities: Capabilities;
  limits: Limits;
  /** for events_since: from here on */
  cursor: string;
}

/** Instruction is an instruction as the host sees it. */
export interface Instruction {
  instruction_id: string;
  session_id: string;
  content: string;
  state: "queued" | "sent" | "acknowledged" | "failed" | "cancelled";
  /** whether an acknowledgement is expected */
  tracked: boolean;
  priority: boolean;
  /** how often it was handed out */
  sends: number;
  /** 1 + max_retries */
  sends_max: number;
  ack_on?: AckRule;
  created_at: Time;
  last_sent_at?: Time;
  acknowledged_at?: Time;
  acknowledged_by?: "call" | "event";
  failed_at?: Time;
  /** when it was acknowledged after it had failed */
  late_ack_at?: Time;
  cancelled_at?: Time;
  /** why it was cancelled */
  reason?: string;
}

/** InstructionList is a page of instructions. */
export interface InstructionList {
  items: Array<Instruction>;
  next_cursor?: string;
}

/** InstructionNote is the params of instruction/available and instruction/updated. A content of more than 4 KiB is left out; it comes with the dispatch. */
export interface InstructionNote {
  seq: number;
  subject_id: string;
  state: "queued" | "sent" | "acknowledged" | "failed" | "cancelled";
  instruction_id: string;
  session_id: string;
  tracked: boolean;
  priority: boolean;
  sends: number;
  sends_max: number;
  content?: string;
  content_bytes: number;
  reason?: string;
}

/** InstructionResult is one instruction after a change. */
export interface InstructionResult {
  instruction: Instruction;
  seq: number;
}

/** Item is one task line of a plan. */
export interface Item {
  item_id: string;
  title: string;
  status: "pending" | "in_progress" | "completed" | "blocked" | "skipped";
  optional: boolean;
  /** the file below the folder that the plan is, in which the line counts */
  source?: string;
  line: number;
  level: number;
  parent_id?: string;
  depends_on: Array<string>;
  parallel: boolean;
  prompt?: string;
  requirements: Array<string>;
  files: Array<string>;
  /** what else the plan says about it; one may have several lines */
  details: Array<string>;
  leverage?: string;
  purpose?: string;
  blocked_reason?: string;
  /** of a parent, from its children */
  derived_status?: "pending" | "in_progress" | "completed" | "blocked" | "skipped";
}

/** ItemOutcome is how one item of a plan came to its end. */
export interface ItemOutcome {
  item_id: string;
  title: string;
  /** whether a run was approved, or the file says so */
  done_by: "run" | "plan";
  run_id?: string;
  attempts?: number;
  review_rejections?: number;
  summary?: string;
  files_changed: Array<string>;
}

/** LastPrompt is the prompt that was given last for a role of a run. Nothing is decided by it. It is kept for 30 days if nobody sets that otherwise, and it may lack one of the last second before waybill was killed. */
export interface LastPrompt {
  prompt: string;
  compiled_at: Time;
  /** of its packet */
  cursor: string;
  prompt_version: string;
  prompt_tokens: number;
}

/** Lease is the right to report about an attempt. */
export interface Lease {
  token: string;
  /** grows with each claim of the task */
  epoch: number;
  expires_at: Time;
}

/** Ledger is the result of get_ledger. */
export interface Ledger {
  etag: string;
  not_modified?: boolean;
  task_ledger?: TaskLedger;
  progress_ledger?: ProgressLedger;
  ledger_mode: "ledger_only" | "ledger_plus_fallback";
  /** why the progress ledger is not what the file says now */
  fallback_reason?: string;
  /** what is wrong with the file, for a person */
  fallback_detail?: string;
  /** when this process first found that the file cannot be read as it is */
  fallback_since?: Time;
  /** when the version of the plan was written that is used instead */
  ledger_as_of?: Time;
}

/** LedgerNote is the params of ledger/changed. */
export interface LedgerNote {
  seq: number;
  plan: string;
  fingerprint: Fingerprint;
  /** items that were added, removed or read differently */
  changed_ids: Array<string>;
  /** the plan changed while no process looked, so it is not known which items did */
  unseen?: boolean;
  /** the file is not there any more; the fingerprint is that of what it said last */
  gone?: boolean;
  /** why the file cannot be read as it is, if it cannot; the fingerprint is that of what it said last */
  stale?: string;
  /** what is wrong with the file then, such as missing, not_regular or no_items */
  stale_reason?: string;
}

/** Limits are the bounds in force. */
export interface Limits {
  max_message_bytes: number;
  max_content_bytes: number;
  max_pending: number;
}

/** ListAwaitingParams are the params of list_awaiting. */
export interface ListAwaitingParams {
  /** a whole number from 1 to 500; default `50` */
  limit?: number;
  /** next_cursor of the page before */
  cursor?: string;
}

/** ListInstructionsParams are the params of list_instructions. */
export interface ListInstructionsParams {
  session_id?: string;
  state?: "queued" | "sent" | "acknowledged" | "failed" | "cancelled";
  /** this one alone, whatever its state; without session_id, state and cursor */
  instruction_id?: string;
  /** a whole number from 1 to 500; default `50` */
  limit?: number;
  /** next_cursor of the page before */
  cursor?: string;
}

/** ListNoticesParams are the params of list_notices. */
export interface ListNoticesParams {
  session_id?: string;
  /** only looks: it does not count as a delivery; default `false` */
  peek?: boolean;
  /** a whole number from 1 to 500; default `50` */
  limit?: number;
  /** next_cursor of the page before */
  cursor?: string;
}

/** ListRunsParams are the params of list_runs. */
export interface ListRunsParams {
  /** only runs of this plan: its path or its short name */
  plan?: string;
  state?: "running" | "blocked" | "done" | "failed";
  /** this run alone, without plan, state and cursor */
  run_id?: string;
  /** a whole number from 1 to 500; default `50` */
  limit?: number;
  /** next_cursor of the page before */
  cursor?: string;
}

/** ListTasksParams are the params of list_tasks. */
export interface ListTasksParams {
  status?: "QUEUED" | "RUNNING" | "COMPLETE" | "AWAITING_RESPONSE" | "ERROR" | "CANCELLED" | "BLOCKED";
  run_id?: string;
  parent_session_id?: string;
  /** which come first, by when they were created; a cursor belongs to the order of its page; default `oldest` */
  order?: "oldest" | "newest";
  /** a whole number from 1 to 500; default `50` */
  limit?: number;
  /** next_cursor of the page before */
  cursor?: string;
}

/** LogNote is the params of log. It is about no event, so it carries no seq. */
export interface LogNote {
  level: "warning" | "error";
  message: string;
  /** how many notifications were dropped in this place; events_since has what they were about */
  dropped?: number;
  /** another event log took the place of the one before, as a restore does it; what was read of that may not be so any more */
  rewound?: boolean;
  /** then, from where events_since goes on when the lists were read anew */
  cursor?: string;
}

/** Model names what an agent runs on. */
export interface Model {
  provider_id: string;
  model_id: string;
  variant?: string;
}

/** Next says what has to be done so that a run goes on, and why that. */
export interface Next {
  action: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
  /** who has to do it, where an agent has to */
  role?: string;
  /** with advance_to_next_item: what can be begun now */
  item_ids: Array<string>;
}

/** NextStep is something that would move the subject on. */
export interface NextStep {
  action: string;
  text: string;
}

/** Notice is a durable message to the host. */
export interface Notice {
  notice_id: string;
  kind: string;
  session_id?: string;
  subject_id: string;
  text: string;
  data: Record<string, unknown>;
  created_at: Time;
  /** how often it was handed to a host */
  deliveries: number;
}

/** NoticeList is the result of list_notices. */
export interface NoticeList {
  items: Array<Notice>;
  next_cursor?: string;
}

/** NoticeNote is the params of notice/posted. Notices about the tasks of one session that are posted shortly after one another come in one. */
export interface NoticeNote {
  seq: number;
  /** the last of notices */
  notice: Notice;
  /** all that come with this, in order */
  notices: Array<Notice>;
}

/** Omission is something that was left out of a prompt. */
export interface Omission {
  what: string;
  why: string;
}

/** OtherFile is a file or a folder that lies where plans do and is none. */
export interface OtherFile {
  path: string;
  /** why it is no plan */
  why: PlanError;
}

/** Packet is the set of ledger facts behind the stable prefix. */
export interface Packet {
  cursor: string;
  /** the cursor that a delta builds on */
  base?: string;
  mode: "full" | "delta";
  why_full?: "no_cursor" | "unknown_cursor" | "other_run" | "other_prompt";
  facts: Record<string, string>;
  removed: Array<string>;
}

/** PacketCounts count the packets of prompts. */
export interface PacketCounts {
  full: number;
  delta: number;
  why_full: Record<string, number>;
}

/** PingResult is the result of ping. */
export interface PingResult {
  pong: boolean;
}

/** Plan is the result of get_plan. */
export interface Plan {
  plan: string;
  path: string;
  dialect: string;
  fingerprint: Fingerprint;
  totals: Totals;
  items: Array<Item>;
  diagnostics: Array<Diagnostic>;
  /** what speaks for the dialect, that which decided first, and what speaks for others */
  evidence: Array<DialectSign>;
  /** what - and ~ and the marks of a legend mean in a box: a status for each; absent where tasks are no boxes */
  marks?: Record<string, string>;
  /** why this is the last good reading and not the file as it is */
  stale?: string;
  /** what is wrong with the file then, such as not_regular, outside_workspace or no_items */
  stale_reason?: string;
  /** when this process first found that the file cannot be read as it is */
  stale_since?: Time;
  /** when the version was written that is shown instead */
  as_of?: Time;
}

/** PlanError says why a plan cannot be read. */
export interface PlanError {
  code: ErrorCode;
  reason?: string;
  message: string;
}

/** PlanList is the result of list_plans. */
export interface PlanList {
  items: Array<PlanSummary>;
  /** a sentence each: what could not be searched, how many plans there are if only the latest 100 are listed, and how many files were not looked into; plans may be missing from items */
  problems: Array<string>;
  /** files and folders in which no item was found; they lie where tools keep plans among other files */
  others: Array<OtherFile>;
}

/** PlanSummary is one plan in a list. */
export interface PlanSummary {
  /** how other methods name it */
  plan: string;
  path: string;
  dialect?: string;
  /** what decided on the dialect; get_plan has everything that speaks for one */
  dialect_reason?: string;
  totals: Totals;
  fingerprint: Fingerprint;
  diagnostics_count: number;
  /** why it cannot be read */
  error?: PlanError;
  /** why this is the last good reading and not the file as it is */
  stale?: string;
  /** what is wrong with the file, as in error, also if nothing was read before */
  stale_reason?: string;
  /** when this process first found that the file cannot be read as it is */
  stale_since?: Time;
  /** when the version was written that is shown instead */
  as_of?: Time;
}

/** Policy holds the limits of a run. */
export interface Policy {
  /** how often a result that cannot be read is asked for once more; a whole number from 0 to 100; default: the setting `policy.invalid_retries`, which is `1` where it is not set */
  invalid_retries?: number;
  /** how many other reviewers are asked after that; a whole number from 0 to 100; default: the setting `policy.reviewer_fresh_runs`, which is `1` where it is not set */
  reviewer_fresh_runs?: number;
  /** how many failures of workers another worker makes up for; a whole number from 0 to 100; default: the setting `policy.worker_failures`, which is `1` where it is not set */
  worker_failures?: number;
  /** the rejection at which the run is blocked; a whole number from 1 to 100; default: the setting `policy.review_rejections`, which is `3` where it is not set */
  review_rejections?: number;
  /** the outcomes in a row without progress at which it is blocked; a whole number from 1 to 100; default: the setting `policy.stalled_threshold`, which is `2` where it is not set */
  stalled_threshold?: number;
  /** the reviews in a row that find the same at which it is blocked; a whole number from 1 to 100; default: the setting `policy.review_loop_threshold`, which is `2` where it is not set */
  review_loop_threshold?: number;
  /** who has to approve; if nobody says, both, or the one reviewer of a host that says reviewer in its first review; default: the setting `policy.reviewers` */
  reviewers?: Array<"spec-reviewer" | "code-quality-reviewer">;
}

/** A Problem is one thing that is wrong with the params of a call; details.errors lists them. */
export interface Problem {
  /** JSON Pointer into params; empty for params itself */
  pointer: string;
  /** what is wrong, where, and what to do */
  message: string;
  /** what the value must be */
  expected: string;
  /** what it is; long values are cut */
  found: string;
}

/** Progress says how far a worker is. */
export interface Progress {
  message: string;
  /** a whole number from 0 to 100 */
  percent?: number;
}

/** ProgressLedger is what a run knows about its plan. */
export interface ProgressLedger {
  plan: string;
  item_id: string;
  source_path: string;
  source_fingerprint: Fingerprint;
  totals: Totals;
  active_item_id?: string;
  current_item?: Item;
}

/** PromptBlock is a section of a prompt. */
export interface PromptBlock {
  /** the heading without its brackets; stable_prefix for the first block */
  name: string;
  /** whose words it holds: waybill, host, plan, requirements, worker, reviewer */
  sources: Array<string>;
  /** that of the least trusted source */
  trust: "trusted" | "untrusted";
  /** where exactly the words are from */
  ref?: string;
  text: string;
  /** of the text, hex */
  sha256: string;
  /** rounded up for each block by itself */
  tokens: number;
  /** characters and lines that were changed so that they cannot pass for structure */
  neutralised: number;
}

/** QueueInstructionParams are the params of queue_instruction. */
export interface QueueInstructionParams {
  /** at most 1 MiB */
  content: string;
  /** default `default` */
  session_id?: string;
  /** goes ahead of those without; default `false` */
  priority?: boolean;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** QueueInstructionWithAckParams are the params of queue_instruction_with_ack. */
export interface QueueInstructionWithAckParams {
  /** at most 1 MiB */
  content: string;
  /** default `default` */
  session_id?: string;
  /** default `false` */
  priority?: boolean;
  /** sends after the first; a whole number from 0 to 1000; default `3` */
  max_retries?: number;
  /** a reported event that matches acknowledges the instruction */
  ack_on?: AckRule;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** QueueInstructionWithAckResult is the result of queue_instruction_with_ack. */
export interface QueueInstructionWithAckResult {
  instruction_id: string;
  instruction: Instruction;
  seq: number;
}

/** ReadyItems is the result of ready_items. */
export interface ReadyItems {
  /** in the order of the plan, which is no dependency: who works alone takes the first */
  ready: Array<string>;
  /** those of ready that the plan says may be worked on beside others */
  parallel: Array<string>;
  ready_total: number;
  waiting: Array<WaitingItem>;
  /** items that have to be done and are not, and what is unread */
  left: number;
  /** open boxes of the plan that are no items for want of an id; as long as there are any, the plan is not completed */
  unread?: number;
  completed: boolean;
  /** why this rests on the last good reading and not on the file as it is */
  stale?: string;
  /** what is wrong with the file then, such as not_regular, outside_workspace or no_items */
  stale_reason?: string;
  /** when this process first found that the file cannot be read as it is */
  stale_since?: Time;
  /** when the version was written that this rests on instead */
  as_of?: Time;
}

/** ReadyItemsParams are the params of ready_items. */
export interface ReadyItemsParams {
  /** the path of a file or a folder, relative to the workspace, or the short name of a plan, which is mostly that of the folder it lies in */
  plan: string;
  /** of ready; waiting has every other item; a whole number from 1 to 500; default `50` */
  limit?: number;
}

/** RebuildCounts count how often the facts of a run were read anew from its plan, and could not be. */
export interface RebuildCounts {
  total: number;
  /** by reason */
  fallbacks: Record<string, number>;
  /** the sum over all prompts of fallbacks: for how long the plan could not be read when the prompt was compiled */
  fallback_ms: number;
}

/** ReplanParams are the params of replan. */
export interface ReplanParams {
  run_id: string;
  /** what is to be done differently */
  summary: string;
  /** the steps from here on, in order; without them those of the last version */
  plan_items?: Array<string>;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** ReplanResult is the result of replan. */
export interface ReplanResult {
  run: Run;
  task_ledger: TaskLedger | null;
  /** with retry_with_preamble */
  retry_prompt?: string;
  /** whether something else is to be done next; only that ends a block */
  frontier_changed: boolean;
  next_action: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
  next: Next;
  seq: number;
}

/** Reply is a person's answer to a task. */
export interface Reply {
  /** from 1 */
  number: number;
  reply: string;
  question?: string;
  by?: string;
  at: Time;
  /** the attempt that had asked */
  attempt_id: string;
}

/** ReplyParams are the params of reply. */
export interface ReplyParams {
  task_id: string;
  /** at most 64 KiB */
  reply: string;
  by?: string;
  /** the attempt whose question is answered, from list_awaiting; if the task has gone on since, ALREADY_RESOLVED */
  attempt_id?: string;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** ReplyResult is the result of reply. */
export interface ReplyResult {
  success: boolean;
  task_id: string;
  old_status: "AWAITING_RESPONSE" | "ERROR" | "CANCELLED" | "BLOCKED";
  new_status: "QUEUED";
  seq: number;
}

/** ReportEventParams are the params of report_event. */
export interface ReportEventParams {
  type: string;
  data?: Record<string, unknown>;
  /** without it, all sessions are looked at */
  session_id?: string;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** ReportEventResult is the result of report_event. */
export interface ReportEventResult {
  /** the ids of the instructions that matched */
  acknowledged: Array<string>;
  unmatched: boolean;
  seq: number;
}

/** Result is what an agent reported, as it was read. What it lacks is left out. */
export interface Result {
  role: string;
  task_id?: string;
  /** the agent's own word */
  status: string;
  git_range?: string;
  confidence?: string;
  summary?: string;
  issues: Array<ReviewIssue>;
  files_changed: Array<string>;
  tests: Array<ResultTest>;
  follow_up_actions: Array<string>;
  strengths: Array<string>;
  required_fixes: Array<string>;
}

/** ResultError is one reason why a result is invalid. */
export interface ResultError {
  code: string;
  field: string;
  expected: string;
  found: string;
  line: number;
  message: string;
}

/** ResultTest is something that a worker ran to check its work. */
export interface ResultTest {
  command: string;
  passed: boolean;
  failures: Array<string>;
}

/** ResultWarning is something that was tolerated, or is odd, and changed nothing. */
export interface ResultWarning {
  code: string;
  line?: number;
  message: string;
}

/** ResumeRunParams are the params of resume_run. */
export interface ResumeRunParams {
  /** the path of a file or a folder, relative to the workspace, or the short name of a plan, which is mostly that of the folder it lies in */
  plan: string;
  item_id: string;
}

/** ResumeRunResult is the result of resume_run. */
export interface ResumeRunResult {
  run: Run;
  resumption_prompt: string;
  /** whether the plan reads differently than when the run saw it last, or cannot be read */
  stale: boolean;
  progress_ledger_error?: PlanError;
  next_action: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
  next: Next;
  /** with retry_with_preamble */
  retry_prompt?: string;
  /** with plan_completed */
  evidence?: Evidence;
  task_ledger: TaskLedger | null;
}

/** Retry is an attempt that takes over from a failed one. */
export interface Retry {
  attempt: Attempt;
  model?: Model;
  /** of the failure */
  class: "transient" | "provider" | "terminal" | "user";
}

/** RetryTaskParams are the params of retry_task. */
export interface RetryTaskParams {
  task_id: string;
  /** without it, the chain begins anew */
  model?: Model;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** RetryTaskResult is the result of retry_task. */
export interface RetryTaskResult {
  task: Task;
  attempt: Attempt;
  seq: number;
}

/** ReviewCounts counts something for each reviewer. */
export interface ReviewCounts {
  spec: number;
  quality: number;
}

/** ReviewIssue is one finding of a reviewer. */
export interface ReviewIssue {
  severity: string;
  file?: string;
  message: string;
  fix?: string;
}

/** ReviewLoop says how often the same issues came back. */
export interface ReviewLoop {
  count: number;
  threshold: number;
  /** two sets of issues take turns */
  alternating?: boolean;
  flagged: boolean;
}

/** Run is the journey of one item of one plan. */
export interface Run {
  run_id: string;
  plan: string;
  item_id: string;
  state: "running" | "blocked" | "done" | "failed";
  /** why it is blocked */
  reason?: string;
  counters: Counters;
  policy: Policy;
  /** how each role stands: awaited, submitted, approved, rejected, unusable, replaced, stuck or broken */
  standing: Record<string, string>;
  plan_version: number;
  created_at: Time;
  updated_at: Time;
}

/** RunList is a page of runs. */
export interface RunList {
  items: Array<Run>;
  next_cursor?: string;
}

/** RunNote is the params of run/updated. */
export interface RunNote {
  seq: number;
  subject_id: string;
  /** the type of the event */
  event: string;
  run_id: string;
  plan: string;
  item_id: string;
  state: "running" | "blocked" | "done" | "failed";
  /** why it is blocked */
  reason?: string;
  revision: number;
  /** who reported */
  role?: string;
  verdict?: string;
  decision?: Decision;
  next_action?: string;
}

/** RunParams are the params of a method about one run. */
export interface RunParams {
  run_id: string;
}

/** Send is one instruction as it is handed out. */
export interface Send {
  instruction_id: string;
  content: string;
  /** which send this is, from 1 */
  send: number;
  sends_max: number;
  tracked: boolean;
  /** what to hand to the agent */
  text: string;
}

/** ServerInfo names this process. */
export interface ServerInfo {
  name: string;
  version: string;
  pid: number;
}

/** SessionEventParams are the params of report_session_event. For type error, data may have class, http_status and name. */
export interface SessionEventParams {
  session_id: string;
  type: "started" | "progress" | "idle" | "error" | "deleted";
  data?: Record<string, unknown>;
  message?: string;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** SessionEventResult is the result of report_session_event. */
export interface SessionEventResult {
  applied: boolean;
  reason?: "stale_attempt" | "unknown_session";
  task_id?: string;
  attempt_id?: string;
  seq: number;
}

/** SetItemStatusParams are the params of set_item_status. */
export interface SetItemStatusParams {
  /** the path of a file or a folder, relative to the workspace, or the short name of a plan, which is mostly that of the folder it lies in */
  plan: string;
  item_id: string;
  status: "pending" | "in_progress" | "completed" | "blocked" | "skipped";
  /** tells items apart that share an id; a whole number from 1 */
  line?: number;
  /** fingerprint.hash of the plan as the caller read it: nothing is written if it is another now */
  expected_hash?: string;
  /** the same key with the same params gives the first answer again */
  idempotency_key?: string;
}

/** SetItemStatusResult is the result of set_item_status. */
export interface SetItemStatusResult {
  /** as the plan has it now */
  item: Item;
  /** of the file as it is now */
  fingerprint: Fingerprint;
  /** 0 if the item had the status already */
  changed_bytes: number;
  seq: number;
}

/** Setting is a setting that is not as it is built in. */
export interface Setting {
  /** such as prompt.max_output_tokens */
  name: string;
  value: unknown;
  /** where it was set: a flag such as --tokenizer, an environment variable, or the path of a configuration file */
  origin: string;
}

/** Snapshot is the result of get_snapshot. */
export interface Snapshot {
  run_id: string;
  revision: number;
  status: "running" | "blocked" | "done" | "failed";
  facts: Array<Fact>;
  updated_at: Time;
}

/** Stalled says how long a run has made no progress. */
export interface Stalled {
  consecutive_non_progress: number;
  threshold: number;
  flagged: boolean;
}

/** StatusResult is the result of get_status. */
export interface StatusResult {
  version: string;
  uptime_ms: number;
  workspace: Workspace;
  store: StoreStatus;
  watcher: WatcherStatus;
  /** absent without one, as in the terminal commands */
  connection?: ConnectionStatus;
  counts: Counts;
  /** the configuration of the plans' dialects; the first rule that fits a path counts */
  dialects: Array<DialectRule>;
  /** what this process was given that is not as it is built in */
  settings: Array<Setting>;
  /** what is not as it should be, a sentence each */
  degraded: Array<string>;
}

/** StoreStatus describes the store. */
export interface StoreStatus {
  kind: string;
  path?: string;
  size_bytes: number;
  mode: "read_write" | "read_only";
  schema_version: number;
}

/** Task is a task as the host sees it. What says how the work stands is that of its newest attempt. */
export interface Task {
  task_id: string;
  status: "QUEUED" | "RUNNING" | "COMPLETE" | "AWAITING_RESPONSE" | "ERROR" | "CANCELLED" | "BLOCKED";
  /** of ERROR: failed, timeout, retries_exhausted or interrupted; of CANCELLED and BLOCKED: what was said */
  reason?: string;
  /** in lists, of a long one the beginning */
  prompt: string;
  prompt_bytes: number;
  /** whether the prompt is a retry prompt of ingest_output */
  retry_context?: boolean;
  description?: string;
  role?: string;
  run_id?: string;
  /** the session that is told of its end */
  parent_session_id?: string;
  models: Array<Model>;
  max_attempts: number;
  /** attempts that failed or were lost since somebody last set it going */
  failures: number;
  labels?: Record<string, string>;
  current_attempt_id?: string;
  attempt_number?: number;
  session_id?: string;
  model?: Model;
  /** what the last attempt said that completed, asked, or left something behind; beside a user_reply, what that was given to; in lists, of a long one the beginning */
  output?: string;
  question?: string;
  /** the answer that an attempt carries and none has acted on yet */
  user_reply?: string;
  error?: TaskError;
  depends_on: Array<string>;
  /** what holds a queued task back */
  waiting_for?: Array<WaitingFor>;
  /** when a retry may begin */
  not_before?: Time;
  /** its end was asked for; the worker has to report it */
  cancel_requested_at?: Time;
  created_at: Time;
  updated_at: Time;
  started_at?: Time;
  completed_at?: Time;
}

/** TaskDetail is the result of get_task. */
export interface TaskDetail {
  task: Task;
  /** of very many, the first and the last few; get_timeline gives more */
  attempts: Array<Attempt>;
  attempts_total: number;
  /** of very many, the last 50; replies_after gives the others */
  replies: Array<Reply>;
  replies_total: number;
}

/** TaskError is what went wrong in an attempt. */
export interface TaskError {
  message: string;
  /** what may help */
  class?: "transient" | "provider" | "terminal" | "user";
  http_status?: number;
  name?: string;
}

/** TaskLedger is what a run knows about the work on its item. */
export interface TaskLedger {
  run_id: string;
  item_id: string;
  plan_version: number;
  summary?: string;
  reviewer_assessment?: string;
  reviewer_issues: Array<ReviewIssue>;
  blockers: Array<string>;
  required_fixes: Array<string>;
  stalled: Stalled;
  review_loop: ReviewLoop;
  rejections: number;
  replan_hint?: string;
  plan_summary?: string;
  plan_items: Array<string>;
  files_changed: Array<string>;
  /** how often a worker was at it */
  attempts: number;
  /** the commits of the work, as a worker named them last */
  git_range?: string;
  /** how often each reviewer was at it */
  review_attempts: ReviewCounts;
}

/** TaskList is a page of tasks. */
export interface TaskList {
  items: Array<Task>;
  next_cursor?: string;
}

/** TaskNote is the params of task/updated and task/awaiting_response. */
export interface TaskNote {
  seq: number;
  subject_id: string;
  /** the type of the event */
  event: string;
  task_id: string;
  status: "QUEUED" | "RUNNING" | "COMPLETE" | "AWAITING_RESPONSE" | "ERROR" | "CANCELLED" | "BLOCKED";
  reason?: string;
  attempt_id: string;
  attempt_number: number;
  session_id?: string;
  parent_session_id?: string;
  run_id?: string;
  /** of task/awaiting_response; one of more than 4 KiB is left out */
  question?: string;
}

/** TaskParams are the params of get_task. */
export interface TaskParams {
  task_id: string;
  /** the number of a reply: those behind it are given, in order; a whole number from 0 to 1000000000 */
  replies_after?: number;
}

/** TaskResult is one task after a change. */
export interface TaskResult {
  task: Task;
  seq: number;
}

/** Telemetry is the result of get_telemetry. Counts of what was compiled may lack the last second before a process was killed; everything else is exact. */
export interface Telemetry {
  dispatch: DispatchCounts;
  tokens: TokenCounts;
  packets: PacketCounts;
  prompt_versions: Record<string, number>;
  /** how often a fact, or an item.X of the plan, was shortened or left out to fit a budget */
  cut: Record<string, number>;
  compaction_stages: Record<string, number>;
  ledger_modes: Record<string, number>;
  rebuilds: RebuildCounts;
  verdicts: Record<string, number>;
  grammars: Record<string, number>;
  /** of invalid results, by code */
  errors: Record<string, number>;
  /** as they were given with results */
  next_actions: Record<string, number>;
}

/** TelemetryParams are the params of get_telemetry. */
export interface TelemetryParams {
  /** without it, all runs */
  run_id?: string;
}

/** Timeline is the result of get_timeline. */
export interface Timeline {
  attempts: Array<Attempt>;
  /** how many attempts there are */
  total: number;
  text: string;
}

/** TimelineParams are the params of get_timeline. */
export interface TimelineParams {
  task_id: string;
  /** of more attempts, the first and the last few; with 1, the newest; a whole number from 1 to 500; default `14` */
  max_lines?: number;
}

/** TokenCounts sum up estimates of tokens. */
export interface TokenCounts {
  /** of all prompts before they were compacted */
  prompts_before: number;
  prompts_after: number;
  results: number;
  /** prompts_after as the estimate has it */
  sent: number;
  /** what the same prompts would be with the whole plan and all facts in each, by the same estimate */
  resend: number;
  /** resend less sent */
  saved: number;
}

/** Totals counts the items of a plan: leaves and childless parents once, parents as groups. */
export interface Totals {
  total: number;
  completed: number;
  in_progress: number;
  pending: number;
  blocked: number;
  skipped: number;
  /** parents with children; not in total */
  groups: number;
}

/** TraceStep is the size of the prompt after one stage. */
export interface TraceStep {
  stage: string;
  prompt_tokens: number;
}

/** WaitingFor is something that holds a task back. */
export interface WaitingFor {
  kind: "depends_on" | "retry_delay" | "provider_cooling";
  task_id?: string;
  /** of that task */
  status?: string;
  until?: Time;
}

/** WaitingItem is an item that cannot be begun now, and why. */
export interface WaitingItem {
  item_id: string;
  because: Array<Hold>;
}

/** WatcherStatus describes the watcher. */
export interface WatcherStatus {
  mode: "inotify" | "kqueue" | "windows" | "polling" | "off";
  /** why it polls */
  reason?: string;
  plans: number;
  /** how often the system dropped notifications of files */
  overflows: number;
  /** how often every plan was looked at again because of that */
  rescans: number;
  last_rescan_at?: Time;
}

/** Workspace is the directory that waybill works for. */
export interface Workspace {
  id: string;
  root: string;
  state_dir: string;
  /** which rule found it */
  resolved_by: string;
}

/** WorkspaceFolder is a directory that the host works in. */
export interface WorkspaceFolder {
  /** a file URI or an absolute path */
  uri: string;
  name?: string;
  [ignored: string]: unknown;
}

/** From the name of a method to its params and its result. */
export interface MethodMap {
  /** Says who is talking and which directory is worked in. Optional and idempotent: every method works without it. */
  "initialize": { params: InitializeParams; result: InitializeResult };
  /** Answers at once. */
  "ping": { params: Record<string, never>; result: PingResult };
  /** Describes the process, its store, its watcher, what is in the store, and everything that is degraded. */
  "get_status": { params: Record<string, never>; result: StatusResult };
  /** Gives the OpenRPC document of this binary. */
  "rpc.discover": { params: Record<string, never>; result: Record<string, unknown> };
  /** Refuses new work from here on, finishes what is in hand, then answers null. */
  "shutdown": { params: Record<string, never>; result: null };
  /** Ends the process: with status 0 after shutdown, with 1 without. */
  "exit": { params: Record<string, never>; result: null };
  /** Accepted and ignored, for hosts that always say it. */
  "initialized": { params: Record<string, never>; result: null };
  /** Asks that a request in hand be given up. It is answered CANCELLED if nothing was applied, as usual otherwise. */
  "$/cancelRequest": { params: CancelParams; result: null };
  /** Queues a plain instruction: handed out once, not tracked. */
  "queue_instruction": { params: QueueInstructionParams; result: InstructionResult };
  /** Queues a tracked instruction: handed out again in each dispatch pass, at most 1 + max_retries times, until it is acknowledged; then it fails, with a notice. */
  "queue_instruction_with_ack": { params: QueueInstructionWithAckParams; result: QueueInstructionWithAckResult };
  /** One dispatch pass: hands out what is queued, then once more what was sent and not acknowledged, and fails what has used up its sends. */
  "dispatch_instructions": { params: DispatchParams; result: DispatchResult };
  /** Confirms that a tracked instruction took effect. Twice is the same answer; one that failed stays failed and keeps late_ack_at. */
  "acknowledge": { params: AcknowledgeParams; result: AcknowledgeResult };
  /** Reports something that happened; acknowledges every outstanding instruction whose ack_on matches it. */
  "report_event": { params: ReportEventParams; result: ReportEventResult };
  /** Lists the instructions that were never acknowledged. */
  "get_failed_instructions": { params: FailedParams; result: InstructionList };
  /** Lists instructions as they were queued, or gives one of them. */
  "list_instructions": { params: ListInstructionsParams; result: InstructionList };
  /** Withdraws one instruction, or with all everything outstanding of a session. */
  "cancel_instruction": { params: CancelInstructionParams; result: CancelInstructionResult };
  /** Queues a unit of work for an agent, with the models that it may run on and the tasks that it waits for. */
  "create_task": { params: CreateTaskParams; result: TaskResult };
  /** Gives the oldest task that is ready to a worker, under a lease, with the prompt to run. Of many callers one gets it. */
  "claim_task": { params: ClaimTaskParams; result: ClaimTaskResult };
  /** Says in which session, and on which model, an attempt runs. */
  "bind_session": { params: BindSessionParams; result: AttemptReport };
  /** Says that the worker is at it, and extends its lease. The answer says whether the task was asked to end. */
  "heartbeat": { params: HeartbeatParams; result: HeartbeatResult };
  /** Reports how an attempt ended. A failure is retried on the same model, on the next one, or not at all, as its class says. The same report twice is the same answer. */
  "finish_attempt": { params: FinishAttemptParams; result: FinishAttemptResult };
  /** Reports what the host saw of a session. What is about a session that does not work on its task any more changes nothing. */
  "report_session_event": { params: SessionEventParams; result: SessionEventResult };
  /** Sets a task going again that is in ERROR, CANCELLED or BLOCKED, with a fresh budget of attempts. */
  "retry_task": { params: RetryTaskParams; result: RetryTaskResult };
  /** Withdraws a task. One that runs is asked to end: it is over when its worker reports so, or its lease runs out. */
  "cancel_task": { params: CancelTaskParams; result: TaskResult };
  /** Gives a task with its attempts and the replies to it. Of very many attempts it gives the first and the last few. */
  "get_task": { params: TaskParams; result: TaskDetail };
  /** Lists tasks as they were created, the oldest or the newest first, and says what a queued one waits for. */
  "list_tasks": { params: ListTasksParams; result: TaskList };
  /** Gives the attempts of a task in order, and as text, a line each. */
  "get_timeline": { params: TimelineParams; result: Timeline };
  /** Lists the tasks that wait for a person, the oldest first. */
  "list_awaiting": { params: ListAwaitingParams; result: AwaitingList };
  /** Answers a task and continues it. Of many answers the first wins. */
  "reply": { params: ReplyParams; result: ReplyResult };
  /** Lists the plans of the workspace with their totals. */
  "list_plans": { params: Record<string, never>; result: PlanList };
  /** Gives one plan as it was read: every item, and a diagnostic for everything that is not one. */
  "get_plan": { params: GetPlanParams; result: Plan };
  /** Says which items of a plan can be begun now, and of each other one why not. It waits for what the plan says that an item depends on; the order of the plan is none of that. A blocked item holds back only what depends on it. */
  "ready_items": { params: ReadyItemsParams; result: ReadyItems };
  /** Writes the status of an item into its plan file: the mark in its box, or its word for the status, and no other byte. Nothing is written over what somebody else has saved meanwhile. */
  "set_item_status": { params: SetItemStatusParams; result: SetItemStatusResult };
  /** Starts the journey of one item, or gives the live run that it already has. */
  "init_run": { params: InitRunParams; result: InitRunResult };
  /** Finds the newest run of an item without its id and gives the prompt with which an agent picks it up, also when the plan cannot be read. */
  "resume_run": { params: ResumeRunParams; result: ResumeRunResult };
  /** Lists runs, the one that began last first, also those of plans that are not there any more; or gives one of them. */
  "list_runs": { params: ListRunsParams; result: RunList };
  /** Compiles the prompt for a role of a run from what is true now. The plan is checked on every call. */
  "compile_prompt": { params: CompilePromptParams; result: CompilePromptResult };
  /** Judges what an agent gave back, moves the run accordingly, and says what has to be done next. With a lease it finishes the attempt, too. */
  "ingest_output": { params: IngestOutputParams; result: IngestOutputResult };
  /** Records a new version of the plan for an item. It ends a block exactly if it wants something else done next. */
  "replan": { params: ReplanParams; result: ReplanResult };
  /** Gives the ledgers of a run as they are stored. */
  "get_ledger": { params: GetLedgerParams; result: Ledger };
  /** Gives the revisioned facts of a run. */
  "get_snapshot": { params: RunParams; result: Snapshot };
  /** Counts what was compiled and judged, for one run or for all. */
  "get_telemetry": { params: TelemetryParams; result: Telemetry };
  /** Gives what happened after a cursor, in order and without gaps. */
  "events_since": { params: EventsSinceParams; result: EventList };
  /** Lists the notices that were not consumed, which counts as a delivery of each unless peek is true. */
  "list_notices": { params: ListNoticesParams; result: NoticeList };
  /** Marks notices as seen, so that they are not delivered again. */
  "consume_notices": { params: ConsumeNoticesParams; result: ConsumeNoticesResult };
  /** Says why a thing is as it is, and what would move it on. */
  "explain": { params: ExplainParams; result: Explanation };
}

/** From the name of a notification that waybill sends to its params. */
export interface NotificationMap {
  /** An instruction waits for a dispatch. */
  "instruction/available": InstructionNote;
  /** An instruction moved on. */
  "instruction/updated": InstructionNote;
  /** A task moved on. */
  "task/updated": TaskNote;
  /** A task asks a person. */
  "task/awaiting_response": TaskNote;
  /** An attempt moved on, or somebody reported about it. */
  "attempt/updated": AttemptNote;
  /** A run began, moved on or ended. */
  "run/updated": RunNote;
  /** A plan reads differently than before, or cannot be read, or can be again. */
  "ledger/changed": LedgerNote;
  /** There is a notice to consume. */
  "notice/posted": NoticeNote;
  /** Something about the connection itself, such as notifications that were dropped, or about the event log as a whole. */
  "log": LogNote;
}
