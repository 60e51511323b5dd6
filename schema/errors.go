package schema

// A Code is the stable name of an error: the contract of data.code.
type Code string

// The error codes.
const (
	ParseError       Code = "PARSE_ERROR"
	FramingError     Code = "FRAMING_ERROR"
	InvalidUTF8      Code = "INVALID_UTF8"
	InvalidRequest   Code = "INVALID_REQUEST"
	DuplicateID      Code = "DUPLICATE_ID"
	DuplicateKey     Code = "DUPLICATE_KEY"
	InvalidBatch     Code = "INVALID_BATCH"
	MessageTooLarge  Code = "MESSAGE_TOO_LARGE"
	NestingTooDeep   Code = "NESTING_TOO_DEEP"
	MethodNotFound   Code = "METHOD_NOT_FOUND"
	InvalidParams    Code = "INVALID_PARAMS"
	UnknownField     Code = "UNKNOWN_FIELD"
	EmptyContent     Code = "EMPTY_CONTENT"
	PathOutside      Code = "PATH_OUTSIDE_WORKSPACE"
	Internal         Code = "INTERNAL"
	Cancelled        Code = "CANCELLED"
	InvalidState     Code = "INVALID_STATE"
	InstructionGone  Code = "INSTRUCTION_NOT_FOUND"
	TaskGone         Code = "TASK_NOT_FOUND"
	AttemptGone      Code = "ATTEMPT_NOT_FOUND"
	RunGone          Code = "RUN_NOT_FOUND"
	ReceiptGone      Code = "RECEIPT_NOT_FOUND"
	PlanGone         Code = "PLAN_NOT_FOUND"
	OutputGone       Code = "OUTPUT_NOT_FOUND"
	SubjectGone      Code = "SUBJECT_NOT_FOUND"
	CursorGone       Code = "CURSOR_EXPIRED"
	IdempotencyClash Code = "IDEMPOTENCY_MISMATCH"
	Conflict         Code = "CONFLICT"
	AlreadyResolved  Code = "ALREADY_RESOLVED"
	SessionBound     Code = "SESSION_ALREADY_BOUND"
	AttemptFinalized Code = "ATTEMPT_FINALIZED"
	TooLarge         Code = "TOO_LARGE"
	LedgerMissing    Code = "progress_ledger_missing_tasks"
	LedgerUnparsed   Code = "progress_ledger_parse_failed"
	LedgerIncomplete Code = "progress_ledger_incomplete"
	ItemGone         Code = "item_not_found"
	ItemFixed        Code = "ITEM_NOT_SETTABLE"
	PlanUnwritable   Code = "PLAN_NOT_WRITABLE"
	PromptOverflow   Code = "dispatch_prompt_overflow_terminal"
	NoWorkspace      Code = "WORKSPACE_UNRESOLVED"
	BadVersion       Code = "UNSUPPORTED_VERSION"
	QueueFull        Code = "QUEUE_FULL"
	Overloaded       Code = "OVERLOADED"
	ShuttingDown     Code = "SHUTTING_DOWN"
	Unauthorized     Code = "UNAUTHORIZED"
	Forbidden        Code = "FORBIDDEN"
	WrongVerb        Code = "METHOD_NOT_ALLOWED"
	WrongMedia       Code = "UNSUPPORTED_MEDIA_TYPE"
	StoreFull        Code = "STORE_FULL"
	StoreIO          Code = "STORE_IO_ERROR"
	StoreReadOnly    Code = "STORE_READ_ONLY"
	StoreNewer       Code = "STORE_NEWER_SCHEMA"
	StoreBusy        Code = "STORE_BUSY"
	StoreCorrupt     Code = "STORE_CORRUPT"
	StoreLost        Code = "STORE_LOST"
	StoreUnsafe      Code = "STORE_UNSAFE"
)

// An ErrorRow is one row of the error table.
type ErrorRow struct {
	Code      Code
	Number    int  // the integer for generic JSON-RPC clients
	Retryable bool // whether the same call may succeed later
	Doc       string
}

// ErrorTable lists every error that a host can receive. Protocol errors have the numbers of JSON-RPC. Other errors
// have positive numbers, because protocols of hosts use the negative ones differently.
var ErrorTable = []ErrorRow{
	{ParseError, -32700, false, "The message is not JSON. The session continues with the next message."},
	{FramingError, -32700, false, "The frame around the message is broken. The session continues with the next frame that it finds."},
	{InvalidUTF8, -32700, false, "The message is not valid UTF-8, or has half of a surrogate pair."},
	{InvalidRequest, -32600, false, "The message is JSON but not a request."},
	{DuplicateID, -32600, false, "A request with the same id is still in flight."},
	{DuplicateKey, -32600, false, "A member occurs twice in one object."},
	{InvalidBatch, -32600, false, "The batch is empty or has too many members."},
	{MessageTooLarge, -32600, false, "The message is larger than limits.max_message_bytes."},
	{NestingTooDeep, -32600, false, "The message is nested more deeply than 128 levels."},
	{MethodNotFound, -32601, false, "There is no such method; details.did_you_mean lists the nearest."},
	{InvalidParams, -32602, false, "A param is missing or has the wrong type; details.errors lists all of them, with a JSON Pointer each."},
	{UnknownField, -32602, false, "A param is not known; details names it and the nearest known one."},
	{EmptyContent, -32602, false, "The content is empty or only white space."},
	{PathOutside, -32602, false, "The path leaves the workspace or is not a portable relative path."},
	{Internal, -32603, false, "A defect of waybill. data.incident finds the details in its log."},
	{Cancelled, -32800, true, "The request was cancelled before anything was applied."},
	{Unauthorized, 4010, false, "Over HTTP only: the token is missing or wrong, or the one-time code is spent."},
	{Forbidden, 4030, false, "Over HTTP only: the request names another host, or a page of another origin sent it."},
	{WrongVerb, 4050, false, "Over HTTP only: the path does not take this verb; details.allow lists those that it takes."},
	{WrongMedia, 4150, false, "Over HTTP only: a body must be application/json and not be compressed."},
	{InvalidState, 4000, false, "The state does not allow this call; data.details.state, for a task status, names the state, and allowed the calls that it allows."},
	{InstructionGone, 4040, false, "No instruction has this id."},
	{TaskGone, 4040, false, "No task has this id."},
	{AttemptGone, 4040, false, "The task has no attempt with this id."},
	{RunGone, 4040, false, "No run has this id."},
	{ReceiptGone, 4040, false, "No receipt has this id, or it was removed with the oldest part of the event log."},
	{PlanGone, 4040, false, "The workspace has no such plan."},
	{OutputGone, 4040, true, "The file at output_path is missing or unreadable; details.reason says which."},
	{SubjectGone, 4040, false, "Nothing has this id."},
	{CursorGone, 4040, false, "The cursor is older than the log, or from another log, such as one before a restore. Read the lists again and continue at details.newest; details.oldest has everything in the log."},
	{IdempotencyClash, 4090, false, "The idempotency key was used before with other params."},
	{Conflict, 4090, false, "Another operation on the task is in progress; details.status has its status. Or the plan file has changed since the caller read it; see details.expected_hash and found_hash."},
	{AlreadyResolved, 4090, false, "The question has been answered, or the task has continued; details.status has its status."},
	{SessionBound, 4090, false, "The session belongs to another task or runs another attempt, or the attempt runs in another session."},
	{AttemptFinalized, 4090, false, "The attempt has ended and cannot change."},
	{TooLarge, 4130, false, "A value is over its limit; details.limit names it."},
	{LedgerMissing, 4220, true, "The plan file does not exist."},
	{LedgerUnparsed, 4220, true, "No item of the plan file is readable; details has the reason."},
	{LedgerIncomplete, 4220, true, "A fact that the prompt needs is missing or damaged."},
	{ItemGone, 4220, true, "The plan has no item with this id."},
	{ItemFixed, 4220, false, "The item cannot have this status in its plan; details.reason says why, and lines has its lines."},
	{PlanUnwritable, 4220, true, "The plan file is not writable; details.reason says why."},
	{PromptOverflow, 4220, false, "The prompt exceeds its budget, and all that remains is required."},
	{NoWorkspace, 4240, false, "No workspace was found; the message has the reason."},
	{BadVersion, 4260, false, "The protocol version is not supported; details has the range."},
	{QueueFull, 4290, true, "Too many instructions wait."},
	{Overloaded, 4290, true, "Too many requests are in flight."},
	{ShuttingDown, 5030, false, "waybill is shutting down and accepts no new request."},
	{StoreFull, 5070, true, "The disk is full. Reports about existing work and reads still succeed."},
	{StoreIO, 5071, true, "The store could not be read or written; retry with the same idempotency key."},
	{StoreReadOnly, 5071, false, "The store is read-only."},
	{StoreNewer, 5071, false, "The store was written by a newer waybill."},
	{StoreBusy, 5071, true, "Another process has locked the store."},
	{StoreCorrupt, 5071, false, "The store or a record in it is damaged; the message says which. Nothing was deleted."},
	{StoreLost, 5071, false, "The file of the store was removed or replaced while it was open; the message names the rescued copy."},
	{StoreUnsafe, 5071, false, "The store is at a place where it is not safe."},
}

// OverHTTP lists the errors of the HTTP front door alone.
var OverHTTP = []Code{Unauthorized, Forbidden, WrongVerb, WrongMedia}

// Row returns the row of a code; ok is false for an unknown code.
func Row(code Code) (row ErrorRow, ok bool) {
	for _, r := range ErrorTable {
		if r.Code == code {
			return r, true
		}
	}
	return ErrorRow{}, false
}

// ErrorNumber returns the integer of a code of the table.
func ErrorNumber(code Code) int { return NewError(code, "").Code }

// The outcomes of a call that ended in an error.
const (
	OutcomeNotApplied = "not_applied" // nothing happened, and nothing will
	OutcomeApplied    = "applied"     // it happened
	OutcomeUnknown    = "unknown"     // unknown; repeating the idempotency key tells
)

// An Error is the error object of an answer.
type Error struct {
	Code    int       `json:"code" doc:"the number of data.code"`
	Message string    `json:"message" doc:"one sentence: what is wrong, where, and what to do"`
	Data    ErrorData `json:"data"`
}

// ErrorData is the machine-readable part of an error.
type ErrorData struct {
	Code         Code           `json:"code" doc:"the stable name of the error"`
	Retryable    bool           `json:"retryable" doc:"whether the same call may succeed later"`
	Outcome      string         `json:"outcome" schema:"enum=not_applied|applied|unknown" doc:"whether the call took effect"`
	RetryAfterMS int            `json:"retry_after_ms,omitzero" doc:"when to try again"`
	Hint         string         `json:"hint,omitzero" doc:"what to do about it"`
	Details      map[string]any `json:"details,omitzero" doc:"facts, by the code"`
	Incident     string         `json:"incident,omitzero" doc:"finds the details in the log of waybill"`
}

// A Problem is one thing that is wrong with the params of a call; details.errors lists them.
type Problem struct {
	Pointer  string `json:"pointer" doc:"JSON Pointer into params; empty for params itself"`
	Message  string `json:"message" doc:"what is wrong, where, and what to do"`
	Expected string `json:"expected" doc:"what the value must be"`
	Found    string `json:"found" doc:"what it is; long values are cut"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// NewError returns the error object for a code of the table, with outcome not_applied.
func NewError(code Code, message string) *Error {
	row, ok := Row(code)
	if !ok {
		panic("schema: error code " + string(code) + " is not in the table")
	}
	return &Error{
		Code: row.Number, Message: message,
		Data: ErrorData{Code: code, Retryable: row.Retryable, Outcome: OutcomeNotApplied},
	}
}

// With adds a fact to the details.
func (e *Error) With(key string, value any) *Error {
	if e.Data.Details == nil {
		e.Data.Details = map[string]any{}
	}
	e.Data.Details[key] = value
	return e
}

// Hint sets the advice of the error.
func (e *Error) Hint(text string) *Error {
	e.Data.Hint = text
	return e
}
