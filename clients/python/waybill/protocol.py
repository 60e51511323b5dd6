# Generated from the declarations in schema/ by `go test ./schema/gen -update`. Do not edit.
"""The types of the protocol. Nothing in here talks to waybill; what does is in the modules beside it."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional, TypedDict, Union, overload

#: The version of the protocol that is described here.
PROTOCOL_VERSION = 1

#: The size in bytes of the largest message that waybill takes.
MAX_MESSAGE_BYTES = 8388608

#: A Time is an RFC 3339 instant in UTC.
Time = str

#: A Code is the stable name of an error: the contract of data.code.
ErrorCode = Literal[
    # The message is not JSON. The session continues with the next message.
    "PARSE_ERROR",
    # The frame around the message is broken. The session continues with the next frame that it finds.
    "FRAMING_ERROR",
    # The message is not valid UTF-8, or has half of a surrogate pair.
    "INVALID_UTF8",
    # The message is JSON but not a request.
    "INVALID_REQUEST",
    # A request with the same id is still in flight.
    "DUPLICATE_ID",
    # A member occurs twice in one object.
    "DUPLICATE_KEY",
    # The batch is empty or has too many members.
    "INVALID_BATCH",
    # The message is larger than limits.max_message_bytes.
    "MESSAGE_TOO_LARGE",
    # The message is nested more deeply than 128 levels.
    "NESTING_TOO_DEEP",
    # There is no such method; details.did_you_mean lists the nearest.
    "METHOD_NOT_FOUND",
    # A param is missing or has the wrong type; details.errors lists all of them, with a JSON Pointer each.
    "INVALID_PARAMS",
    # A param is not known; details names it and the nearest known one.
    "UNKNOWN_FIELD",
    # The content is empty or only white space.
    "EMPTY_CONTENT",
    # The path leaves the workspace or is not a portable relative path.
    "PATH_OUTSIDE_WORKSPACE",
    # A defect of waybill. data.incident finds the details in its log.
    "INTERNAL",
    # The request was cancelled before anything was applied.
    "CANCELLED",
    # Over HTTP only: the token is missing or wrong, or the one-time code is spent.
    "UNAUTHORIZED",
    # Over HTTP only: the request names another host, or a page of another origin sent it.
    "FORBIDDEN",
    # Over HTTP only: the path does not take this verb; details.allow lists those that it takes.
    "METHOD_NOT_ALLOWED",
    # Over HTTP only: a body must be application/json and not be compressed.
    "UNSUPPORTED_MEDIA_TYPE",
    # The state does not allow this call; data.details.state, for a task status, names the state, and allowed the calls that it allows.
    "INVALID_STATE",
    # No instruction has this id.
    "INSTRUCTION_NOT_FOUND",
    # No task has this id.
    "TASK_NOT_FOUND",
    # The task has no attempt with this id.
    "ATTEMPT_NOT_FOUND",
    # No run has this id.
    "RUN_NOT_FOUND",
    # No receipt has this id, or it was removed with the oldest part of the event log.
    "RECEIPT_NOT_FOUND",
    # The workspace has no such plan.
    "PLAN_NOT_FOUND",
    # The file at output_path is missing or unreadable; details.reason says which.
    "OUTPUT_NOT_FOUND",
    # Nothing has this id.
    "SUBJECT_NOT_FOUND",
    # The cursor is older than the log, or from another log, such as one before a restore. Read the lists again and continue at details.newest; details.oldest has everything in the log.
    "CURSOR_EXPIRED",
    # The idempotency key was used before with other params.
    "IDEMPOTENCY_MISMATCH",
    # Another operation on the task is in progress; details.status has its status. Or the plan file has changed since the caller read it; see details.expected_hash and found_hash.
    "CONFLICT",
    # The question has been answered, or the task has continued; details.status has its status.
    "ALREADY_RESOLVED",
    # The session belongs to another task or runs another attempt, or the attempt runs in another session.
    "SESSION_ALREADY_BOUND",
    # The attempt has ended and cannot change.
    "ATTEMPT_FINALIZED",
    # A value is over its limit; details.limit names it.
    "TOO_LARGE",
    # The plan file does not exist.
    "progress_ledger_missing_tasks",
    # No item of the plan file is readable; details has the reason.
    "progress_ledger_parse_failed",
    # A fact that the prompt needs is missing or damaged.
    "progress_ledger_incomplete",
    # The plan has no item with this id.
    "item_not_found",
    # The item cannot have this status in its plan; details.reason says why, and lines has its lines.
    "ITEM_NOT_SETTABLE",
    # The plan file is not writable; details.reason says why.
    "PLAN_NOT_WRITABLE",
    # The prompt exceeds its budget, and all that remains is required.
    "dispatch_prompt_overflow_terminal",
    # No workspace was found; the message has the reason.
    "WORKSPACE_UNRESOLVED",
    # The protocol version is not supported; details has the range.
    "UNSUPPORTED_VERSION",
    # Too many instructions wait.
    "QUEUE_FULL",
    # Too many requests are in flight.
    "OVERLOADED",
    # waybill is shutting down and accepts no new request.
    "SHUTTING_DOWN",
    # The disk is full. Reports about existing work and reads still succeed.
    "STORE_FULL",
    # The store could not be read or written; retry with the same idempotency key.
    "STORE_IO_ERROR",
    # The store is read-only.
    "STORE_READ_ONLY",
    # The store was written by a newer waybill.
    "STORE_NEWER_SCHEMA",
    # Another process has locked the store.
    "STORE_BUSY",
    # The store or a record in it is damaged; the message says which. Nothing was deleted.
    "STORE_CORRUPT",
    # The file of the store was removed or replaced while it was open; the message names the rescued copy.
    "STORE_LOST",
    # The store is at a place where it is not safe.
    "STORE_UNSAFE",
]


class NoParams(TypedDict):
    """NoParams are the params of a method that takes none."""


class _AckRuleRequired(TypedDict):
    #: the exact type
    event_type: str


class AckRule(_AckRuleRequired, total=False):
    """AckRule selects the reported events that acknowledge an instruction."""

    #: path to value: dotted, list positions as numbers, or a JSON Pointer. Every value must be equal, or meet its operator: {"$contains": text}, {"$glob": pattern}, {"$any": [values]} or {"$command": "go test ./..."}
    match: Dict[str, Any]


class _AcknowledgeParamsRequired(TypedDict):
    instruction_id: str


class AcknowledgeParams(_AcknowledgeParamsRequired, total=False):
    """AcknowledgeParams are the params of acknowledge."""

    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _AcknowledgeResultRequired(TypedDict):
    instruction: Instruction
    #: whether this was known before. It is false as well for a standing instruction that waits for its trigger: nothing was acknowledged, and it stays armed. One that was due is armed again
    already: bool
    seq: int


class AcknowledgeResult(_AcknowledgeResultRequired, total=False):
    """AcknowledgeResult is the result of acknowledge."""

    #: nothing had been sent, and nothing will be
    before_dispatch: bool


class _AskUserParamsRequired(TypedDict):
    #: the session that asks; it gets the answer as an instruction
    session_id: str
    #: at most 64 KiB
    question: str


class AskUserParams(_AskUserParamsRequired, total=False):
    """AskUserParams are the params of ask_user."""

    #: where the question comes from
    description: str
    #: at most 20
    options: List[Option]
    #: false: only an option is an answer; default `true`
    allow_text: bool
    #: the label of the option that forms suggest
    default: str
    #: milliseconds until the default is taken automatically; absent: never; a whole number from 1000 to 2592000000
    default_after_ms: int
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _AttemptRequired(TypedDict):
    attempt_id: str
    task_id: str
    #: from 1
    attempt_number: int
    #: why it was made
    cause: Literal["first", "retry", "reply", "request"]
    status: Literal["pending", "running", "completed", "error", "cancelled", "interrupted", "lost", "awaiting_response"]
    created_at: Time
    #: reports that came when it was not theirs to make any more
    stale_events: int


class Attempt(_AttemptRequired, total=False):
    """Attempt is one execution of a task."""

    worker: str
    session_id: str
    model: Model
    #: in a timeline, of a long one the beginning
    error: str
    error_class: Literal["transient", "provider", "terminal", "user"]
    started_at: Time
    completed_at: Time
    #: of one that began and is over
    duration_ms: int
    #: the clock was set back to before it began; duration_ms is then 0
    clock_skew: bool


class _AttemptNoteRequired(TypedDict):
    seq: int
    subject_id: str
    #: the type of the event
    event: str
    attempt_id: str
    task_id: str
    attempt_number: int
    status: Literal["pending", "running", "completed", "error", "cancelled", "interrupted", "lost", "awaiting_response"]


class AttemptNote(_AttemptNoteRequired, total=False):
    """AttemptNote is the params of attempt/updated."""

    worker: str
    session_id: str
    model: str
    error_class: str
    #: of a progress
    message: str
    #: of a report that came too late: which
    call: str


class _AttemptReportRequired(TypedDict):
    applied: bool
    seq: int


class AttemptReport(_AttemptReportRequired, total=False):
    """AttemptReport is the answer to a report about an attempt."""

    #: why it was not applied
    reason: Literal["stale_attempt", "unknown_session"]
    attempt: Attempt


class _AwaitingRequired(TypedDict):
    task_id: str
    #: the attempt that asked; give it to reply
    attempt_id: str
    question: str
    #: the end of the output
    output_excerpt: str
    since: Time
    waiting_ms: int


class Awaiting(_AwaitingRequired, total=False):
    """Awaiting is a task that waits for a person."""

    description: str
    options: List[Option]
    #: with options: whether own words are an answer, too
    allow_text: bool
    #: the label of an option
    default: str
    #: when time takes the default unless a person answers before
    default_at: Time
    #: the clock was set back since it began to wait
    clock_skew: bool
    url: str


class _AwaitingListRequired(TypedDict):
    items: List[Awaiting]


class AwaitingList(_AwaitingListRequired, total=False):
    """AwaitingList is a page of tasks that wait for a person."""

    next_cursor: str


class _BecauseRequired(TypedDict):
    rule: str
    text: str


class Because(_BecauseRequired, total=False):
    """Because is one reason for a state."""

    event_seq: int
    #: the first 5 tasks, attempts, runs or items that text speaks of
    ids: List[str]


class _BindSessionParamsRequired(TypedDict):
    task_id: str
    attempt_id: str
    lease_token: str
    session_id: str


class BindSessionParams(_BindSessionParamsRequired, total=False):
    """BindSessionParams are the params of bind_session."""

    #: what it really runs on
    model: Model
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class CancelInstructionParams(TypedDict, total=False):
    """CancelInstructionParams are the params of cancel_instruction: one instruction, or all of a session."""

    instruction_id: str
    #: with all: the session to clear
    session_id: str
    #: default `false`
    all: bool
    reason: str
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _CancelInstructionResultRequired(TypedDict):
    #: how many were outstanding and no longer are
    cancelled: int
    seq: int


class CancelInstructionResult(_CancelInstructionResultRequired, total=False):
    """CancelInstructionResult is the result of cancel_instruction."""

    #: the one that was named
    instruction: Instruction


class CancelParams(TypedDict):
    """CancelParams are the params of $/cancelRequest."""

    #: the id of the request to cancel
    id: Any


class _CancelTaskParamsRequired(TypedDict):
    task_id: str


class CancelTaskParams(_CancelTaskParamsRequired, total=False):
    """CancelTaskParams are the params of cancel_task."""

    reason: str
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class Capabilities(TypedDict):
    """Capabilities lists the methods and notifications."""

    methods: List[str]
    notifications: List[str]


class Claim(TypedDict):
    """Claim is a claimed task."""

    task: Task
    attempt: Attempt
    lease: Lease
    #: what to run
    prompt: str
    #: whether prompt carries a person's answer
    continuation: bool


class _ClaimTaskParamsRequired(TypedDict):
    worker: str


class ClaimTaskParams(_ClaimTaskParamsRequired, total=False):
    """ClaimTaskParams are the params of claim_task."""

    run_id: str
    role: Literal["worker", "implementer", "spec-reviewer", "code-quality-reviewer", "reviewer"]
    #: how long to wait for a task; a whole number from 0 to 25000; default `0`
    wait_ms: int
    #: a whole number from 1000 to 3600000; default `60000`
    lease_ms: int
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class ClaimTaskResult(TypedDict):
    """ClaimTaskResult is the result of claim_task."""

    #: null if no task is ready
    claim: Optional[Claim]
    seq: int


class ClientInfo(TypedDict, total=False):
    """ClientInfo names the host."""

    name: str
    version: str


class Compaction(TypedDict):
    """Compaction describes how a prompt was fitted into its budget."""

    applied: bool
    stage: str
    trace: List[TraceStep]


class CompactionParams(TypedDict, total=False):
    """CompactionParams control how a prompt over its budget is shortened. A prompt that fits ignores them, and omitted lists those without effect."""

    #: false: a prompt over its budget is an error at once; default: the setting `prompt.compaction.auto`, which is `true` where it is not set
    auto: bool
    #: false: the stage prune_packet is left out; default: the setting `prompt.compaction.prune`, which is `true` where it is not set
    prune: bool
    #: said in a prompt that is shortened
    context: List[str]
    #: takes the place of the task prompt in one that is shortened, word for word
    prompt_override: str


class CompileAnchorParams(TypedDict, total=False):
    """CompileAnchorParams are the params of compile_anchor."""

    #: the session that reads the anchor: its own work comes first, and its instructions are named; default `default`
    session_id: str
    #: a whole number from 200 to 800; default `800`
    max_tokens: int


class CompileAnchorResult(TypedDict):
    """CompileAnchorResult is the result of compile_anchor."""

    #: empty if nothing is being worked on and nothing waits
    text: str
    #: of the text
    tokens: int
    #: tokenizer of the token count
    tokenizer: Literal["estimate", "o200k"]
    #: the facts that the text names only by their number, and the methods that have them
    omitted: List[Omission]


class _CompilePromptParamsRequired(TypedDict):
    run_id: str
    role: Literal["worker", "implementer", "spec-reviewer", "code-quality-reviewer", "reviewer"]


class CompilePromptParams(_CompilePromptParamsRequired, total=False):
    """CompilePromptParams are the params of compile_prompt."""

    #: replaces the item's own prompt, word for word
    task_prompt: str
    #: packet.cursor that the agent acknowledged last
    since: str
    #: a whole number from 1 to 1000000000; default: the setting `prompt.max_output_tokens`, which is `1200` where it is not set
    max_output_tokens: int
    #: input limit of the model; a whole number from 1 to 1000000000; default: the setting `prompt.max_input_tokens`
    max_input_tokens: int
    #: how tokens are counted: four characters each, or with the vocabulary o200k_base; default: the setting `prompt.tokenizer`, which is `estimate` where it is not set
    tokenizer: Literal["estimate", "o200k"]
    compaction: CompactionParams
    #: give the sections of the prompt by themselves, too, with whose words they hold
    blocks: bool
    #: returns the prompt without counting it or keeping it as the last prompt; the result has the last prompt
    preview: bool


class _CompilePromptResultRequired(TypedDict):
    prompt: str
    stable_prefix: str
    #: SHA-256, hex
    stable_prefix_hash: str
    #: the version of the stable prefixes: the same version has the same bytes
    prompt_version: str
    #: SHA-256, hex
    full_prompt_hash: str
    packet: Packet
    prompt_tokens_before: int
    prompt_tokens_after: int
    prompt_token_budget: int
    #: tokenizer of the token counts
    tokenizer: Literal["estimate", "o200k"]
    #: prompt_tokens_after as the estimate has it
    prompt_tokens_estimate: int
    #: estimate of a prompt with the whole plan and all facts in it, which the packet spares
    prompt_tokens_resend: int
    compaction: Compaction
    omitted: List[Omission]
    ledger_mode: Literal["ledger_only", "ledger_plus_fallback"]
    #: whether the plan was read anew
    rebuilt: bool


class CompilePromptResult(_CompilePromptResultRequired, total=False):
    """CompilePromptResult is the result of compile_prompt."""

    #: only if the title of the item has changed since the run was started or replanned: the id may belong to another item now; says what to do
    item_changed: str
    fallback_reason: str
    #: the problem of the file, for a person
    fallback_detail: str
    #: when this process first found that the file cannot be read as it is
    fallback_since: Time
    #: when the version of the plan was written that is used instead
    ledger_as_of: Time
    #: only if the call has blocks; their texts joined are the prompt
    blocks: List[PromptBlock]
    #: only with preview: the last prompt for this role of the run, if there is one
    last_prompt: LastPrompt
    #: only with preview: why an existing last_prompt is left out
    last_prompt_lost: Literal["too_large", "damaged"]


class _ConcernRequired(TypedDict):
    kind: Literal["fault", "questions", "blocked_runs", "failed_tasks", "failed_instructions"]
    #: one sentence for a person
    text: str
    count: int
    #: the first 5 of them; none for a fault
    ids: List[str]


class Concern(_ConcernRequired, total=False):
    """Concern is one thing that needs attention."""

    #: the words of a command that shows or helps the first of them in a terminal
    command: List[str]


class ConnectionStatus(TypedDict):
    """ConnectionStatus describes the connection of the caller."""

    #: notifications from the host that were dropped; nothing else reports that they had no effect
    notifications_failed: int
    #: notifications that the host did not read in time; events_since has their events
    notifications_dropped: int


class _ConsumeNoticesParamsRequired(TypedDict):
    notice_ids: List[str]


class ConsumeNoticesParams(_ConsumeNoticesParamsRequired, total=False):
    """ConsumeNoticesParams are the params of consume_notices."""

    #: the same key with the same params returns the first answer again
    idempotency_key: str


class ConsumeNoticesResult(TypedDict):
    """ConsumeNoticesResult is the result of consume_notices."""

    #: those that were still there
    consumed: List[str]
    seq: int


class Counters(TypedDict):
    """Counters count the failures of a run, each independently."""

    #: by role
    invalid_results: Dict[str, int]
    worker_failures: int
    review_rejections: int
    stalled: int
    review_loop: int
    #: submissions with a red check
    check_failures: int


class Counts(TypedDict):
    """Counts counts the records in the store."""

    #: by state
    instructions: Dict[str, int]
    #: by status
    tasks: Dict[str, int]
    #: by state
    runs: Dict[str, int]
    notices_open: int


class _CreateTaskParamsRequired(TypedDict):
    #: at most 1 MiB
    prompt: str


class CreateTaskParams(_CreateTaskParamsRequired, total=False):
    """CreateTaskParams are the params of create_task."""

    description: str
    run_id: str
    role: Literal["worker", "implementer", "spec-reviewer", "code-quality-reviewer", "reviewer"]
    parent_session_id: str
    #: in the order in which they are tried; none leaves it to the host
    models: List[Model]
    #: tasks that must complete first
    depends_on: List[str]
    #: attempts that may fail or be lost; by default the number of models, at least 1; a whole number from 1 to 10000
    max_attempts: int
    labels: Dict[str, str]
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _CriterionRequired(TypedDict):
    line: int
    text: str


class Criterion(_CriterionRequired, total=False):
    """Criterion is an acceptance criterion in the requirements file of a plan."""

    #: by which items name it, such as 1.2 or FR-004
    id: str


class _DecisionRequired(TypedDict):
    rule: str


class Decision(_DecisionRequired, total=False):
    """Decision is the rule that moved a run."""

    #: present count of the rule
    count: int
    #: the number at which it does something else
    limit: int


class _DiagnosticRequired(TypedDict):
    line: int
    severity: Literal["info", "warning", "error"]
    code: str
    message: str


class Diagnostic(_DiagnosticRequired, total=False):
    """Diagnostic describes a part of a plan that was not read as written."""

    #: the file below the folder that the plan is, in which the line counts
    source: str
    column: int
    #: it is open work and no item; totals.unread counts these
    open: bool


class DialectRule(TypedDict):
    """DialectRule names the dialect of the plans at some paths in the configuration."""

    pattern: str
    dialect: str


class _DialectSignRequired(TypedDict):
    dialect: str
    signal: str


class DialectSign(_DialectSignRequired, total=False):
    """DialectSign is one piece of evidence for a dialect."""

    #: its line; absent if it is not in the file, but in its path or the configuration
    line: int


class Directives(TypedDict, total=False):
    """Directives are the directives of an item for its run."""

    #: the reviewers of the run, unless policy.reviewers says otherwise
    review: Literal["spec-only", "none", "full"]
    #: as in the plan; with a provider before a slash, it is the first model of the run's tasks that name none
    model: str


class DispatchCounts(TypedDict):
    """DispatchCounts count prompts and results."""

    #: compiled
    prompts: int
    #: refused because they were over their budget
    overflows: int
    #: judged
    results: int
    retry_prompts: int
    review_rejections: int


class DispatchParams(TypedDict, total=False):
    """DispatchParams are the params of dispatch_instructions."""

    #: default `default`
    session_id: str
    #: a whole number from 1 to 500; default `50`
    limit: int
    #: of content; one larger content is sent alone; a whole number from 1 to 8388608; default `1048576`
    max_bytes: int
    #: how long to wait for something to hand out; a whole number from 0 to 25000; default `0`
    wait_ms: int
    #: how old the last send must be before a repeat or a failure; a whole number from 0 to 86400000; default `0`
    min_age_ms: int
    #: whether text gets a prefix on repeats; default `true`
    escalate: bool
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class DispatchResult(TypedDict):
    """DispatchResult is the result of dispatch_instructions."""

    instructions: List[Send]
    #: those whose sends were used up in this pass
    failed: List[Instruction]
    #: number of instructions of this pass that are left for the next call; none is sent again before
    remaining: int
    seq: int


class Error(TypedDict):
    """An Error is the error object of an answer."""

    #: the number of data.code
    code: int
    #: one sentence: what is wrong, where, and what to do
    message: str
    data: ErrorData


class _ErrorDataRequired(TypedDict):
    #: the stable name of the error
    code: ErrorCode
    #: whether the same call may succeed later
    retryable: bool
    #: whether the call took effect
    outcome: Literal["not_applied", "applied", "unknown"]


class ErrorData(_ErrorDataRequired, total=False):
    """ErrorData is the machine-readable part of an error."""

    #: when to try again
    retry_after_ms: int
    #: what to do about it
    hint: str
    #: facts, by the code
    details: Dict[str, Any]
    #: finds the details in the log of waybill
    incident: str


_ErrorSaidOptionalWords = TypedDict(
    "_ErrorSaidOptionalWords",
    {
        # without it, a published table tells
        "class": Literal["transient", "provider", "terminal", "user"],
    },
    total=False,
)


class _ErrorSaidRequired(TypedDict):
    message: str


class ErrorSaid(_ErrorSaidOptionalWords, _ErrorSaidRequired, total=False):
    """ErrorSaid is an error in the words of a worker."""

    #: a whole number from 0 to 999
    http_status: int
    name: str


class Event(TypedDict):
    """Event is one record of the event log."""

    seq: int
    at: Time
    type: str
    subject_id: str
    data: Dict[str, Any]


class EventList(TypedDict):
    """EventList is the result of events_since."""

    events: List[Event]
    #: for the next call
    cursor: str
    more: bool


class _EventsSinceParamsRequired(TypedDict):
    #: "0" for the beginning
    cursor: str


class EventsSinceParams(_EventsSinceParamsRequired, total=False):
    """EventsSinceParams are the params of events_since."""

    #: a whole number from 1 to 500; default `50`
    limit: int
    types: List[str]
    #: only events about this run, task or instruction
    subject_id: str


class Evidence(TypedDict):
    """Evidence holds the proof of a completed plan."""

    acceptance_criteria: List[Criterion]
    outcomes: List[ItemOutcome]
    files_changed: List[str]


class ExplainParams(TypedDict, total=False):
    """ExplainParams are the params of explain: an id, or an item of a plan."""

    subject_id: str
    plan: str
    item_id: str


class Explanation(TypedDict):
    """Explanation is the result of explain."""

    subject: str
    state: str
    because: List[Because]
    next: List[NextStep]


class Fact(TypedDict):
    """Fact is one fact of a run."""

    k: str
    v: str


class FailedParams(TypedDict, total=False):
    """FailedParams are the params of get_failed_instructions."""

    session_id: str
    #: a whole number from 1 to 500; default `50`
    limit: int
    #: next_cursor of the page before
    cursor: str


class Fingerprint(TypedDict):
    """Fingerprint distinguishes versions of a file."""

    mtime_ms: int
    size: int
    #: SHA-256 of the bytes, in hex; this decides
    hash: str


class _FinishAttemptParamsRequired(TypedDict):
    task_id: str
    lease_token: str
    status: Literal["completed", "error", "cancelled", "interrupted", "awaiting_response"]


class FinishAttemptParams(_FinishAttemptParamsRequired, total=False):
    """FinishAttemptParams are the params of finish_attempt."""

    #: at most 1 MiB
    output: str
    #: what the person is asked, with awaiting_response; without it the output is the question
    question: str
    #: at most 20
    options: List[Option]
    #: false: only an option is an answer; default `true`
    allow_text: bool
    #: the label of the option that forms suggest
    default: str
    #: milliseconds until the default is taken automatically; absent: never; a whole number from 1000 to 2592000000
    default_after_ms: int
    #: what went wrong
    error: ErrorSaid
    #: default `auto`
    retry: Literal["auto", "never", "same_model"]
    #: with error, from a host with its own schedule: the next model, for every class; the failure is not counted, and the task continues; also accepted as `nextModel`
    next_model: Model
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _FinishAttemptResultRequired(TypedDict):
    applied: bool
    task: Task
    seq: int


class FinishAttemptResult(_FinishAttemptResultRequired, total=False):
    """FinishAttemptResult is the result of finish_attempt."""

    reason: Literal["stale_attempt"]
    attempt: Attempt
    #: the attempt that takes over
    retry: Retry


class _GetLedgerParamsRequired(TypedDict):
    run_id: str


class GetLedgerParams(_GetLedgerParamsRequired, total=False):
    """GetLedgerParams are the params of get_ledger."""

    #: without it, both
    kind: Literal["task", "progress"]
    #: the etag that the host has
    if_none_match: str


class GetPlanParams(TypedDict):
    """GetPlanParams are the params of get_plan."""

    #: the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder
    plan: str


class GetReceiptParams(TypedDict):
    """GetReceiptParams are the params of get_receipt."""

    receipt_id: str


class _HeartbeatParamsRequired(TypedDict):
    task_id: str
    lease_token: str


class HeartbeatParams(_HeartbeatParamsRequired, total=False):
    """HeartbeatParams are the params of heartbeat."""

    #: its length from now on; a whole number from 1000 to 3600000
    lease_ms: int
    progress: Progress
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _HeartbeatResultRequired(TypedDict):
    applied: bool
    #: the worker is to stop and report cancelled
    cancel_requested: bool
    seq: int


class HeartbeatResult(_HeartbeatResultRequired, total=False):
    """HeartbeatResult is the result of heartbeat."""

    reason: Literal["stale_attempt"]
    lease: Lease


class _HoldRequired(TypedDict):
    kind: Literal["depends_on", "blocked", "in_progress", "done", "parent"]


class Hold(_HoldRequired, total=False):
    """Hold is one reason why an item cannot begin."""

    item_id: str


class _IngestOutputParamsRequired(TypedDict):
    run_id: str
    role: Literal["worker", "implementer", "spec-reviewer", "code-quality-reviewer", "reviewer"]


class IngestOutputParams(_IngestOutputParamsRequired, total=False):
    """IngestOutputParams are the params of ingest_output: a text, or the path of a file with it."""

    #: what the agent printed; "" for an agent that printed nothing
    output: str
    #: relative to the workspace, or absolute within the workspace or the folder of --output-dir
    output_path: str
    #: the task of the queue that has this result; its id is then also accepted as task_id in the text
    task_id: str
    attempt_id: str
    #: finishes the attempt that has this lease, in the same transaction
    lease_token: str
    #: the prompt of the agent, which a retry prompt repeats; by default that of the task, or of compile_prompt
    prompt: str
    #: more than that in the result is a warning; a whole number from 1 to 1000000000
    max_output_tokens: int
    #: the tree of the present files; without it, an approval makes the receipts of the run stale, and its checks run again
    tree: str
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _IngestOutputResultRequired(TypedDict):
    verdict: Literal["pass", "gaps", "error", "invalid"]
    grammar: Literal["json_block", "v2", "legacy", "none"]
    #: why it is invalid, all of it
    errors: List[ResultError]
    warnings: List[ResultWarning]
    counters: Counters
    task_ledger: Optional[TaskLedger]
    run: Run
    #: an estimate for the result alone
    output_tokens: int
    applied: bool
    seq: int


class IngestOutputResult(_IngestOutputResultRequired, total=False):
    """IngestOutputResult is the result of ingest_output."""

    #: absent if nothing could be read
    result: Result
    #: absent if it was not applied
    next_action: Literal["dispatch_worker", "dispatch_reviewer", "dispatch_worker_fixes", "retry_worker", "retry_with_preamble", "spawn_fresh_reviewer", "run_checks", "advance_to_next_item", "plan_completed", "halt_and_escalate"]
    next: Next
    #: absent if nothing moved
    decision: Decision
    retry_prompt: str
    #: with plan_completed
    evidence: Evidence
    #: whether the agent was given a retry prompt
    retry_context: bool
    #: whether this very result of the attempt was taken before; then nothing moved
    already: bool
    reason: Literal["stale_attempt"]
    #: whose attempt was finished
    task: Task
    attempt: Attempt


class _InitRunParamsRequired(TypedDict):
    #: the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder; also accepted as `specName`
    plan: str
    #: also accepted as `taskId`
    item_id: str


class InitRunParams(_InitRunParamsRequired, total=False):
    """InitRunParams are the params of init_run."""

    policy: Policy
    #: default `existing`
    resume: Literal["existing", "new"]
    #: the commit that is checked out when the work begins; the event run.started keeps it
    commit: str
    #: a hash over the contents of the files when the work begins, as tree_after of a receipt
    tree: str
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _InitRunResultRequired(TypedDict):
    run: Run
    created: bool
    next_action: Literal["dispatch_worker", "dispatch_reviewer", "dispatch_worker_fixes", "retry_worker", "retry_with_preamble", "spawn_fresh_reviewer", "run_checks", "advance_to_next_item", "plan_completed", "halt_and_escalate"]
    next: Next
    seq: int


class InitRunResult(_InitRunResultRequired, total=False):
    """InitRunResult is the result of init_run."""

    #: directives of the item for its run; run.policy has the reviewers
    directives: Directives
    #: with retry_with_preamble
    retry_prompt: str


class InitializeParams(TypedDict, total=False):
    """InitializeParams are the params of initialize. Unknown members are ignored here, and only here."""

    #: a whole number from 0 to 1000000; default `1`
    protocol_version: int
    client_info: ClientInfo
    #: waybill ends when this process ends, and at once if it does not exist; a host on another machine omits it
    process_id: int
    workspace_folders: List[WorkspaceFolder]
    root_uri: str


class _InitializeResultRequired(TypedDict):
    protocol_version: int
    server_info: ServerInfo
    capabilities: Capabilities
    limits: Limits
    #: for events_since: from here on
    cursor: str


class InitializeResult(_InitializeResultRequired, total=False):
    """InitializeResult is the result of initialize."""

    #: absent while none could be found
    workspace: Workspace


class _InstructionRequired(TypedDict):
    instruction_id: str
    session_id: str
    content: str
    state: Literal["armed", "queued", "sent", "delivered", "acknowledged", "failed", "cancelled"]
    #: whether an acknowledgement is expected
    tracked: bool
    priority: bool
    #: how often it was handed out
    sends: int
    #: 1 + max_retries
    sends_max: int
    created_at: Time


class Instruction(_InstructionRequired, total=False):
    """Instruction is an instruction as the host sees it."""

    ack_on: AckRule
    #: armed again after each acknowledgement and each failure; sends counts those since it was last due
    standing: bool
    trigger: Trigger
    last_sent_at: Time
    acknowledged_at: Time
    acknowledged_by: Literal["call", "event"]
    failed_at: Time
    #: when it was acknowledged after it had failed
    late_ack_at: Time
    cancelled_at: Time
    #: why it was cancelled
    reason: str


class _InstructionListRequired(TypedDict):
    items: List[Instruction]


class InstructionList(_InstructionListRequired, total=False):
    """InstructionList is a page of instructions."""

    next_cursor: str


class _InstructionNoteRequired(TypedDict):
    seq: int
    subject_id: str
    state: Literal["queued", "sent", "delivered", "acknowledged", "failed", "cancelled"]
    instruction_id: str
    session_id: str
    tracked: bool
    priority: bool
    sends: int
    sends_max: int
    content_bytes: int


class InstructionNote(_InstructionNoteRequired, total=False):
    """InstructionNote is the params of instruction/available and instruction/updated. A content of more than 4 KiB is left out; it comes with the dispatch."""

    content: str
    reason: str


class InstructionResult(TypedDict):
    """InstructionResult is one instruction after a change."""

    instruction: Instruction
    seq: int


class _ItemRequired(TypedDict):
    item_id: str
    title: str
    status: Literal["pending", "in_progress", "completed", "blocked", "skipped"]
    optional: bool
    line: int
    level: int
    depends_on: List[str]
    parallel: bool
    requirements: List[str]
    files: List[str]
    #: further text of the item in the plan; an entry may have several lines
    details: List[str]


class Item(_ItemRequired, total=False):
    """Item is one task line of a plan."""

    #: the file below the folder that the plan is, in which the line counts
    source: str
    parent_id: str
    prompt: str
    leverage: str
    purpose: str
    blocked_reason: str
    #: of a parent, from its children
    derived_status: Literal["pending", "in_progress", "completed", "blocked", "skipped"]


class _ItemOutcomeRequired(TypedDict):
    item_id: str
    title: str
    #: whether a run was approved, or the file says so
    done_by: Literal["run", "plan"]
    files_changed: List[str]


class ItemOutcome(_ItemOutcomeRequired, total=False):
    """ItemOutcome is the outcome of one item of a plan."""

    run_id: str
    #: of a run with required checks: proof.state of the run
    proof: str
    attempts: int
    review_rejections: int
    summary: str


class LastPrompt(TypedDict):
    """LastPrompt is the last prompt of a role of a run, for display only. It is kept for 30 days by default. After a kill, the prompt of the last second may be missing."""

    prompt: str
    compiled_at: Time
    #: of its packet
    cursor: str
    prompt_version: str
    prompt_tokens: int


class Lease(TypedDict):
    """Lease is the right to report about an attempt."""

    token: str
    #: grows with each claim of the task
    epoch: int
    expires_at: Time


class _LedgerRequired(TypedDict):
    etag: str
    ledger_mode: Literal["ledger_only", "ledger_plus_fallback"]


class Ledger(_LedgerRequired, total=False):
    """Ledger is the result of get_ledger."""

    not_modified: bool
    task_ledger: TaskLedger
    progress_ledger: ProgressLedger
    #: why the progress ledger differs from the file
    fallback_reason: str
    #: the problem of the file, for a person
    fallback_detail: str
    #: when this process first found that the file cannot be read as it is
    fallback_since: Time
    #: when the version of the plan was written that is used instead
    ledger_as_of: Time


class _LedgerNoteRequired(TypedDict):
    seq: int
    plan: str
    fingerprint: Fingerprint
    #: items that were added, removed or read differently
    changed_ids: List[str]


class LedgerNote(_LedgerNoteRequired, total=False):
    """LedgerNote is the params of ledger/changed."""

    #: the plan changed while no process looked, so it is not known which items did
    unseen: bool
    #: the file no longer exists; the fingerprint is that of its last reading
    gone: bool
    #: why the file is unreadable, if it is; the fingerprint is that of its last reading
    stale: str
    #: the problem of the file, such as missing, not_regular or no_items
    stale_reason: str


class Limits(TypedDict):
    """Limits are the limits in force."""

    max_message_bytes: int
    max_content_bytes: int
    max_pending: int


class ListAwaitingParams(TypedDict, total=False):
    """ListAwaitingParams are the params of list_awaiting."""

    #: a whole number from 1 to 500; default `50`
    limit: int
    #: next_cursor of the page before
    cursor: str


class ListInstructionsParams(TypedDict, total=False):
    """ListInstructionsParams are the params of list_instructions."""

    session_id: str
    state: Literal["armed", "queued", "sent", "delivered", "acknowledged", "failed", "cancelled"]
    #: this one alone, whatever its state; without session_id, state and cursor
    instruction_id: str
    #: a whole number from 1 to 500; default `50`
    limit: int
    #: next_cursor of the page before
    cursor: str


class ListNoticesParams(TypedDict, total=False):
    """ListNoticesParams are the params of list_notices."""

    session_id: str
    #: only looks: it does not count as a delivery; default `false`
    peek: bool
    #: a whole number from 1 to 500; default `50`
    limit: int
    #: next_cursor of the page before
    cursor: str


class ListReceiptsParams(TypedDict, total=False):
    """ListReceiptsParams are the params of list_receipts."""

    #: without it, the receipts of all runs
    run_id: str
    #: a whole number from 1 to 500; default `50`
    limit: int
    #: next_cursor of the page before
    cursor: str


class ListRunsParams(TypedDict, total=False):
    """ListRunsParams are the params of list_runs."""

    #: only runs of this plan: its path or its short name
    plan: str
    state: Literal["running", "blocked", "done", "failed"]
    #: this run alone, without plan, state and cursor
    run_id: str
    #: a whole number from 1 to 500; default `50`
    limit: int
    #: next_cursor of the page before
    cursor: str


class ListTasksParams(TypedDict, total=False):
    """ListTasksParams are the params of list_tasks."""

    status: Literal["QUEUED", "RUNNING", "COMPLETE", "AWAITING_RESPONSE", "ERROR", "CANCELLED", "BLOCKED"]
    run_id: str
    parent_session_id: str
    #: order by time of creation; a cursor belongs to the order of its page; default `oldest`
    order: Literal["oldest", "newest"]
    #: a whole number from 1 to 500; default `50`
    limit: int
    #: next_cursor of the page before
    cursor: str


class _LogNoteRequired(TypedDict):
    level: Literal["warning", "error"]
    message: str


class LogNote(_LogNoteRequired, total=False):
    """LogNote is the params of log. It is about no event, so it carries no seq."""

    #: number of notifications that were dropped here; events_since has their events
    dropped: int
    #: a restore replaced the event log; what was read of the old one may no longer be true
    rewound: bool
    #: then, from where events_since goes on when the lists were read anew
    cursor: str


class _ModelRequired(TypedDict):
    provider_id: str
    model_id: str


class Model(_ModelRequired, total=False):
    """Model names the model of an agent."""

    variant: str


class Moves(TypedDict):
    """Moves counts the state changes of instructions by this process. It excludes sends that were taken back."""

    first_sends: int
    repeats: int
    #: in time
    acknowledged: int
    failed: int


class _NextRequired(TypedDict):
    action: Literal["dispatch_worker", "dispatch_reviewer", "dispatch_worker_fixes", "retry_worker", "retry_with_preamble", "spawn_fresh_reviewer", "run_checks", "advance_to_next_item", "plan_completed", "halt_and_escalate"]
    #: with advance_to_next_item: the items that can begin now
    item_ids: List[str]


class Next(_NextRequired, total=False):
    """Next is the next action of a run, with its reason."""

    #: the role of the agent, if one has to act
    role: str
    #: with run_checks: the required checks that are not green on the present files
    checks: List[str]


class _NextStepRequired(TypedDict):
    #: a method, or edit_plan where a person has to edit the plan file
    action: str
    text: str
    #: the id that the method acts on: the explained thing, or one that it waits for
    subject: str
    #: the possible callers, the usual one first; waybill means waybill work
    by: List[Literal["host", "person", "waybill", "agent"]]


class NextStep(_NextStepRequired, total=False):
    """NextStep is a call that would change the state of the subject."""

    #: the words of a command that does the same in a terminal; … stands for a text, COMMAND for the command of an agent
    command: List[str]


class _NoticeRequired(TypedDict):
    notice_id: str
    kind: str
    subject_id: str
    text: str
    data: Dict[str, Any]
    created_at: Time
    #: how often it was handed to a host
    deliveries: int


class Notice(_NoticeRequired, total=False):
    """Notice is a durable message to the host."""

    session_id: str


class _NoticeListRequired(TypedDict):
    items: List[Notice]


class NoticeList(_NoticeListRequired, total=False):
    """NoticeList is the result of list_notices."""

    next_cursor: str


class NoticeNote(TypedDict):
    """NoticeNote is the params of notice/posted. Notices about the tasks of one session that are posted shortly after one another come in one."""

    seq: int
    #: the last of notices
    notice: Notice
    #: all that come with this, in order
    notices: List[Notice]


class Omission(TypedDict):
    """Omission is something that was left out of a prompt."""

    what: str
    why: str


class OperatorMatch(TypedDict):
    """OperatorMatch says which operator of an ack_on matched which text of an event."""

    instruction_id: str
    path: str
    #: of an alternative in $any its own operator, or $any for a plain value
    operator: str
    #: its first 200 characters; of $command the command in the line
    text: str


class _OptionRequired(TypedDict):
    #: one line of at most 200 characters; labels that differ only in case are refused
    label: str


class Option(_OptionRequired, total=False):
    """Option is one answer that a question offers."""

    #: at most 4 KiB
    detail: str


class OtherFile(TypedDict):
    """OtherFile is a file or folder among plans that is not a plan."""

    path: str
    #: why it is no plan
    why: PlanError


class _PacketRequired(TypedDict):
    cursor: str
    mode: Literal["full", "delta"]
    facts: Dict[str, str]
    removed: List[str]


class Packet(_PacketRequired, total=False):
    """Packet is the set of ledger facts after the stable prefix."""

    #: the cursor that a delta builds on
    base: str
    why_full: Literal["no_cursor", "unknown_cursor", "other_run", "other_prompt"]


class PacketCounts(TypedDict):
    """PacketCounts count the packets of prompts."""

    full: int
    delta: int
    why_full: Dict[str, int]


class PingResult(TypedDict):
    """PingResult is the result of ping."""

    pong: bool


class _PlanRequired(TypedDict):
    plan: str
    path: str
    dialect: str
    fingerprint: Fingerprint
    #: totals of the file
    totals: Totals
    items: List[Item]
    diagnostics: List[Diagnostic]
    #: evidence for the dialect, the deciding one first, and for others
    evidence: List[DialectSign]


class Plan(_PlanRequired, total=False):
    """Plan is the result of get_plan."""

    #: counts from the runs of its items; absent if there are none
    runs: PlanRuns
    #: why the runs cannot be read; the rest comes from the file alone
    runs_error: PlanError
    #: status of each mark in a box: -, ~ and those of a legend; absent if tasks have no boxes
    marks: Dict[str, str]
    #: why this is the last good reading and not the file as it is
    stale: str
    #: the problem of the file, such as not_regular, outside_workspace or no_items
    stale_reason: str
    #: when this process first found that the file cannot be read as it is
    stale_since: Time
    #: when the version was written that is shown instead
    as_of: Time


class _PlanErrorRequired(TypedDict):
    code: ErrorCode
    message: str


class PlanError(_PlanErrorRequired, total=False):
    """PlanError is the reason why a plan is unreadable."""

    reason: str


class PlanList(TypedDict):
    """PlanList is the result of list_plans."""

    items: List[PlanSummary]
    #: one sentence each: folders that were not searched, the number of plans if only the latest 100 are listed, and the number of files that were not read; plans may be missing from items
    problems: List[str]
    #: files and folders in which no item was found; they lie where tools keep plans among other files
    others: List[OtherFile]


class PlanRuns(TypedDict):
    """PlanRuns counts the items without children by the state of their latest runs."""

    #: items whose latest run was approved, whether or not the file says that they are completed
    approved: int
    #: those of approved whose required checks are green on their files
    proven: int
    #: items that the file says are completed while their latest run is running or blocked
    unapproved: int


class _PlanSummaryRequired(TypedDict):
    #: how other methods name it
    plan: str
    path: str
    #: totals of the file
    totals: Totals
    fingerprint: Fingerprint
    diagnostics_count: int


class PlanSummary(_PlanSummaryRequired, total=False):
    """PlanSummary is one plan in a list."""

    dialect: str
    #: the evidence that decided the dialect; get_plan has all evidence
    dialect_reason: str
    #: counts from the runs of its items; absent if there are none
    runs: PlanRuns
    #: why it cannot be read
    error: PlanError
    #: why this is the last good reading and not the file as it is
    stale: str
    #: the problem of the file, as in error, also without an earlier reading
    stale_reason: str
    #: when this process first found that the file cannot be read as it is
    stale_since: Time
    #: when the version was written that is shown instead
    as_of: Time


class Policy(TypedDict, total=False):
    """Policy holds the limits of a run."""

    #: how often a result that cannot be read is asked for once more; a whole number from 0 to 100; default: the setting `policy.invalid_retries`, which is `1` where it is not set
    invalid_retries: int
    #: how many other reviewers are asked after that; a whole number from 0 to 100; default: the setting `policy.reviewer_fresh_runs`, which is `1` where it is not set
    reviewer_fresh_runs: int
    #: how many failures of workers another worker makes up for; a whole number from 0 to 100; default: the setting `policy.worker_failures`, which is `1` where it is not set
    worker_failures: int
    #: the rejection at which the run is blocked; a whole number from 1 to 100; default: the setting `policy.review_rejections`, which is `3` where it is not set
    review_rejections: int
    #: the outcomes in a row without progress at which it is blocked; a whole number from 1 to 100; default: the setting `policy.stalled_threshold`, which is `2` where it is not set
    stalled_threshold: int
    #: the reviews in a row that find the same at which it is blocked; a whole number from 1 to 100; default: the setting `policy.review_loop_threshold`, which is `2` where it is not set
    review_loop_threshold: int
    #: reviewers that must approve; an empty list means none; by default both, or the one reviewer of a host that says reviewer in its first review; default: the setting `policy.reviewers`
    reviewers: List[Literal["spec-reviewer", "code-quality-reviewer"]]
    #: the form of results that prompts and retry prompts ask for; both are read; default: the setting `policy.result_form`, which is `headers` where it is not set
    result_form: Literal["headers", "json"]
    #: true: a result without the key of its prompt is invalid; false: it only has a warning; default: the setting `policy.require_key`, which is `false` where it is not set
    require_key: bool
    #: names of the checks that must be green on the present files before the run is done, besides those of the settings; facts is the built-in check of facts; default: the setting `policy.require_checks`
    require_checks: List[str]
    #: require adds facts to require_checks; with warn, waybill work only records whether they hold; without it, waybill work requires them in a repository of git; default: the setting `policy.facts`
    facts: Literal["require", "warn", "off"]
    #: the submission with a red check at which the run is blocked; a whole number from 1 to 100; default: the setting `policy.check_failures`, which is `3` where it is not set
    check_failures: int


class Problem(TypedDict):
    """A Problem is one thing that is wrong with the params of a call; details.errors lists them."""

    #: JSON Pointer into params; empty for params itself
    pointer: str
    #: what is wrong, where, and what to do
    message: str
    #: what the value must be
    expected: str
    #: what it is; long values are cut
    found: str


class _ProgressRequired(TypedDict):
    message: str


class Progress(_ProgressRequired, total=False):
    """Progress is the progress of a worker."""

    #: a whole number from 0 to 100
    percent: int


class _ProgressLedgerRequired(TypedDict):
    plan: str
    item_id: str
    source_path: str
    source_fingerprint: Fingerprint
    totals: Totals


class ProgressLedger(_ProgressLedgerRequired, total=False):
    """ProgressLedger holds the facts of a run about its plan."""

    active_item_id: str
    current_item: Item


class _PromptBlockRequired(TypedDict):
    #: the heading without its brackets; stable_prefix for the first block
    name: str
    #: whose words it holds: waybill, host, plan, requirements, worker, reviewer
    sources: List[str]
    #: that of the least trusted source
    trust: Literal["trusted", "untrusted"]
    text: str
    #: of the text, hex
    sha256: str
    #: rounded up for each block by itself
    tokens: int
    #: characters and lines that were changed so that they cannot pass for structure
    neutralised: int


class PromptBlock(_PromptBlockRequired, total=False):
    """PromptBlock is a section of a prompt."""

    #: where exactly the words are from
    ref: str


class _ProofRequired(TypedDict):
    #: none_required: only said; missing: a required check has no receipt; stale: the files changed since; untrusted: a person must look; refuted: a check is red; proven: all required checks are green on the present files
    state: Literal["none_required", "missing", "stale", "untrusted", "refuted", "proven"]
    #: the number of submissions of a worker; a receipt counts for its round
    round: int


class Proof(_ProofRequired, total=False):
    """Proof is how much the receipts of a run prove about its last submission."""

    required: List[str]
    green: List[str]
    red: List[str]
    #: the required checks that are not green on the present files
    due: List[str]
    #: of the files of the receipts
    tree: str


class _QueueInstructionParamsRequired(TypedDict):
    #: at most 1 MiB
    content: str


class QueueInstructionParams(_QueueInstructionParamsRequired, total=False):
    """QueueInstructionParams are the params of queue_instruction."""

    #: default `default`
    session_id: str
    #: goes ahead of those without; default `false`
    priority: bool
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _QueueInstructionWithAckParamsRequired(TypedDict):
    #: at most 1 MiB
    content: str


class QueueInstructionWithAckParams(_QueueInstructionWithAckParamsRequired, total=False):
    """QueueInstructionWithAckParams are the params of queue_instruction_with_ack."""

    #: default `default`
    session_id: str
    #: default `false`
    priority: bool
    #: sends after the first; of a standing instruction for each firing, and 0 by default; a whole number from 0 to 1000; default `3`
    max_retries: int
    #: a reported event that matches acknowledges the instruction
    ack_on: AckRule
    #: the instruction stays until it is cancelled, and is due each time trigger fires and no acknowledgement followed; default `false`
    standing: bool
    #: required if standing is true
    trigger: Trigger
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class QueueInstructionWithAckResult(TypedDict):
    """QueueInstructionWithAckResult is the result of queue_instruction_with_ack."""

    instruction_id: str
    instruction: Instruction
    seq: int


class _ReadyItemsRequired(TypedDict):
    #: in the order of the plan, which is no dependency; a single worker takes the first
    ready: List[str]
    #: those of ready that the plan says may be worked on beside others
    parallel: List[str]
    ready_total: int
    waiting: List[WaitingItem]
    #: items that have to be done and are not, plus unread
    left: int
    completed: bool


class ReadyItems(_ReadyItemsRequired, total=False):
    """ReadyItems is the result of ready_items."""

    #: the first open boxes and signs that are not items, so that no run can work on them; a person does them or adds an id
    open_boxes: List[Diagnostic]
    #: number of open boxes and signs of the plan that are not items; the plan is not completed while there are any
    unread: int
    #: counts from the runs of all items; absent if there are none
    runs: PlanRuns
    #: why this rests on the last good reading and not on the file as it is
    stale: str
    #: the problem of the file, such as not_regular, outside_workspace or no_items
    stale_reason: str
    #: when this process first found that the file cannot be read as it is
    stale_since: Time
    #: when the version was written that this rests on instead
    as_of: Time


class _ReadyItemsParamsRequired(TypedDict):
    #: the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder
    plan: str


class ReadyItemsParams(_ReadyItemsParamsRequired, total=False):
    """ReadyItemsParams are the params of ready_items."""

    #: of ready; waiting has every other item; a whole number from 1 to 500; default `50`
    limit: int


class RebuildCounts(TypedDict):
    """RebuildCounts count the new readings of a plan for the facts of a run, and the failed ones."""

    total: int
    #: by reason
    fallbacks: Dict[str, int]
    #: sum over all prompts that used the last reading: time for which the plan had been unreadable
    fallback_ms: int


class _ReceiptRequired(TypedDict):
    receipt_id: str
    run_id: str
    #: when it was recorded
    at: Time
    #: its name
    check: str
    #: protected: it passed, but the work changed a file that the check protects; untrusted: it was not run, because no person trusts its command as it is now; of facts, protected says that nothing was changed, and untrusted that git could not be asked
    outcome: Literal["green", "red", "protected", "untrusted"]


class Receipt(_ReceiptRequired, total=False):
    """Receipt records one execution of a check. It never changes, and is kept as long as the event log."""

    #: proof.round of the run when the check began; by default the present one; a whole number from 0
    round: int
    command: str
    exit_code: int
    #: why it is not green, as far as the exit code does not say it, such as 'timed out after 10m0s' or 'ended by SIGKILL'; if it is green, why it is bound to no files
    reason: str
    #: how long it ran; a whole number from 0
    duration_ms: int
    #: a hash over the contents of the files before it ran; without one the receipt is not bound to files, and no approval rests on it
    tree_before: str
    #: the same behind it; if it differs, the receipt is stale
    tree_after: str
    #: the end of its output, at most 8 KiB
    output: str
    #: SHA-256 of all its output
    output_hash: str
    #: with protected: the protected files that the work changed
    changed: List[str]
    #: the program that ran it
    runner: str


class _ReceiptListRequired(TypedDict):
    items: List[Receipt]


class ReceiptList(_ReceiptListRequired, total=False):
    """ReceiptList is a page of receipts, the oldest first."""

    next_cursor: str


class _ReplanParamsRequired(TypedDict):
    run_id: str
    #: the changes that are needed
    summary: str


class ReplanParams(_ReplanParamsRequired, total=False):
    """ReplanParams are the params of replan."""

    #: the steps from here on, in order; without them those of the last version
    plan_items: List[str]
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _ReplanResultRequired(TypedDict):
    run: Run
    next_action: Literal["dispatch_worker", "dispatch_reviewer", "dispatch_worker_fixes", "retry_worker", "retry_with_preamble", "spawn_fresh_reviewer", "run_checks", "advance_to_next_item", "plan_completed", "halt_and_escalate"]
    next: Next
    seq: int
    task_ledger: Optional[TaskLedger]
    #: whether something else is to be done next; only that ends a block
    frontier_changed: bool


class ReplanResult(_ReplanResultRequired, total=False):
    """ReplanResult is the result of replan."""

    #: with retry_with_preamble
    retry_prompt: str


class _ReplyRequired(TypedDict):
    #: from 1
    number: int
    reply: str
    at: Time
    #: the attempt that had asked
    attempt_id: str


class Reply(_ReplyRequired, total=False):
    """Reply is an answer to a task."""

    #: the label of the option that it takes
    option: str
    #: whether time took the default; no person answered
    by_time: bool
    question: str
    by: str


class _ReplyParamsRequired(TypedDict):
    task_id: str


class ReplyParams(_ReplyParamsRequired, total=False):
    """ReplyParams are the params of reply."""

    #: at most 64 KiB; a text that is a label takes that option; needed without option
    reply: str
    #: the label of an option of the question
    option: str
    by: str
    #: the session that has this answer already, such as from a dialog of its host
    session_id: str
    #: the attempt whose question is answered, from list_awaiting; if the task has gone on since, ALREADY_RESOLVED
    attempt_id: str
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class ReplyResult(TypedDict):
    """ReplyResult is the result of reply."""

    success: bool
    task_id: str
    old_status: Literal["AWAITING_RESPONSE", "ERROR", "CANCELLED", "BLOCKED"]
    #: COMPLETE for a question of ask_user
    new_status: Literal["QUEUED", "COMPLETE"]
    seq: int


class ReplyText(TypedDict):
    """ReplyText is the text and the time of a reply."""

    content: str
    timestamp: Time


class _ReportCheckParamsRequired(TypedDict):
    run_id: str
    #: its name
    check: str
    #: protected: it passed, but the work changed a file that the check protects; untrusted: it was not run, because no person trusts its command as it is now; of facts, protected says that nothing was changed, and untrusted that git could not be asked
    outcome: Literal["green", "red", "protected", "untrusted"]


class ReportCheckParams(_ReportCheckParamsRequired, total=False):
    """ReportCheckParams are the params of report_check."""

    #: proof.round of the run when the check began; by default the present one; a whole number from 0
    round: int
    command: str
    exit_code: int
    #: why it is not green, as far as the exit code does not say it, such as 'timed out after 10m0s' or 'ended by SIGKILL'; if it is green, why it is bound to no files
    reason: str
    #: how long it ran; a whole number from 0
    duration_ms: int
    #: a hash over the contents of the files before it ran; without one the receipt is not bound to files, and no approval rests on it
    tree_before: str
    #: the same behind it; if it differs, the receipt is stale
    tree_after: str
    #: the end of its output, at most 8 KiB
    output: str
    #: SHA-256 of all its output
    output_hash: str
    #: with protected: the protected files that the work changed
    changed: List[str]
    #: the program that ran it
    runner: str
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _ReportCheckResultRequired(TypedDict):
    run: Run
    next_action: Literal["dispatch_worker", "dispatch_reviewer", "dispatch_worker_fixes", "retry_worker", "retry_with_preamble", "spawn_fresh_reviewer", "run_checks", "advance_to_next_item", "plan_completed", "halt_and_escalate"]
    next: Next
    seq: int
    receipt: Receipt


class ReportCheckResult(_ReportCheckResultRequired, total=False):
    """ReportCheckResult is the result of report_check."""

    #: with retry_with_preamble
    retry_prompt: str
    #: absent if the receipt says nothing about the last submission
    decision: Decision


class _ReportEventParamsRequired(TypedDict):
    type: str


class ReportEventParams(_ReportEventParamsRequired, total=False):
    """ReportEventParams are the params of report_event."""

    data: Dict[str, Any]
    #: without it, all sessions are looked at
    session_id: str
    #: posts a notice with this text, at most 500 characters on one line, that has data; for an event that a person must know of
    notice: str
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _ReportEventResultRequired(TypedDict):
    #: the ids of the instructions that matched
    acknowledged: List[str]
    #: whether none was acknowledged
    unmatched: bool
    seq: int


class ReportEventResult(_ReportEventResultRequired, total=False):
    """ReportEventResult is the result of report_event."""

    #: the ids of the standing instructions that wait for a dispatch because the event fired their trigger
    due: List[str]
    #: what the operators of their rules matched
    matched: List[OperatorMatch]


class _ResultRequired(TypedDict):
    role: str
    #: the agent's own word
    status: str
    issues: List[ReviewIssue]
    files_changed: List[str]
    tests: List[ResultTest]
    follow_up_actions: List[str]
    strengths: List[str]
    required_fixes: List[str]


class Result(_ResultRequired, total=False):
    """Result is the result of an agent, without the members that it lacks."""

    task_id: str
    git_range: str
    confidence: str
    summary: str


class ResultError(TypedDict):
    """ResultError is one reason why a result is invalid."""

    code: str
    field: str
    expected: str
    found: str
    line: int
    message: str


class ResultTest(TypedDict):
    """ResultTest is a check that a worker ran."""

    command: str
    passed: bool
    failures: List[str]


class _ResultWarningRequired(TypedDict):
    code: str
    message: str


class ResultWarning(_ResultWarningRequired, total=False):
    """ResultWarning is a tolerated or odd part that changed nothing."""

    line: int


class ResumeRunParams(TypedDict):
    """ResumeRunParams are the params of resume_run."""

    #: the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder
    plan: str
    item_id: str


class _ResumeRunResultRequired(TypedDict):
    run: Run
    resumption_prompt: str
    #: whether the plan reads differently than when the run saw it last, or cannot be read
    stale: bool
    next_action: Literal["dispatch_worker", "dispatch_reviewer", "dispatch_worker_fixes", "retry_worker", "retry_with_preamble", "spawn_fresh_reviewer", "run_checks", "advance_to_next_item", "plan_completed", "halt_and_escalate"]
    next: Next
    task_ledger: Optional[TaskLedger]


class ResumeRunResult(_ResumeRunResultRequired, total=False):
    """ResumeRunResult is the result of resume_run."""

    progress_ledger_error: PlanError
    #: with retry_with_preamble
    retry_prompt: str
    #: with plan_completed
    evidence: Evidence


_RetryWords = TypedDict(
    "_RetryWords",
    {
        # of the failure
        "class": Literal["transient", "provider", "terminal", "user"],
    },
)


class _RetryRequired(TypedDict):
    attempt: Attempt


class Retry(_RetryWords, _RetryRequired, total=False):
    """Retry is the attempt that follows a failed one."""

    model: Model


class _RetryTaskParamsRequired(TypedDict):
    task_id: str


class RetryTaskParams(_RetryTaskParamsRequired, total=False):
    """RetryTaskParams are the params of retry_task."""

    #: without it, the chain begins anew
    model: Model
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class RetryTaskResult(TypedDict):
    """RetryTaskResult is the result of retry_task."""

    task: Task
    attempt: Attempt
    seq: int


class ReviewCounts(TypedDict):
    """ReviewCounts counts something for each reviewer."""

    spec: int
    quality: int


class _ReviewIssueRequired(TypedDict):
    severity: str
    message: str


class ReviewIssue(_ReviewIssueRequired, total=False):
    """ReviewIssue is one finding of a reviewer."""

    file: str
    fix: str


class _ReviewLoopRequired(TypedDict):
    count: int
    threshold: int
    flagged: bool


class ReviewLoop(_ReviewLoopRequired, total=False):
    """ReviewLoop reports how often the same issues came back."""

    #: two sets of issues take turns
    alternating: bool


class _RunRequired(TypedDict):
    run_id: str
    plan: str
    item_id: str
    state: Literal["running", "blocked", "done", "failed"]
    counters: Counters
    policy: Policy
    proof: Proof
    #: how each role stands: awaited, submitted, approved, rejected, unusable, replaced, stuck or broken
    standing: Dict[str, str]
    plan_version: int
    created_at: Time
    updated_at: Time


class Run(_RunRequired, total=False):
    """Run is the work on one item of one plan."""

    #: why it is blocked
    reason: str


class _RunListRequired(TypedDict):
    items: List[Run]


class RunList(_RunListRequired, total=False):
    """RunList is a page of runs."""

    next_cursor: str


class _RunNoteRequired(TypedDict):
    seq: int
    subject_id: str
    #: the type of the event
    event: str
    run_id: str
    plan: str
    item_id: str
    state: Literal["running", "blocked", "done", "failed"]
    revision: int


class RunNote(_RunNoteRequired, total=False):
    """RunNote is the params of run/updated."""

    #: why it is blocked
    reason: str
    #: the role of the report
    role: str
    verdict: str
    decision: Decision
    next_action: str


class RunParams(TypedDict):
    """RunParams are the params of a method about one run."""

    run_id: str


class Send(TypedDict):
    """Send is one send of an instruction."""

    instruction_id: str
    content: str
    #: which send this is, from 1
    send: int
    sends_max: int
    tracked: bool
    #: the text for the agent
    text: str


class ServerInfo(TypedDict):
    """ServerInfo names this process."""

    name: str
    version: str
    pid: int


class _SessionEventParamsRequired(TypedDict):
    session_id: str
    type: Literal["started", "progress", "idle", "error", "deleted", "message.updated", "session.error", "session.status"]


class SessionEventParams(_SessionEventParamsRequired, total=False):
    """SessionEventParams are the params of report_session_event. For type error, data may have class, http_status and name. For message.updated, session.error and session.status, data is the data of the host's event."""

    data: Dict[str, Any]
    message: str
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _SessionEventResultRequired(TypedDict):
    applied: bool
    seq: int


class SessionEventResult(_SessionEventResultRequired, total=False):
    """SessionEventResult is the result of report_session_event."""

    reason: Literal["stale_attempt", "unknown_session"]
    task_id: str
    attempt_id: str


class _SetItemStatusParamsRequired(TypedDict):
    #: the path of a file or folder, relative to the workspace, or the short name of a plan, usually the name of its folder
    plan: str
    item_id: str
    status: Literal["pending", "in_progress", "completed", "blocked", "skipped"]


class SetItemStatusParams(_SetItemStatusParamsRequired, total=False):
    """SetItemStatusParams are the params of set_item_status."""

    #: tells items apart that share an id; a whole number from 1
    line: int
    #: fingerprint.hash of the plan that the caller read; nothing is written if the file has changed
    expected_hash: str
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class SetItemStatusResult(TypedDict):
    """SetItemStatusResult is the result of set_item_status."""

    #: as the plan has it now
    item: Item
    #: of the file as it is now
    fingerprint: Fingerprint
    #: 0 if the item had the status already
    changed_bytes: int
    seq: int


class Setting(TypedDict):
    """Setting is a setting that differs from its default."""

    #: such as prompt.max_output_tokens
    name: str
    value: Any
    #: its source: a flag such as --tokenizer, an environment variable, or the path of a configuration file
    origin: str


class Snapshot(TypedDict):
    """Snapshot is the result of get_snapshot."""

    run_id: str
    revision: int
    status: Literal["running", "blocked", "done", "failed"]
    facts: List[Fact]
    updated_at: Time


class Stalled(TypedDict):
    """Stalled reports for how long a run has made no progress."""

    consecutive_non_progress: int
    threshold: int
    flagged: bool


class _StatusResultRequired(TypedDict):
    version: str
    uptime_ms: int
    workspace: Workspace
    store: StoreStatus
    watcher: WatcherStatus
    counts: Counts
    moves: Moves
    #: the configuration of the plans' dialects; the first rule that fits a path counts
    dialects: List[DialectRule]
    #: settings of this process that differ from their defaults
    settings: List[Setting]
    #: problems, one sentence each
    degraded: List[str]
    #: whether all is well, which means that attention is empty
    well: bool
    #: everything that needs attention, including the sentences of degraded
    attention: List[Concern]


class StatusResult(_StatusResultRequired, total=False):
    """StatusResult is the result of get_status."""

    #: absent without one, as in the terminal commands
    connection: ConnectionStatus


class _StoreStatusRequired(TypedDict):
    kind: str
    size_bytes: int
    mode: Literal["read_write", "read_only"]
    schema_version: int


class StoreStatus(_StoreStatusRequired, total=False):
    """StoreStatus describes the store."""

    path: str


class _TaskRequired(TypedDict):
    task_id: str
    status: Literal["QUEUED", "RUNNING", "COMPLETE", "AWAITING_RESPONSE", "ERROR", "CANCELLED", "BLOCKED"]
    #: in lists, of a long one the beginning
    prompt: str
    prompt_bytes: int
    models: List[Model]
    max_attempts: int
    #: attempts that failed or were lost since the task was created or retried, without those after which the host named the next model
    failures: int
    depends_on: List[str]
    created_at: Time
    updated_at: Time


class Task(_TaskRequired, total=False):
    """Task is a task as the host sees it. Model, session and timing are those of its newest attempt."""

    #: of ERROR: failed, timeout, retries_exhausted or interrupted; of CANCELLED and BLOCKED: what was said
    reason: str
    #: whether the prompt is a retry prompt of ingest_output
    retry_context: bool
    description: str
    role: str
    run_id: str
    #: of a run with required checks: proof.state of the run
    proof: str
    #: the session that is told of its end
    parent_session_id: str
    labels: Dict[str, str]
    current_attempt_id: str
    attempt_number: int
    session_id: str
    model: Model
    #: output of the last attempt with an output; with a user_reply, the output that was replied to; lists have only the beginning of a long one
    output: str
    question: str
    options: List[Option]
    #: with options: whether own words are an answer, too
    allow_text: bool
    #: the label of an option
    default: str
    #: when time takes the default unless a person answers before
    default_at: Time
    #: the answer that an attempt carries and none has acted on yet
    user_reply: str
    #: the option that this answer takes
    user_option: str
    #: whether time took the default; no person answered
    user_by_time: bool
    error: TaskError
    #: what holds a queued task back
    waiting_for: List[WaitingFor]
    #: when a retry may begin
    not_before: Time
    #: its end was asked for; the worker has to report it
    cancel_requested_at: Time
    started_at: Time
    completed_at: Time


class TaskDetail(TypedDict):
    """TaskDetail is the result of get_task."""

    task: Task
    #: of very many, the first and the last few; get_timeline gives more
    attempts: List[Attempt]
    attempts_total: int
    #: of very many, the last 50; replies_after gives the others
    replies: List[Reply]
    replies_total: int
    #: the texts and times of replies, under the names that other hosts read
    reply_history: List[ReplyText]


_TaskErrorOptionalWords = TypedDict(
    "_TaskErrorOptionalWords",
    {
        # what may help
        "class": Literal["transient", "provider", "terminal", "user"],
    },
    total=False,
)


class _TaskErrorRequired(TypedDict):
    message: str


class TaskError(_TaskErrorOptionalWords, _TaskErrorRequired, total=False):
    """TaskError is the error of an attempt."""

    http_status: int
    name: str


class _TaskLedgerRequired(TypedDict):
    run_id: str
    item_id: str
    plan_version: int
    reviewer_issues: List[ReviewIssue]
    blockers: List[str]
    required_fixes: List[str]
    stalled: Stalled
    review_loop: ReviewLoop
    rejections: int
    plan_items: List[str]
    files_changed: List[str]
    #: how often a worker was at it
    attempts: int
    #: how often each reviewer was at it
    review_attempts: ReviewCounts


class TaskLedger(_TaskLedgerRequired, total=False):
    """TaskLedger holds the facts of a run about its item."""

    summary: str
    reviewer_assessment: str
    replan_hint: str
    plan_summary: str
    #: the commits of the work, as a worker named them last
    git_range: str


class _TaskListRequired(TypedDict):
    items: List[Task]


class TaskList(_TaskListRequired, total=False):
    """TaskList is a page of tasks."""

    next_cursor: str


class _TaskNoteRequired(TypedDict):
    seq: int
    subject_id: str
    #: the type of the event
    event: str
    task_id: str
    status: Literal["QUEUED", "RUNNING", "COMPLETE", "AWAITING_RESPONSE", "ERROR", "CANCELLED", "BLOCKED"]
    attempt_id: str
    attempt_number: int


class TaskNote(_TaskNoteRequired, total=False):
    """TaskNote is the params of task/updated and task/awaiting_response."""

    reason: str
    session_id: str
    parent_session_id: str
    run_id: str
    #: of task/awaiting_response; one of more than 4 KiB is left out
    question: str
    options: List[Option]
    #: with options: whether own words are an answer, too
    allow_text: bool
    #: the label of an option
    default: str
    #: when time takes the default unless a person answers before
    default_at: Time


class _TaskParamsRequired(TypedDict):
    task_id: str


class TaskParams(_TaskParamsRequired, total=False):
    """TaskParams are the params of get_task."""

    #: the number of a reply: those behind it are given, in order; a whole number from 0 to 1000000000
    replies_after: int


class TaskResult(TypedDict):
    """TaskResult is one task after a change."""

    task: Task
    seq: int


class Telemetry(TypedDict):
    """Telemetry is the result of get_telemetry. After a kill, counts of compiled prompts may lack the last second; all others are exact."""

    dispatch: DispatchCounts
    tokens: TokenCounts
    packets: PacketCounts
    prompt_versions: Dict[str, int]
    #: how often a fact, or an item.X of the plan, was shortened or left out to fit a budget
    cut: Dict[str, int]
    compaction_stages: Dict[str, int]
    ledger_modes: Dict[str, int]
    rebuilds: RebuildCounts
    verdicts: Dict[str, int]
    grammars: Dict[str, int]
    #: of invalid results, by code
    errors: Dict[str, int]
    #: as they were given with results
    next_actions: Dict[str, int]


class TelemetryParams(TypedDict, total=False):
    """TelemetryParams are the params of get_telemetry."""

    #: without it, all runs
    run_id: str


class Timeline(TypedDict):
    """Timeline is the result of get_timeline."""

    attempts: List[Attempt]
    #: how many attempts there are
    total: int
    text: str


class _TimelineParamsRequired(TypedDict):
    task_id: str


class TimelineParams(_TimelineParamsRequired, total=False):
    """TimelineParams are the params of get_timeline."""

    #: of more attempts, the first and the last few; with 1, the newest; a whole number from 1 to 500; default `14`
    max_lines: int


class TokenCounts(TypedDict):
    """TokenCounts sum up estimates of tokens."""

    #: of all prompts before they were compacted
    prompts_before: int
    prompts_after: int
    results: int
    #: prompts_after as the estimate has it
    sent: int
    #: the same prompts with the whole plan and all facts, by the same estimate
    resend: int
    #: resend less sent
    saved: int


class _TotalsRequired(TypedDict):
    total: int
    completed: int
    in_progress: int
    pending: int
    blocked: int
    skipped: int
    #: parents with children; not in total
    groups: int


class Totals(_TotalsRequired, total=False):
    """Totals counts the work that a plan file shows: items without children, and open boxes that are no items."""

    #: open boxes and signs that are no items; they are in total and pending
    unread: int


class TraceStep(TypedDict):
    """TraceStep is the size of the prompt after one stage."""

    stage: str
    prompt_tokens: int


class _TriggerRequired(TypedDict):
    #: the exact type
    event_type: str


class Trigger(_TriggerRequired, total=False):
    """Trigger selects the reported events that make a standing instruction due. An event that acknowledges it does not."""

    #: as in an acknowledgement rule
    match: Dict[str, Any]
    #: a pattern for the file that the event names, as in tool_input.file_path: *.go, docs/*.md. Without a slash at its beginning it also fits the end of a path, from any folder on
    path: str


class _UnblockRunParamsRequired(TypedDict):
    run_id: str


class UnblockRunParams(_UnblockRunParamsRequired, total=False):
    """UnblockRunParams are the params of unblock_run."""

    #: the solved cause; the event has it as why
    reason: str
    #: the same key with the same params returns the first answer again
    idempotency_key: str


class _UnblockRunResultRequired(TypedDict):
    run: Run
    next_action: Literal["dispatch_worker", "dispatch_reviewer", "dispatch_worker_fixes", "retry_worker", "retry_with_preamble", "spawn_fresh_reviewer", "run_checks", "advance_to_next_item", "plan_completed", "halt_and_escalate"]
    next: Next
    seq: int


class UnblockRunResult(_UnblockRunResultRequired, total=False):
    """UnblockRunResult is the result of unblock_run."""

    #: with retry_with_preamble
    retry_prompt: str


class _WaitingForRequired(TypedDict):
    kind: Literal["depends_on", "retry_delay", "provider_cooling"]


class WaitingFor(_WaitingForRequired, total=False):
    """WaitingFor is one reason why a task waits."""

    task_id: str
    #: of that task
    status: str
    until: Time


class WaitingItem(TypedDict):
    """WaitingItem is an item that cannot begin now, with the reasons."""

    item_id: str
    because: List[Hold]


class _WatcherStatusRequired(TypedDict):
    mode: Literal["inotify", "kqueue", "windows", "polling", "off"]
    plans: int
    #: how often the system dropped notifications of files
    overflows: int
    #: how often every plan was looked at again because of that
    rescans: int


class WatcherStatus(_WatcherStatusRequired, total=False):
    """WatcherStatus describes the watcher."""

    #: why it polls
    reason: str
    last_rescan_at: Time


class Workspace(TypedDict):
    """Workspace is the directory that waybill works for."""

    id: str
    root: str
    state_dir: str
    #: which rule found it
    resolved_by: str


class _WorkspaceFolderRequired(TypedDict):
    #: a file URI or an absolute path
    uri: str


class WorkspaceFolder(_WorkspaceFolderRequired, total=False):
    """WorkspaceFolder is a directory that the host works in."""

    name: str


class InstructionAvailableMessage(TypedDict):
    """An instruction waits for a dispatch."""

    method: Literal["instruction/available"]
    params: InstructionNote


class InstructionUpdatedMessage(TypedDict):
    """An instruction changed its state."""

    method: Literal["instruction/updated"]
    params: InstructionNote


class TaskUpdatedMessage(TypedDict):
    """A task changed its state."""

    method: Literal["task/updated"]
    params: TaskNote


class TaskAwaitingResponseMessage(TypedDict):
    """A task asks a person."""

    method: Literal["task/awaiting_response"]
    params: TaskNote


class AttemptUpdatedMessage(TypedDict):
    """An attempt changed its state, or was reported on."""

    method: Literal["attempt/updated"]
    params: AttemptNote


class RunUpdatedMessage(TypedDict):
    """A run began, changed or ended."""

    method: Literal["run/updated"]
    params: RunNote


class LedgerChangedMessage(TypedDict):
    """The reading of a plan changed, or the plan became unreadable or readable."""

    method: Literal["ledger/changed"]
    params: LedgerNote


class NoticePostedMessage(TypedDict):
    """A notice waits to be consumed."""

    method: Literal["notice/posted"]
    params: NoticeNote


class LogMessage(TypedDict):
    """A message about the connection, such as dropped notifications, or about the event log as a whole."""

    method: Literal["log"]
    params: LogNote


#: A message that waybill sends unasked. Its method tells which params it has.
Notification = Union[
    InstructionAvailableMessage,
    InstructionUpdatedMessage,
    TaskUpdatedMessage,
    TaskAwaitingResponseMessage,
    AttemptUpdatedMessage,
    RunUpdatedMessage,
    LedgerChangedMessage,
    NoticePostedMessage,
    LogMessage,
]

#: The methods that take an idempotency_key, by all their names.
KEYED = frozenset(
    {
        "queue_instruction",
        "queue",
        "queue_instruction_with_ack",
        "dispatch_instructions",
        "acknowledge",
        "ack",
        "report_event",
        "cancel_instruction",
        "create_task",
        "claim_task",
        "bind_session",
        "heartbeat",
        "finish_attempt",
        "report_session_event",
        "retry_task",
        "cancel_task",
        "ask_user",
        "reply",
        "set_item_status",
        "init_run",
        "ingest_output",
        "report_check",
        "replan",
        "unblock_run",
        "consume_notices",
    }
)


class Methods:
    """Methods knows the params and the result of every method that is answered."""

    @overload
    async def call(self, method: Literal["initialize"], params: Optional[InitializeParams] = None) -> InitializeResult:
        """Names the host and the workspace. Optional: every method works without it. A repeated call does no harm."""

    @overload
    async def call(self, method: Literal["ping"], params: Optional[NoParams] = None) -> PingResult:
        """Answers at once."""

    @overload
    async def call(self, method: Literal["get_status"], params: Optional[NoParams] = None) -> StatusResult:
        """Describes the process, its store, its watcher, the counts of the store, and everything that is degraded."""

    @overload
    async def call(self, method: Literal["rpc.discover"], params: Optional[NoParams] = None) -> Dict[str, Any]:
        """Returns the OpenRPC document of this binary."""

    @overload
    async def call(self, method: Literal["shutdown"], params: Optional[NoParams] = None) -> None:
        """Refuses new requests, finishes those in flight, then answers null."""

    @overload
    async def call(self, method: Literal["queue_instruction", "queue"], params: QueueInstructionParams) -> InstructionResult:
        """Queues a plain instruction. It is sent once and not tracked."""

    @overload
    async def call(self, method: Literal["queue_instruction_with_ack"], params: QueueInstructionWithAckParams) -> QueueInstructionWithAckResult:
        """Queues a tracked instruction. Each dispatch pass sends it again until it is acknowledged. After 1 + max_retries sends it fails, with a notice. A standing one is sent only after its trigger fired, and waits for its trigger again after an acknowledgement or a failure."""

    @overload
    async def call(self, method: Literal["dispatch_instructions"], params: Optional[DispatchParams] = None) -> DispatchResult:
        """Runs one dispatch pass: sends queued instructions, sends unacknowledged ones again, and fails those without sends left."""

    @overload
    async def call(self, method: Literal["acknowledge", "ack"], params: AcknowledgeParams) -> AcknowledgeResult:
        """Confirms that a tracked instruction took effect. A repeated call returns the same answer. A failed instruction stays failed and gets late_ack_at."""

    @overload
    async def call(self, method: Literal["report_event"], params: ReportEventParams) -> ReportEventResult:
        """Reports an event, and acknowledges every outstanding instruction whose ack_on matches it. Then it fires the trigger of every other standing instruction that it fits. A tool call in the session of an attempt is kept in the event log, for audits."""

    @overload
    async def call(self, method: Literal["get_failed_instructions"], params: Optional[FailedParams] = None) -> InstructionList:
        """Lists the instructions that failed because no agent acknowledged them."""

    @overload
    async def call(self, method: Literal["list_instructions"], params: Optional[ListInstructionsParams] = None) -> InstructionList:
        """Lists instructions in the order of queueing, or returns one of them."""

    @overload
    async def call(self, method: Literal["cancel_instruction"], params: Optional[CancelInstructionParams] = None) -> CancelInstructionResult:
        """Cancels one instruction, or with all every standing or outstanding instruction of a session."""

    @overload
    async def call(self, method: Literal["create_task"], params: CreateTaskParams) -> TaskResult:
        """Queues a task for an agent, with its chain of models and its dependencies."""

    @overload
    async def call(self, method: Literal["claim_task"], params: ClaimTaskParams) -> ClaimTaskResult:
        """Returns the oldest ready task under a lease, with its prompt. A task goes to one caller only."""

    @overload
    async def call(self, method: Literal["bind_session"], params: BindSessionParams) -> AttemptReport:
        """Names the session and the model in which an attempt runs."""

    @overload
    async def call(self, method: Literal["heartbeat"], params: HeartbeatParams) -> HeartbeatResult:
        """Extends the lease of a running attempt. The answer tells whether the host wants the task to end."""

    @overload
    async def call(self, method: Literal["finish_attempt"], params: FinishAttemptParams) -> FinishAttemptResult:
        """Reports the end of an attempt. The class of a failure decides whether the task is retried on the same model, on the next one, or not at all. A repeated report returns the same answer."""

    @overload
    async def call(self, method: Literal["report_session_event"], params: SessionEventParams) -> SessionEventResult:
        """Reports an event of a session. An event of a session that no longer works on its task changes nothing."""

    @overload
    async def call(self, method: Literal["retry_task"], params: RetryTaskParams) -> RetryTaskResult:
        """Queues a task in ERROR, CANCELLED or BLOCKED again, with a fresh budget of attempts."""

    @overload
    async def call(self, method: Literal["cancel_task"], params: CancelTaskParams) -> TaskResult:
        """Cancels a task. A running task ends when its worker reports the end, or when its lease expires."""

    @overload
    async def call(self, method: Literal["get_task"], params: TaskParams) -> TaskDetail:
        """Returns a task with its attempts and replies. Of many attempts, it returns the first and the last few."""

    @overload
    async def call(self, method: Literal["list_tasks"], params: Optional[ListTasksParams] = None) -> TaskList:
        """Lists tasks in the order of creation, the oldest or the newest first, and what a queued one waits for."""

    @overload
    async def call(self, method: Literal["get_timeline"], params: TimelineParams) -> Timeline:
        """Returns the attempts of a task in order, and as text with one line each."""

    @overload
    async def call(self, method: Literal["ask_user"], params: AskUserParams) -> TaskResult:
        """Puts a question of a session before a person, as a task that no worker claims. The answer completes the task, and goes to the session as an instruction."""

    @overload
    async def call(self, method: Literal["list_awaiting"], params: Optional[ListAwaitingParams] = None) -> AwaitingList:
        """Lists the tasks that wait for an answer, the oldest first."""

    @overload
    async def call(self, method: Literal["reply"], params: ReplyParams) -> ReplyResult:
        """Answers the question of a task by one of its options or in own words, and continues the task. Of several replies the first wins."""

    @overload
    async def call(self, method: Literal["list_plans"], params: Optional[NoParams] = None) -> PlanList:
        """Lists the plans of the workspace with their totals."""

    @overload
    async def call(self, method: Literal["get_plan"], params: GetPlanParams) -> Plan:
        """Returns one plan: every item, and a diagnostic for every other box or task sign."""

    @overload
    async def call(self, method: Literal["ready_items"], params: ReadyItemsParams) -> ReadyItems:
        """Lists the items of a plan that can begin now, and for each other item the reasons why it cannot. Only dependencies that the plan names hold an item back, not its order. A blocked item holds back only its dependents."""

    @overload
    async def call(self, method: Literal["set_item_status"], params: SetItemStatusParams) -> SetItemStatusResult:
        """Writes the status of an item into its plan file: the mark in its box or its status word, and no other byte. It never overwrites a change that was saved in between."""

    @overload
    async def call(self, method: Literal["init_run"], params: InitRunParams) -> InitRunResult:
        """Starts a run of an item, or returns its live run."""

    @overload
    async def call(self, method: Literal["resume_run"], params: ResumeRunParams) -> ResumeRunResult:
        """Finds the newest run of an item and returns the prompt to continue it, even if the plan is unreadable."""

    @overload
    async def call(self, method: Literal["list_runs"], params: Optional[ListRunsParams] = None) -> RunList:
        """Lists runs, the newest first, including those of plans that no longer exist, or returns one of them."""

    @overload
    async def call(self, method: Literal["compile_prompt"], params: CompilePromptParams) -> CompilePromptResult:
        """Compiles the prompt for a role of a run from the present facts. Each call reads the plan file."""

    @overload
    async def call(self, method: Literal["compile_anchor"], params: Optional[CompileAnchorParams] = None) -> CompileAnchorResult:
        """Compiles a text with which an agent that lost its memory goes on: the work and its next step, what is proven and what is only said, open questions, and instructions that are due. It sends no instruction."""

    @overload
    async def call(self, method: Literal["ingest_output"], params: IngestOutputParams) -> IngestOutputResult:
        """Judges the output of an agent, moves the run accordingly, and returns the next action. With a lease it also finishes the attempt."""

    @overload
    async def call(self, method: Literal["report_check"], params: ReportCheckParams) -> ReportCheckResult:
        """Records how a check ended, as a receipt, and moves the run accordingly. Only a host calls it: no agent can write a receipt."""

    @overload
    async def call(self, method: Literal["list_receipts"], params: Optional[ListReceiptsParams] = None) -> ReceiptList:
        """Lists the receipts of a run or of all runs, the oldest first."""

    @overload
    async def call(self, method: Literal["get_receipt"], params: GetReceiptParams) -> Receipt:
        """Returns one receipt."""

    @overload
    async def call(self, method: Literal["replan"], params: ReplanParams) -> ReplanResult:
        """Records a new version of the plan for an item. It ends a block if the next items have changed."""

    @overload
    async def call(self, method: Literal["unblock_run"], params: UnblockRunParams) -> UnblockRunResult:
        """Ends the block of a run after a person solved its cause. All counters of the run start again at zero, each role keeps its standing, and blocked tasks are queued again."""

    @overload
    async def call(self, method: Literal["get_ledger"], params: GetLedgerParams) -> Ledger:
        """Returns the stored ledgers of a run."""

    @overload
    async def call(self, method: Literal["get_snapshot"], params: RunParams) -> Snapshot:
        """Returns the facts of a run with their revision."""

    @overload
    async def call(self, method: Literal["get_telemetry"], params: Optional[TelemetryParams] = None) -> Telemetry:
        """Returns counts of compiled prompts and judged results, for one run or for all."""

    @overload
    async def call(self, method: Literal["events_since"], params: EventsSinceParams) -> EventList:
        """Returns the events after a cursor, in order and without gaps."""

    @overload
    async def call(self, method: Literal["list_notices"], params: Optional[ListNoticesParams] = None) -> NoticeList:
        """Lists the notices that were not consumed. It counts as a delivery of each, unless peek is true."""

    @overload
    async def call(self, method: Literal["consume_notices"], params: ConsumeNoticesParams) -> ConsumeNoticesResult:
        """Marks notices as consumed, so that they are not delivered again."""

    @overload
    async def call(self, method: Literal["explain"], params: Optional[ExplainParams] = None) -> Explanation:
        """Explains why an instruction, task, run or item is in its state, and what happens next."""

    async def call(self, method: str, params: Optional[Mapping[str, object]] = None) -> Any:
        """Calls a method of the protocol and gives its result."""
        return await self.request(method, params)

    async def request(self, method: str, params: Optional[Mapping[str, object]] = None) -> Any:
        """Calls a method by any name, without types."""
        raise NotImplementedError
