// Generated from the declarations in schema/ by `go test ./schema/gen -update`. Do not edit.

/** The version of the protocol that is described here. */
export type ProtocolVersion = 1;

/** A Time is an RFC 3339 instant in UTC. */
export type Time = string;

/** A Code is the stable name of an error: the contract of data.code. */
export type ErrorCode =
  /** The message is not JSON. The session continues with the next message. */
  | "PARSE_ERROR"
  /** The frame around the message is broken. The session continues with the next frame that it finds. */
  | "FRAMING_ERROR"
  /** The message is not valid UTF-8, or has half of a surrogate pair. */
  | "INVALID_UTF8"
  /** The message is JSON but not a request. */
  | "INVALID_REQUEST"
  /** A request with the same id is still in flight. */
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
  /** A param is missing or has the wrong type; details.errors lists all of them, with a JSON Pointer each. */
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
  /** Over HTTP only: the request names another host, or a page of another origin sent it. */
  | "FORBIDDEN"
  /** Over HTTP only: the path does not take this verb; details.allow lists those that it takes. */
  | "METHOD_NOT_ALLOWED"
  /** Over HTTP only: a body must be application/json and not be compressed. */
  | "UNSUPPORTED_MEDIA_TYPE"
  /** The state does not allow this call; data.details.state, for a task status, names the state, and allowed the calls that it allows. */
  | "INVALID_STATE"
  /** No instruction has this id. */
  | "INSTRUCTION_NOT_FOUND"
  /** No task has this id. */
  | "TASK_NOT_FOUND"
  /** The task has no attempt with this id. */
  | "ATTEMPT_NOT_FOUND"
  /** No run has this id. */
  | "RUN_NOT_FOUND"
  /** No receipt has this id, or it was removed with the oldest part of the event log. */
  | "RECEIPT_NOT_FOUND"
  /** The workspace has no such plan. */
  | "PLAN_NOT_FOUND"
  /** The file at output_path is missing or unreadable; details.reason says which. */
  | "OUTPUT_NOT_FOUND"
  /** Nothing has this id. */
  | "SUBJECT_NOT_FOUND"
  /** The cursor is older than the log, or from another log, such as one before a restore. Read the lists again and continue at details.newest; details.oldest has everything in the log. */
  | "CURSOR_EXPIRED"
  /** The idempotency key was used before with other params. */
  | "IDEMPOTENCY_MISMATCH"
  /** Another operation on the task is in progress; details.status has its status. Or the plan file has changed since the caller read it; see details.expected_hash and found_hash. */
  | "CONFLICT"
  /** The question has been answered, or the task has continued; details.status has its status. */
  | "ALREADY_RESOLVED"
  /** The session belongs to another task or runs another attempt, or the attempt runs in another session. */
  | "SESSION_ALREADY_BOUND"
  /** The attempt has ended and cannot change. */
  | "ATTEMPT_FINALIZED"
  /** A value is over its limit; details.limit names it. */
  | "TOO_LARGE"
  /** The plan file does not exist. */
  | "progress_ledger_missing_tasks"
  /** No item of the plan file is readable; details has the reason. */
  | "progress_ledger_parse_failed"
  /** A fact that the prompt needs is missing or damaged. */
  | "progress_ledger_incomplete"
  /** The plan has no item with this id. */
  | "item_not_found"
  /** The item cannot have this status in its plan; details.reason says why, and lines has its lines. */
  | "ITEM_NOT_SETTABLE"
  /** The plan file is not writable; details.reason says why. */
  | "PLAN_NOT_WRITABLE"
  /** The prompt exceeds its budget, and all that remains is required. */
  | "dispatch_prompt_overflow_terminal"
  /** No workspace was found; the message has the reason. */
  | "WORKSPACE_UNRESOLVED"
  /** The protocol version is not supported; details has the range. */
  | "UNSUPPORTED_VERSION"
  /** Too many instructions wait. */
  | "QUEUE_FULL"
  /** Too many requests are in flight. */
  | "OVERLOADED"
  /** waybill is shutting down and accepts no new request. */
  | "SHUTTING_DOWN"
  /** The disk is full. Reports about existing work and reads still succeed. */
  | "STORE_FULL"
  /** The store could not be read or written; retry with the same idempotency key. */
  | "STORE_IO_ERROR"
  /** The store is read-only. */
  | "STORE_READ_ONLY"
  /** The store was written by a newer waybill. */
  | "STORE_NEWER_SCHEMA"
  /** Another process has locked the store. */
  | "STORE_BUSY"
  /** The store or a record in it is damaged; the message says which. Nothing was deleted. */
  | "STORE_CORRUPT"
  /** The file of the store was removed or replaced while it was open; the message names the rescued copy. */
  | "STORE_LOST"
  /** The store is at a place where it is not safe. */
  | "STORE_UNSAFE";

/** AckRule selects the reported events that acknowledge an instruction. */
export interface AckRule {
  /** the exact type */
  event_type: string;
  /** path to value: dotted, list positions as numbers, or a JSON Pointer. Every value must be equal, or meet its operator: {"$contains": text}, {"$glob": pattern}, {"$any": [values]} or {"$command": "go test ./..."} */
  match?: Record<string, unknown>;
}

/** AcknowledgeParams are the params of acknowledge. */
export interface AcknowledgeParams {
  instruction_id: string;
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** AcknowledgeResult is the result of acknowledge. */
export interface AcknowledgeResult {
  instruction: Instruction;
  /** whether this was known before. It is false as well for a standing instruction that waits for its trigger: nothing was acknowledged, and it stays armed. One that was due is armed again */
  already: boolean;
  /** nothing had been sent, and nothing will be */
  before_dispatch?: boolean;
  seq: number;
}

/** AskUserParams are the params of ask_user. */
export interface AskUserParams {
  /** the session that asks; it gets the answer as an instruction */
  session_id: string;
  /** at most 64 KiB */
  question: string;
  /** where the question comes from */
  description?: string;
  /** at most 20 */
  options?: Array<Option>;
  /** false: only an option is an answer; default `true` */
  allow_text?: boolean;
  /** the label of the option that forms suggest */
  default?: string;
  /** milliseconds until the default is taken automatically; absent: never; a whole number from 1000 to 2592000000 */
  default_after_ms?: number;
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
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

/** AttemptReport is the answer to a report about an attempt. */
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
  options?: Array<Option>;
  /** with options: whether own words are an answer, too */
  allow_text?: boolean;
  /** the label of an option */
  default?: string;
  /** when time takes the default unless a person answers before */
  default_at?: Time;
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
  /** the first 5 tasks, attempts, runs or items that text speaks of */
  ids?: Array<string>;
}

/** BindSessionParams are the params of bind_session. */
export interface BindSessionParams {
  task_id: string;
  attempt_id: string;
  lease_token: string;
  session_id: string;
  /** what it really runs on */
  model?: Model;
  /** the same key with the same params returns the first answer again */
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
  /** the same key with the same params returns the first answer again */
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
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** Capabilities lists the methods and notifications. */
export interface Capabilities {
  methods: Array<string>;
  notifications: Array<string>;
}

/** Claim is a claimed task. */
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
  /** the same key with the same params returns the first answer again */
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

/** Compaction describes how a prompt was fitted into its budget. */
export interface Compaction {
  applied: boolean;
  stage: string;
  trace: Array<TraceStep>;
}

/** CompactionParams control how a prompt over its budget is shortened. A prompt that fits ignores them, and omitted lists those without effect. */
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

/** CompileAnchorParams are the params of compile_anchor. */
export interface CompileAnchorParams {
  /** the session that reads the anchor: its own work comes first, and its instructions are named; default `default` */
  session_id?: string;
  /** a whole number from 200 to 800; default `800` */
  max_tokens?: number;
}

/** CompileAnchorResult is the result of compile_anchor. */
export interface CompileAnchorResult {
  /** empty if nothing is being worked on and nothing waits */
  text: string;
  /** of the text */
  tokens: number;
  /** tokenizer of the token count */
  tokenizer: "estimate" | "o200k";
  /** the facts that the text names only by their number, and the methods that have them */
  omitted: Array<Omission>;
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
  /** input limit of the model; a whole number from 1 to 1000000000; default: the setting `prompt.max_input_tokens` */
  max_input_tokens?: number;
  /** how tokens are counted: four characters each, or with the vocabulary o200k_base; default: the setting `prompt.tokenizer`, which is `estimate` where it is not set */
  tokenizer?: "estimate" | "o200k";
  compaction?: CompactionParams;
  /** give the sections of the prompt by themselves, too, with whose words they hold */
  blocks?: boolean;
  /** returns the prompt without counting it or keeping it as the last prompt; the result has the last prompt */
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
  /** tokenizer of the token counts */
  tokenizer: "estimate" | "o200k";
  /** prompt_tokens_after as the estimate has it */
  prompt_tokens_estimate: number;
  /** estimate of a prompt with the whole plan and all facts in it, which the packet spares */
  prompt_tokens_resend: number;
  compaction: Compaction;
  omitted: Array<Omission>;
  /** only if the title of the item has changed since the run was started or replanned: the id may belong to another item now; says what to do */
  item_changed?: string;
  ledger_mode: "ledger_only" | "ledger_plus_fallback";
  fallback_reason?: string;
  /** the problem of the file, for a person */
  fallback_detail?: string;
  /** when this process first found that the file cannot be read as it is */
  fallback_since?: Time;
  /** when the version of the plan was written that is used instead */
  ledger_as_of?: Time;
  /** whether the plan was read anew */
  rebuilt: boolean;
  /** only if the call has blocks; their texts joined are the prompt */
  blocks?: Array<PromptBlock>;
  /** only with preview: the last prompt for this role of the run, if there is one */
  last_prompt?: LastPrompt;
  /** only with preview: why an existing last_prompt is left out */
  last_prompt_lost?: "too_large" | "damaged";
}

/** Concern is one thing that needs attention. */
export interface Concern {
  kind: "fault" | "questions" | "blocked_runs" | "failed_tasks" | "failed_instructions";
  /** one sentence for a person */
  text: string;
  count: number;
  /** the first 5 of them; none for a fault */
  ids: Array<string>;
  /** the words of a command that shows or helps the first of them in a terminal */
  command?: Array<string>;
}

/** ConnectionStatus describes the connection of the caller. */
export interface ConnectionStatus {
  /** notifications from the host that were dropped; nothing else reports that they had no effect */
  notifications_failed: number;
  /** notifications that the host did not read in time; events_since has their events */
  notifications_dropped: number;
}

/** ConsumeNoticesParams are the params of consume_notices. */
export interface ConsumeNoticesParams {
  notice_ids: Array<string>;
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** ConsumeNoticesResult is the result of consume_notices. */
export interface ConsumeNoticesResult {
  /** those that were still there */
  consumed: Array<string>;
  seq: number;
}

/** Counters count the failures of a run, each independently. */
export interface Counters {
  /** by role */
  invalid_results: Record<string, number>;
  worker_failures: number;
  review_rejections: number;
  stalled: number;
  review_loop: number;
  /** submissions with a red check */
  check_failures: number;
}

/** Counts counts the records in the store. */
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
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** Criterion is an acceptance criterion in the requirements file of a plan. */
export interface Criterion {
  line: number;
  text: string;
  /** by which items name it, such as 1.2 or FR-004 */
  id?: string;
}

/** Decision is the rule that moved a run. */
export interface Decision {
  rule: string;
  /** present count of the rule */
  count?: number;
  /** the number at which it does something else */
  limit?: number;
}

/** Diagnostic describes a part of a plan that was not read as written. */
export interface Diagnostic {
  /** the file below the folder that the plan is, in which the line counts */
  source?: string;
  line: number;
  column?: number;
  severity: "info" | "warning" | "error";
  code: string;
  message: string;
  /** it is open work and no item; totals.unread counts these */
  open?: boolean;
}

/** DialectRule names the dialect of the plans at some paths in the configuration. */
export interface DialectRule {
  pattern: string;
  dialect: string;
}

/** DialectSign is one piece of evidence for a dialect. */
export interface DialectSign {
  /** its line; absent if it is not in the file, but in its path or the configuration */
  line?: number;
  dialect: string;
  signal: string;
}

/** Directives are the directives of an item for its run. */
export interface Directives {
  /** the reviewers of the run, unless policy.reviewers says otherwise */
  review?: "spec-only" | "none" | "full";
  /** as in the plan; with a provider before a slash, it is the first model of the run's tasks that name none */
  model?: string;
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
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** DispatchResult is the result of dispatch_instructions. */
export interface DispatchResult {
  instructions: Array<Send>;
  /** those whose sends were used up in this pass */
  failed: Array<Instruction>;
  /** number of instructions of this pass that are left for the next call; none is sent again before */
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

/** ErrorData is the machine-readable part of an error. */
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

/** ErrorSaid is an error in the words of a worker. */
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
  /** only events about this run, task or instruction */
  subject_id?: string;
}

/** Evidence holds the proof of a completed plan. */
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

/** Fingerprint distinguishes versions of a file. */
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
  /** at most 20 */
  options?: Array<Option>;
  /** false: only an option is an answer; default `true` */
  allow_text?: boolean;
  /** the label of the option that forms suggest */
  default?: string;
  /** milliseconds until the default is taken automatically; absent: never; a whole number from 1000 to 2592000000 */
  default_after_ms?: number;
  /** what went wrong */
  error?: ErrorSaid;
  /** default `auto` */
  retry?: "auto" | "never" | "same_model";
  /** with error, from a host with its own schedule: the next model, for every class; the failure is not counted, and the task continues; also accepted as `nextModel` */
  next_model?: Model;
  /** the same key with the same params returns the first answer again */
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
  /** the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder */
  plan: string;
}

/** GetReceiptParams are the params of get_receipt. */
export interface GetReceiptParams {
  receipt_id: string;
}

/** HeartbeatParams are the params of heartbeat. */
export interface HeartbeatParams {
  task_id: string;
  lease_token: string;
  /** its length from now on; a whole number from 1000 to 3600000 */
  lease_ms?: number;
  progress?: Progress;
  /** the same key with the same params returns the first answer again */
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

/** Hold is one reason why an item cannot begin. */
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
  /** relative to the workspace, or absolute within the workspace or the folder of --output-dir */
  output_path?: string;
  /** the task of the queue that has this result; its id is then also accepted as task_id in the text */
  task_id?: string;
  attempt_id?: string;
  /** finishes the attempt that has this lease, in the same transaction */
  lease_token?: string;
  /** the prompt of the agent, which a retry prompt repeats; by default that of the task, or of compile_prompt */
  prompt?: string;
  /** more than that in the result is a warning; a whole number from 1 to 1000000000 */
  max_output_tokens?: number;
  /** the tree of the present files; without it, an approval makes the receipts of the run stale, and its checks run again */
  tree?: string;
  /** the same key with the same params returns the first answer again */
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
  /** absent if it was not applied */
  next_action?: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "run_checks" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
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
  /** an estimate for the result alone */
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
  /** the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder; also accepted as `specName` */
  plan: string;
  /** also accepted as `taskId` */
  item_id: string;
  policy?: Policy;
  /** default `existing` */
  resume?: "existing" | "new";
  /** the commit that is checked out when the work begins; the event run.started keeps it */
  commit?: string;
  /** a hash over the contents of the files when the work begins, as tree_after of a receipt */
  tree?: string;
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** InitRunResult is the result of init_run. */
export interface InitRunResult {
  run: Run;
  created: boolean;
  /** directives of the item for its run; run.policy has the reviewers */
  directives?: Directives;
  next_action: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "run_checks" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
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
  /** waybill ends when this process ends, and at once if it does not exist; a host on another machine omits it */
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
  state: "armed" | "queued" | "sent" | "delivered" | "acknowledged" | "failed" | "cancelled";
  /** whether an acknowledgement is expected */
  tracked: boolean;
  priority: boolean;
  /** how often it was handed out */
  sends: number;
  /** 1 + max_retries */
  sends_max: number;
  ack_on?: AckRule;
  /** armed again after each acknowledgement and each failure; sends counts those since it was last due */
  standing?: boolean;
  trigger?: Trigger;
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
  state: "queued" | "sent" | "delivered" | "acknowledged" | "failed" | "cancelled";
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
  /** further text of the item in the plan; an entry may have several lines */
  details: Array<string>;
  leverage?: string;
  purpose?: string;
  blocked_reason?: string;
  /** of a parent, from its children */
  derived_status?: "pending" | "in_progress" | "completed" | "blocked" | "skipped";
}

/** ItemOutcome is the outcome of one item of a plan. */
export interface ItemOutcome {
  item_id: string;
  title: string;
  /** whether a run was approved, or the file says so */
  done_by: "run" | "plan";
  run_id?: string;
  /** of a run with required checks: proof.state of the run */
  proof?: string;
  attempts?: number;
  review_rejections?: number;
  summary?: string;
  files_changed: Array<string>;
}

/** LastPrompt is the last prompt of a role of a run, for display only. It is kept for 30 days by default. After a kill, the prompt of the last second may be missing. */
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
  /** why the progress ledger differs from the file */
  fallback_reason?: string;
  /** the problem of the file, for a person */
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
  /** the file no longer exists; the fingerprint is that of its last reading */
  gone?: boolean;
  /** why the file is unreadable, if it is; the fingerprint is that of its last reading */
  stale?: string;
  /** the problem of the file, such as missing, not_regular or no_items */
  stale_reason?: string;
}

/** Limits are the limits in force. */
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
  state?: "armed" | "queued" | "sent" | "delivered" | "acknowledged" | "failed" | "cancelled";
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

/** ListReceiptsParams are the params of list_receipts. */
export interface ListReceiptsParams {
  /** without it, the receipts of all runs */
  run_id?: string;
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
  /** order by time of creation; a cursor belongs to the order of its page; default `oldest` */
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
  /** number of notifications that were dropped here; events_since has their events */
  dropped?: number;
  /** a restore replaced the event log; what was read of the old one may no longer be true */
  rewound?: boolean;
  /** then, from where events_since goes on when the lists were read anew */
  cursor?: string;
}

/** Model names the model of an agent. */
export interface Model {
  provider_id: string;
  model_id: string;
  variant?: string;
}

/** Moves counts the state changes of instructions by this process. It excludes sends that were taken back. */
export interface Moves {
  first_sends: number;
  repeats: number;
  /** in time */
  acknowledged: number;
  failed: number;
}

/** Next is the next action of a run, with its reason. */
export interface Next {
  action: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "run_checks" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
  /** the role of the agent, if one has to act */
  role?: string;
  /** with advance_to_next_item: the items that can begin now */
  item_ids: Array<string>;
  /** with run_checks: the required checks that are not green on the present files */
  checks?: Array<string>;
}

/** NextStep is a call that would change the state of the subject. */
export interface NextStep {
  /** a method, or edit_plan where a person has to edit the plan file */
  action: string;
  text: string;
  /** the id that the method acts on: the explained thing, or one that it waits for */
  subject: string;
  /** the possible callers, the usual one first; waybill means waybill work */
  by: Array<"host" | "person" | "waybill" | "agent">;
  /** the words of a command that does the same in a terminal; … stands for a text, COMMAND for the command of an agent */
  command?: Array<string>;
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

/** OperatorMatch says which operator of an ack_on matched which text of an event. */
export interface OperatorMatch {
  instruction_id: string;
  path: string;
  /** of an alternative in $any its own operator, or $any for a plain value */
  operator: string;
  /** its first 200 characters; of $command the command in the line */
  text: string;
}

/** Option is one answer that a question offers. */
export interface Option {
  /** one line of at most 200 characters; labels that differ only in case are refused */
  label: string;
  /** at most 4 KiB */
  detail?: string;
}

/** OtherFile is a file or folder among plans that is not a plan. */
export interface OtherFile {
  path: string;
  /** why it is no plan */
  why: PlanError;
}

/** Packet is the set of ledger facts after the stable prefix. */
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
  /** totals of the file */
  totals: Totals;
  /** counts from the runs of its items; absent if there are none */
  runs?: PlanRuns;
  /** why the runs cannot be read; the rest comes from the file alone */
  runs_error?: PlanError;
  items: Array<Item>;
  diagnostics: Array<Diagnostic>;
  /** evidence for the dialect, the deciding one first, and for others */
  evidence: Array<DialectSign>;
  /** status of each mark in a box: -, ~ and those of a legend; absent if tasks have no boxes */
  marks?: Record<string, string>;
  /** why this is the last good reading and not the file as it is */
  stale?: string;
  /** the problem of the file, such as not_regular, outside_workspace or no_items */
  stale_reason?: string;
  /** when this process first found that the file cannot be read as it is */
  stale_since?: Time;
  /** when the version was written that is shown instead */
  as_of?: Time;
}

/** PlanError is the reason why a plan is unreadable. */
export interface PlanError {
  code: ErrorCode;
  reason?: string;
  message: string;
}

/** PlanList is the result of list_plans. */
export interface PlanList {
  items: Array<PlanSummary>;
  /** one sentence each: folders that were not searched, the number of plans if only the latest 100 are listed, and the number of files that were not read; plans may be missing from items */
  problems: Array<string>;
  /** files and folders in which no item was found; they lie where tools keep plans among other files */
  others: Array<OtherFile>;
}

/** PlanRuns counts the items without children by the state of their latest runs. */
export interface PlanRuns {
  /** items whose latest run was approved, whether or not the file says that they are completed */
  approved: number;
  /** those of approved whose required checks are green on their files */
  proven: number;
  /** items that the file says are completed while their latest run is running or blocked */
  unapproved: number;
}

/** PlanSummary is one plan in a list. */
export interface PlanSummary {
  /** how other methods name it */
  plan: string;
  path: string;
  dialect?: string;
  /** the evidence that decided the dialect; get_plan has all evidence */
  dialect_reason?: string;
  /** totals of the file */
  totals: Totals;
  /** counts from the runs of its items; absent if there are none */
  runs?: PlanRuns;
  fingerprint: Fingerprint;
  diagnostics_count: number;
  /** why it cannot be read */
  error?: PlanError;
  /** why this is the last good reading and not the file as it is */
  stale?: string;
  /** the problem of the file, as in error, also without an earlier reading */
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
  /** reviewers that must approve; an empty list means none; by default both, or the one reviewer of a host that says reviewer in its first review; default: the setting `policy.reviewers` */
  reviewers?: Array<"spec-reviewer" | "code-quality-reviewer">;
  /** the form of results that prompts and retry prompts ask for; both are read; default: the setting `policy.result_form`, which is `headers` where it is not set */
  result_form?: "headers" | "json";
  /** true: a result without the key of its prompt is invalid; false: it only has a warning; default: the setting `policy.require_key`, which is `false` where it is not set */
  require_key?: boolean;
  /** names of the checks that must be green on the present files before the run is done, besides those of the settings; facts is the built-in check of facts; default: the setting `policy.require_checks` */
  require_checks?: Array<string>;
  /** require adds facts to require_checks; with warn, waybill work only records whether they hold; without it, waybill work requires them in a repository of git; default: the setting `policy.facts` */
  facts?: "require" | "warn" | "off";
  /** the submission with a red check at which the run is blocked; a whole number from 1 to 100; default: the setting `policy.check_failures`, which is `3` where it is not set */
  check_failures?: number;
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

/** Progress is the progress of a worker. */
export interface Progress {
  message: string;
  /** a whole number from 0 to 100 */
  percent?: number;
}

/** ProgressLedger holds the facts of a run about its plan. */
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

/** Proof is how much the receipts of a run prove about its last submission. */
export interface Proof {
  /** none_required: only said; missing: a required check has no receipt; stale: the files changed since; untrusted: a person must look; refuted: a check is red; proven: all required checks are green on the present files */
  state: "none_required" | "missing" | "stale" | "untrusted" | "refuted" | "proven";
  required?: Array<string>;
  green?: Array<string>;
  red?: Array<string>;
  /** the required checks that are not green on the present files */
  due?: Array<string>;
  /** of the files of the receipts */
  tree?: string;
  /** the number of submissions of a worker; a receipt counts for its round */
  round: number;
}

/** QueueInstructionParams are the params of queue_instruction. */
export interface QueueInstructionParams {
  /** at most 1 MiB */
  content: string;
  /** default `default` */
  session_id?: string;
  /** goes ahead of those without; default `false` */
  priority?: boolean;
  /** the same key with the same params returns the first answer again */
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
  /** sends after the first; of a standing instruction for each firing, and 0 by default; a whole number from 0 to 1000; default `3` */
  max_retries?: number;
  /** a reported event that matches acknowledges the instruction */
  ack_on?: AckRule;
  /** the instruction stays until it is cancelled, and is due each time trigger fires and no acknowledgement followed; default `false` */
  standing?: boolean;
  /** required if standing is true */
  trigger?: Trigger;
  /** the same key with the same params returns the first answer again */
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
  /** the first open boxes and signs that are not items, so that no run can work on them; a person does them or adds an id */
  open_boxes?: Array<Diagnostic>;
  /** in the order of the plan, which is no dependency; a single worker takes the first */
  ready: Array<string>;
  /** those of ready that the plan says may be worked on beside others */
  parallel: Array<string>;
  ready_total: number;
  waiting: Array<WaitingItem>;
  /** items that have to be done and are not, plus unread */
  left: number;
  /** number of open boxes and signs of the plan that are not items; the plan is not completed while there are any */
  unread?: number;
  completed: boolean;
  /** counts from the runs of all items; absent if there are none */
  runs?: PlanRuns;
  /** why this rests on the last good reading and not on the file as it is */
  stale?: string;
  /** the problem of the file, such as not_regular, outside_workspace or no_items */
  stale_reason?: string;
  /** when this process first found that the file cannot be read as it is */
  stale_since?: Time;
  /** when the version was written that this rests on instead */
  as_of?: Time;
}

/** ReadyItemsParams are the params of ready_items. */
export interface ReadyItemsParams {
  /** the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder */
  plan: string;
  /** of ready; waiting has every other item; a whole number from 1 to 500; default `50` */
  limit?: number;
}

/** RebuildCounts count the new readings of a plan for the facts of a run, and the failed ones. */
export interface RebuildCounts {
  total: number;
  /** by reason */
  fallbacks: Record<string, number>;
  /** sum over all prompts that used the last reading: time for which the plan had been unreadable */
  fallback_ms: number;
}

/** Receipt records one execution of a check. It never changes, and is kept as long as the event log. */
export interface Receipt {
  receipt_id: string;
  run_id: string;
  /** when it was recorded */
  at: Time;
  /** its name */
  check: string;
  /** protected: it passed, but the work changed a file that the check protects; untrusted: it was not run, because no person trusts its command as it is now; of facts, protected says that nothing was changed, and untrusted that git could not be asked */
  outcome: "green" | "red" | "protected" | "untrusted";
  /** proof.round of the run when the check began; by default the present one; a whole number from 0 */
  round?: number;
  command?: string;
  exit_code?: number;
  /** why it is not green, as far as the exit code does not say it, such as 'timed out after 10m0s' or 'ended by SIGKILL'; if it is green, why it is bound to no files */
  reason?: string;
  /** how long it ran; a whole number from 0 */
  duration_ms?: number;
  /** a hash over the contents of the files before it ran; without one the receipt is not bound to files, and no approval rests on it */
  tree_before?: string;
  /** the same behind it; if it differs, the receipt is stale */
  tree_after?: string;
  /** the end of its output, at most 8 KiB */
  output?: string;
  /** SHA-256 of all its output */
  output_hash?: string;
  /** with protected: the protected files that the work changed */
  changed?: Array<string>;
  /** the program that ran it */
  runner?: string;
}

/** ReceiptList is a page of receipts, the oldest first. */
export interface ReceiptList {
  items: Array<Receipt>;
  next_cursor?: string;
}

/** ReplanParams are the params of replan. */
export interface ReplanParams {
  run_id: string;
  /** the changes that are needed */
  summary: string;
  /** the steps from here on, in order; without them those of the last version */
  plan_items?: Array<string>;
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** ReplanResult is the result of replan. */
export interface ReplanResult {
  run: Run;
  /** with retry_with_preamble */
  retry_prompt?: string;
  next_action: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "run_checks" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
  next: Next;
  seq: number;
  task_ledger: TaskLedger | null;
  /** whether something else is to be done next; only that ends a block */
  frontier_changed: boolean;
}

/** Reply is an answer to a task. */
export interface Reply {
  /** from 1 */
  number: number;
  reply: string;
  /** the label of the option that it takes */
  option?: string;
  /** whether time took the default; no person answered */
  by_time?: boolean;
  question?: string;
  by?: string;
  at: Time;
  /** the attempt that had asked */
  attempt_id: string;
}

/** ReplyParams are the params of reply. */
export interface ReplyParams {
  task_id: string;
  /** at most 64 KiB; a text that is a label takes that option; needed without option */
  reply?: string;
  /** the label of an option of the question */
  option?: string;
  by?: string;
  /** the session that has this answer already, such as from a dialog of its host */
  session_id?: string;
  /** the attempt whose question is answered, from list_awaiting; if the task has gone on since, ALREADY_RESOLVED */
  attempt_id?: string;
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** ReplyResult is the result of reply. */
export interface ReplyResult {
  success: boolean;
  task_id: string;
  old_status: "AWAITING_RESPONSE" | "ERROR" | "CANCELLED" | "BLOCKED";
  /** COMPLETE for a question of ask_user */
  new_status: "QUEUED" | "COMPLETE";
  seq: number;
}

/** ReplyText is the text and the time of a reply. */
export interface ReplyText {
  content: string;
  timestamp: Time;
}

/** ReportCheckParams are the params of report_check. */
export interface ReportCheckParams {
  run_id: string;
  /** its name */
  check: string;
  /** protected: it passed, but the work changed a file that the check protects; untrusted: it was not run, because no person trusts its command as it is now; of facts, protected says that nothing was changed, and untrusted that git could not be asked */
  outcome: "green" | "red" | "protected" | "untrusted";
  /** proof.round of the run when the check began; by default the present one; a whole number from 0 */
  round?: number;
  command?: string;
  exit_code?: number;
  /** why it is not green, as far as the exit code does not say it, such as 'timed out after 10m0s' or 'ended by SIGKILL'; if it is green, why it is bound to no files */
  reason?: string;
  /** how long it ran; a whole number from 0 */
  duration_ms?: number;
  /** a hash over the contents of the files before it ran; without one the receipt is not bound to files, and no approval rests on it */
  tree_before?: string;
  /** the same behind it; if it differs, the receipt is stale */
  tree_after?: string;
  /** the end of its output, at most 8 KiB */
  output?: string;
  /** SHA-256 of all its output */
  output_hash?: string;
  /** with protected: the protected files that the work changed */
  changed?: Array<string>;
  /** the program that ran it */
  runner?: string;
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** ReportCheckResult is the result of report_check. */
export interface ReportCheckResult {
  run: Run;
  /** with retry_with_preamble */
  retry_prompt?: string;
  next_action: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "run_checks" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
  next: Next;
  seq: number;
  receipt: Receipt;
  /** absent if the receipt says nothing about the last submission */
  decision?: Decision;
}

/** ReportEventParams are the params of report_event. */
export interface ReportEventParams {
  type: string;
  data?: Record<string, unknown>;
  /** without it, all sessions are looked at */
  session_id?: string;
  /** posts a notice with this text, at most 500 characters on one line, that has data; for an event that a person must know of */
  notice?: string;
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** ReportEventResult is the result of report_event. */
export interface ReportEventResult {
  /** the ids of the instructions that matched */
  acknowledged: Array<string>;
  /** whether none was acknowledged */
  unmatched: boolean;
  /** the ids of the standing instructions that wait for a dispatch because the event fired their trigger */
  due?: Array<string>;
  /** what the operators of their rules matched */
  matched?: Array<OperatorMatch>;
  seq: number;
}

/** Result is the result of an agent, without the members that it lacks. */
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

/** ResultTest is a check that a worker ran. */
export interface ResultTest {
  command: string;
  passed: boolean;
  failures: Array<string>;
}

/** ResultWarning is a tolerated or odd part that changed nothing. */
export interface ResultWarning {
  code: string;
  line?: number;
  message: string;
}

/** ResumeRunParams are the params of resume_run. */
export interface ResumeRunParams {
  /** the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder */
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
  next_action: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "run_checks" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
  next: Next;
  /** with retry_with_preamble */
  retry_prompt?: string;
  /** with plan_completed */
  evidence?: Evidence;
  task_ledger: TaskLedger | null;
}

/** Retry is the attempt that follows a failed one. */
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
  /** the same key with the same params returns the first answer again */
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

/** ReviewLoop reports how often the same issues came back. */
export interface ReviewLoop {
  count: number;
  threshold: number;
  /** two sets of issues take turns */
  alternating?: boolean;
  flagged: boolean;
}

/** Run is the work on one item of one plan. */
export interface Run {
  run_id: string;
  plan: string;
  item_id: string;
  state: "running" | "blocked" | "done" | "failed";
  /** why it is blocked */
  reason?: string;
  counters: Counters;
  policy: Policy;
  proof: Proof;
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
  /** the role of the report */
  role?: string;
  verdict?: string;
  decision?: Decision;
  next_action?: string;
}

/** RunParams are the params of a method about one run. */
export interface RunParams {
  run_id: string;
}

/** Send is one send of an instruction. */
export interface Send {
  instruction_id: string;
  content: string;
  /** which send this is, from 1 */
  send: number;
  sends_max: number;
  tracked: boolean;
  /** the text for the agent */
  text: string;
}

/** ServerInfo names this process. */
export interface ServerInfo {
  name: string;
  version: string;
  pid: number;
}

/** SessionEventParams are the params of report_session_event. For type error, data may have class, http_status and name. For message.updated, session.error and session.status, data is the data of the host's event. */
export interface SessionEventParams {
  session_id: string;
  type: "started" | "progress" | "idle" | "error" | "deleted" | "message.updated" | "session.error" | "session.status";
  data?: Record<string, unknown>;
  message?: string;
  /** the same key with the same params returns the first answer again */
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
  /** the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder */
  plan: string;
  item_id: string;
  status: "pending" | "in_progress" | "completed" | "blocked" | "skipped";
  /** tells items apart that share an id; a whole number from 1 */
  line?: number;
  /** fingerprint.hash of the plan that the caller read; nothing is written if the file has changed */
  expected_hash?: string;
  /** the same key with the same params returns the first answer again */
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

/** Setting is a setting that differs from its default. */
export interface Setting {
  /** such as prompt.max_output_tokens */
  name: string;
  value: unknown;
  /** its source: a flag such as --tokenizer, an environment variable, or the path of a configuration file */
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

/** Stalled reports for how long a run has made no progress. */
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
  moves: Moves;
  /** the configuration of the plans' dialects; the first rule that fits a path counts */
  dialects: Array<DialectRule>;
  /** settings of this process that differ from their defaults */
  settings: Array<Setting>;
  /** problems, one sentence each */
  degraded: Array<string>;
  /** whether all is well, which means that attention is empty */
  well: boolean;
  /** everything that needs attention, including the sentences of degraded */
  attention: Array<Concern>;
}

/** StoreStatus describes the store. */
export interface StoreStatus {
  kind: string;
  path?: string;
  size_bytes: number;
  mode: "read_write" | "read_only";
  schema_version: number;
}

/** Task is a task as the host sees it. Model, session and timing are those of its newest attempt. */
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
  /** of a run with required checks: proof.state of the run */
  proof?: string;
  /** the session that is told of its end */
  parent_session_id?: string;
  models: Array<Model>;
  max_attempts: number;
  /** attempts that failed or were lost since the task was created or retried, without those after which the host named the next model */
  failures: number;
  labels?: Record<string, string>;
  current_attempt_id?: string;
  attempt_number?: number;
  session_id?: string;
  model?: Model;
  /** output of the last attempt with an output; with a user_reply, the output that was replied to; lists have only the beginning of a long one */
  output?: string;
  question?: string;
  options?: Array<Option>;
  /** with options: whether own words are an answer, too */
  allow_text?: boolean;
  /** the label of an option */
  default?: string;
  /** when time takes the default unless a person answers before */
  default_at?: Time;
  /** the answer that an attempt carries and none has acted on yet */
  user_reply?: string;
  /** the option that this answer takes */
  user_option?: string;
  /** whether time took the default; no person answered */
  user_by_time?: boolean;
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
  /** the texts and times of replies, under the names that other hosts read */
  reply_history: Array<ReplyText>;
}

/** TaskError is the error of an attempt. */
export interface TaskError {
  message: string;
  /** what may help */
  class?: "transient" | "provider" | "terminal" | "user";
  http_status?: number;
  name?: string;
}

/** TaskLedger holds the facts of a run about its item. */
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
  options?: Array<Option>;
  /** with options: whether own words are an answer, too */
  allow_text?: boolean;
  /** the label of an option */
  default?: string;
  /** when time takes the default unless a person answers before */
  default_at?: Time;
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

/** Telemetry is the result of get_telemetry. After a kill, counts of compiled prompts may lack the last second; all others are exact. */
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
  /** the same prompts with the whole plan and all facts, by the same estimate */
  resend: number;
  /** resend less sent */
  saved: number;
}

/** Totals counts the work that a plan file shows: items without children, and open boxes that are no items. */
export interface Totals {
  total: number;
  completed: number;
  in_progress: number;
  pending: number;
  blocked: number;
  skipped: number;
  /** parents with children; not in total */
  groups: number;
  /** open boxes and signs that are no items; they are in total and pending */
  unread?: number;
}

/** TraceStep is the size of the prompt after one stage. */
export interface TraceStep {
  stage: string;
  prompt_tokens: number;
}

/** Trigger selects the reported events that make a standing instruction due. An event that acknowledges it does not. */
export interface Trigger {
  /** the exact type */
  event_type: string;
  /** as in an acknowledgement rule */
  match?: Record<string, unknown>;
  /** a pattern for the file that the event names, as in tool_input.file_path: *.go, docs/*.md. Without a slash at its beginning it also fits the end of a path, from any folder on */
  path?: string;
}

/** UnblockRunParams are the params of unblock_run. */
export interface UnblockRunParams {
  run_id: string;
  /** the solved cause; the event has it as why */
  reason?: string;
  /** the same key with the same params returns the first answer again */
  idempotency_key?: string;
}

/** UnblockRunResult is the result of unblock_run. */
export interface UnblockRunResult {
  run: Run;
  /** with retry_with_preamble */
  retry_prompt?: string;
  next_action: "dispatch_worker" | "dispatch_reviewer" | "dispatch_worker_fixes" | "retry_worker" | "retry_with_preamble" | "spawn_fresh_reviewer" | "run_checks" | "advance_to_next_item" | "plan_completed" | "halt_and_escalate";
  next: Next;
  seq: number;
}

/** WaitingFor is one reason why a task waits. */
export interface WaitingFor {
  kind: "depends_on" | "retry_delay" | "provider_cooling";
  task_id?: string;
  /** of that task */
  status?: string;
  until?: Time;
}

/** WaitingItem is an item that cannot begin now, with the reasons. */
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
  /** Names the host and the workspace. Optional: every method works without it. A repeated call does no harm. */
  "initialize": { params: InitializeParams; result: InitializeResult };
  /** Answers at once. */
  "ping": { params: Record<string, never>; result: PingResult };
  /** Describes the process, its store, its watcher, the counts of the store, and everything that is degraded. */
  "get_status": { params: Record<string, never>; result: StatusResult };
  /** Returns the OpenRPC document of this binary. */
  "rpc.discover": { params: Record<string, never>; result: Record<string, unknown> };
  /** Refuses new requests, finishes those in flight, then answers null. */
  "shutdown": { params: Record<string, never>; result: null };
  /** Ends the process: with status 0 after shutdown, with 1 without. */
  "exit": { params: Record<string, never>; result: null };
  /** Accepted and ignored, for hosts that always send it. */
  "initialized": { params: Record<string, never>; result: null };
  /** Cancels a request in flight. It is answered CANCELLED if nothing was applied, otherwise as usual. */
  "$/cancelRequest": { params: CancelParams; result: null };
  /** Queues a plain instruction. It is sent once and not tracked. */
  "queue_instruction": { params: QueueInstructionParams; result: InstructionResult };
  /** Queues a tracked instruction. Each dispatch pass sends it again until it is acknowledged. After 1 + max_retries sends it fails, with a notice. A standing one is sent only after its trigger fired, and waits for its trigger again after an acknowledgement or a failure. */
  "queue_instruction_with_ack": { params: QueueInstructionWithAckParams; result: QueueInstructionWithAckResult };
  /** Runs one dispatch pass: sends queued instructions, sends unacknowledged ones again, and fails those without sends left. */
  "dispatch_instructions": { params: DispatchParams; result: DispatchResult };
  /** Confirms that a tracked instruction took effect. A repeated call returns the same answer. A failed instruction stays failed and gets late_ack_at. */
  "acknowledge": { params: AcknowledgeParams; result: AcknowledgeResult };
  /** Reports an event, and acknowledges every outstanding instruction whose ack_on matches it. Then it fires the trigger of every other standing instruction that it fits. A tool call in the session of an attempt is kept in the event log, for audits. */
  "report_event": { params: ReportEventParams; result: ReportEventResult };
  /** Lists the instructions that failed because no agent acknowledged them. */
  "get_failed_instructions": { params: FailedParams; result: InstructionList };
  /** Lists instructions in the order of queueing, or returns one of them. */
  "list_instructions": { params: ListInstructionsParams; result: InstructionList };
  /** Cancels one instruction, or with all every standing or outstanding instruction of a session. */
  "cancel_instruction": { params: CancelInstructionParams; result: CancelInstructionResult };
  /** Queues a task for an agent, with its chain of models and its dependencies. */
  "create_task": { params: CreateTaskParams; result: TaskResult };
  /** Returns the oldest ready task under a lease, with its prompt. A task goes to one caller only. */
  "claim_task": { params: ClaimTaskParams; result: ClaimTaskResult };
  /** Names the session and the model in which an attempt runs. */
  "bind_session": { params: BindSessionParams; result: AttemptReport };
  /** Extends the lease of a running attempt. The answer tells whether the host wants the task to end. */
  "heartbeat": { params: HeartbeatParams; result: HeartbeatResult };
  /** Reports the end of an attempt. The class of a failure decides whether the task is retried on the same model, on the next one, or not at all. A repeated report returns the same answer. */
  "finish_attempt": { params: FinishAttemptParams; result: FinishAttemptResult };
  /** Reports an event of a session. An event of a session that no longer works on its task changes nothing. */
  "report_session_event": { params: SessionEventParams; result: SessionEventResult };
  /** Queues a task in ERROR, CANCELLED or BLOCKED again, with a fresh budget of attempts. */
  "retry_task": { params: RetryTaskParams; result: RetryTaskResult };
  /** Cancels a task. A running task ends when its worker reports the end, or when its lease expires. */
  "cancel_task": { params: CancelTaskParams; result: TaskResult };
  /** Returns a task with its attempts and replies. Of many attempts, it returns the first and the last few. */
  "get_task": { params: TaskParams; result: TaskDetail };
  /** Lists tasks in the order of creation, the oldest or the newest first, and what a queued one waits for. */
  "list_tasks": { params: ListTasksParams; result: TaskList };
  /** Returns the attempts of a task in order, and as text with one line each. */
  "get_timeline": { params: TimelineParams; result: Timeline };
  /** Puts a question of a session before a person, as a task that no worker claims. The answer completes the task, and goes to the session as an instruction. */
  "ask_user": { params: AskUserParams; result: TaskResult };
  /** Lists the tasks that wait for an answer, the oldest first. */
  "list_awaiting": { params: ListAwaitingParams; result: AwaitingList };
  /** Answers the question of a task by one of its options or in own words, and continues the task. Of several replies the first wins. */
  "reply": { params: ReplyParams; result: ReplyResult };
  /** Lists the plans of the workspace with their totals. */
  "list_plans": { params: Record<string, never>; result: PlanList };
  /** Returns one plan: every item, and a diagnostic for every other box or task sign. */
  "get_plan": { params: GetPlanParams; result: Plan };
  /** Lists the items of a plan that can begin now, and for each other item the reasons why it cannot. Only dependencies that the plan names hold an item back, not its order. A blocked item holds back only its dependents. */
  "ready_items": { params: ReadyItemsParams; result: ReadyItems };
  /** Writes the status of an item into its plan file: the mark in its box or its status word, and no other byte. It never overwrites a change that was saved in between. */
  "set_item_status": { params: SetItemStatusParams; result: SetItemStatusResult };
  /** Starts a run of an item, or returns its live run. */
  "init_run": { params: InitRunParams; result: InitRunResult };
  /** Finds the newest run of an item and returns the prompt to continue it, even if the plan is unreadable. */
  "resume_run": { params: ResumeRunParams; result: ResumeRunResult };
  /** Lists runs, the newest first, including those of plans that no longer exist, or returns one of them. */
  "list_runs": { params: ListRunsParams; result: RunList };
  /** Compiles the prompt for a role of a run from the present facts. Each call reads the plan file. */
  "compile_prompt": { params: CompilePromptParams; result: CompilePromptResult };
  /** Compiles a text with which an agent that lost its memory goes on: the work and its next step, what is proven and what is only said, open questions, and instructions that are due. It sends no instruction. */
  "compile_anchor": { params: CompileAnchorParams; result: CompileAnchorResult };
  /** Judges the output of an agent, moves the run accordingly, and returns the next action. With a lease it also finishes the attempt. */
  "ingest_output": { params: IngestOutputParams; result: IngestOutputResult };
  /** Records how a check ended, as a receipt, and moves the run accordingly. Only a host calls it: no agent can write a receipt. */
  "report_check": { params: ReportCheckParams; result: ReportCheckResult };
  /** Lists the receipts of a run or of all runs, the oldest first. */
  "list_receipts": { params: ListReceiptsParams; result: ReceiptList };
  /** Returns one receipt. */
  "get_receipt": { params: GetReceiptParams; result: Receipt };
  /** Records a new version of the plan for an item. It ends a block if the next items have changed. */
  "replan": { params: ReplanParams; result: ReplanResult };
  /** Ends the block of a run after a person solved its cause. All counters of the run start again at zero, each role keeps its standing, and blocked tasks are queued again. */
  "unblock_run": { params: UnblockRunParams; result: UnblockRunResult };
  /** Returns the stored ledgers of a run. */
  "get_ledger": { params: GetLedgerParams; result: Ledger };
  /** Returns the facts of a run with their revision. */
  "get_snapshot": { params: RunParams; result: Snapshot };
  /** Returns counts of compiled prompts and judged results, for one run or for all. */
  "get_telemetry": { params: TelemetryParams; result: Telemetry };
  /** Returns the events after a cursor, in order and without gaps. */
  "events_since": { params: EventsSinceParams; result: EventList };
  /** Lists the notices that were not consumed. It counts as a delivery of each, unless peek is true. */
  "list_notices": { params: ListNoticesParams; result: NoticeList };
  /** Marks notices as consumed, so that they are not delivered again. */
  "consume_notices": { params: ConsumeNoticesParams; result: ConsumeNoticesResult };
  /** Explains why an instruction, task, run or item is in its state, and what happens next. */
  "explain": { params: ExplainParams; result: Explanation };
}

/** From the name of a notification that waybill sends to its params. */
export interface NotificationMap {
  /** An instruction waits for a dispatch. */
  "instruction/available": InstructionNote;
  /** An instruction changed its state. */
  "instruction/updated": InstructionNote;
  /** A task changed its state. */
  "task/updated": TaskNote;
  /** A task asks a person. */
  "task/awaiting_response": TaskNote;
  /** An attempt changed its state, or was reported on. */
  "attempt/updated": AttemptNote;
  /** A run began, changed or ended. */
  "run/updated": RunNote;
  /** The reading of a plan changed, or the plan became unreadable or readable. */
  "ledger/changed": LedgerNote;
  /** A notice waits to be consumed. */
  "notice/posted": NoticeNote;
  /** A message about the connection, such as dropped notifications, or about the event log as a whole. */
  "log": LogNote;
}
