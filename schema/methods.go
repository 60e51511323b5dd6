package schema

// Methods declares every method, in the order of the documents.
var Methods = []Method{
	method[InitializeParams, InitializeResult](Method{
		Name: "initialize", Group: "lifecycle", Kind: Control,
		Doc:    "Says who is talking and which directory is worked in. Optional and idempotent: every method works without it.",
		Errors: []Code{BadVersion},
	}),
	method[None, PingResult](Method{
		Name: "ping", Group: "lifecycle", Kind: Control,
		Doc: "Answers at once.",
	}),
	method[None, StatusResult](Method{
		Name: "get_status", Group: "lifecycle", Kind: Read,
		Doc: "Describes the process, its store, its watcher, what is in the store, and everything that is degraded.",
	}),
	method[None, OpenRPC](Method{
		Name: "rpc.discover", Group: "lifecycle", Kind: Control,
		Doc: "Gives the OpenRPC document of this binary.",
	}),
	method[None, Null](Method{
		Name: "shutdown", Group: "lifecycle", Kind: Connection,
		Doc: "Refuses new work from here on, finishes what is in hand, then answers null.",
	}),
	method[None, Null](Method{
		Name: "exit", Group: "lifecycle", Kind: Connection, Notification: true,
		Doc: "Ends the process: with status 0 after shutdown, with 1 without.",
	}),
	method[None, Null](Method{
		Name: "initialized", Aliases: []string{"notifications/initialized"}, Group: "lifecycle", Kind: Connection, Notification: true,
		Doc: "Accepted and ignored, for hosts that always say it.",
	}),
	method[CancelParams, Null](Method{
		Name: "$/cancelRequest", Aliases: []string{"$/cancel_request"}, Group: "lifecycle", Kind: Connection, Notification: true,
		Doc: "Asks that a request in hand be given up. It is answered CANCELLED if nothing was applied, as usual otherwise.",
	}),

	method[QueueInstructionParams, InstructionResult](Method{
		Name: "queue_instruction", Aliases: []string{"queue"}, Group: "instructions", Kind: Change,
		Doc:    "Queues a plain instruction: handed out once, not tracked.",
		Errors: []Code{EmptyContent, TooLarge, QueueFull},
	}),
	method[QueueInstructionWithAckParams, QueueInstructionWithAckResult](Method{
		Name: "queue_instruction_with_ack", Group: "instructions", Kind: Change,
		Doc:    "Queues a tracked instruction: handed out again in each dispatch pass, at most 1 + max_retries times, until it is acknowledged; then it fails, with a notice.",
		Errors: []Code{EmptyContent, TooLarge, QueueFull},
	}),
	method[DispatchParams, DispatchResult](Method{
		Name: "dispatch_instructions", Group: "instructions", Kind: Change,
		Doc: "One dispatch pass: hands out what is queued, then once more what was sent and not acknowledged, and fails what has used up its sends.",
	}),
	method[AcknowledgeParams, AcknowledgeResult](Method{
		Name: "acknowledge", Aliases: []string{"ack"}, Group: "instructions", Kind: Change,
		Doc:    "Confirms that a tracked instruction took effect. Twice is the same answer; one that failed stays failed and keeps late_ack_at.",
		Errors: []Code{InstructionGone, InvalidState},
	}),
	method[ReportEventParams, ReportEventResult](Method{
		Name: "report_event", Group: "instructions", Kind: Change,
		Doc:    "Reports something that happened; acknowledges every outstanding instruction whose ack_on matches it.",
		Errors: []Code{TooLarge},
	}),
	method[FailedParams, InstructionList](Method{
		Name: "get_failed_instructions", Group: "instructions", Kind: Read,
		Doc: "Lists the instructions that were never acknowledged.",
	}),
	method[ListInstructionsParams, InstructionList](Method{
		Name: "list_instructions", Group: "instructions", Kind: Read,
		Doc:    "Lists instructions as they were queued, or gives one of them.",
		Errors: []Code{InstructionGone},
	}),
	method[CancelInstructionParams, CancelInstructionResult](Method{
		Name: "cancel_instruction", Group: "instructions", Kind: Change,
		Doc:    "Withdraws one instruction, or with all everything outstanding of a session.",
		Errors: []Code{InstructionGone, InvalidState, TooLarge},
	}),

	method[CreateTaskParams, TaskResult](Method{
		Name: "create_task", Group: "tasks", Kind: Change,
		Doc:    "Queues a unit of work for an agent, with the models that it may run on and the tasks that it waits for.",
		Errors: []Code{EmptyContent, TooLarge, QueueFull, RunGone, TaskGone},
	}),
	method[ClaimTaskParams, ClaimTaskResult](Method{
		Name: "claim_task", Group: "tasks", Kind: Change,
		Doc: "Gives the oldest task that is ready to a worker, under a lease, with the prompt to run. Of many callers one gets it.",
	}),
	method[BindSessionParams, AttemptReport](Method{
		Name: "bind_session", Group: "tasks", Kind: Change,
		Doc:    "Says in which session, and on which model, an attempt runs.",
		Errors: []Code{TaskGone, AttemptGone, SessionBound, AttemptFinalized},
	}),
	method[HeartbeatParams, HeartbeatResult](Method{
		Name: "heartbeat", Group: "tasks", Kind: Change,
		Doc:    "Says that the worker is at it, and extends its lease. The answer says whether the task was asked to end.",
		Errors: []Code{TaskGone, TooLarge},
	}),
	method[FinishAttemptParams, FinishAttemptResult](Method{
		Name: "finish_attempt", Group: "tasks", Kind: Change,
		Doc:    "Reports how an attempt ended. A failure is retried on the same model, on the next one, or not at all, as its class says. The same report twice is the same answer.",
		Errors: []Code{TaskGone, TooLarge},
	}),
	method[SessionEventParams, SessionEventResult](Method{
		Name: "report_session_event", Group: "tasks", Kind: Change,
		Doc:    "Reports what the host saw of a session. What is about a session that does not work on its task any more changes nothing.",
		Errors: []Code{TooLarge},
	}),
	method[RetryTaskParams, RetryTaskResult](Method{
		Name: "retry_task", Group: "tasks", Kind: Change,
		Doc:    "Sets a task going again that is in ERROR, CANCELLED or BLOCKED, with a fresh budget of attempts.",
		Errors: []Code{TaskGone, InvalidState, Conflict},
	}),
	method[CancelTaskParams, TaskResult](Method{
		Name: "cancel_task", Group: "tasks", Kind: Change,
		Doc:    "Withdraws a task. One that runs is asked to end: it is over when its worker reports so, or its lease runs out.",
		Errors: []Code{TaskGone, InvalidState, TooLarge},
	}),
	method[TaskParams, TaskDetail](Method{
		Name: "get_task", Group: "tasks", Kind: Read,
		Doc:    "Gives a task with its attempts and the replies to it. Of very many attempts it gives the first and the last few.",
		Errors: []Code{TaskGone},
	}),
	method[ListTasksParams, TaskList](Method{
		Name: "list_tasks", Group: "tasks", Kind: Read,
		Doc: "Lists tasks as they were created, the oldest or the newest first, and says what a queued one waits for.",
	}),
	method[TimelineParams, Timeline](Method{
		Name: "get_timeline", Group: "tasks", Kind: Read,
		Doc:    "Gives the attempts of a task in order, and as text, a line each.",
		Errors: []Code{TaskGone},
	}),

	method[ListAwaitingParams, AwaitingList](Method{
		Name: "list_awaiting", Group: "replies", Kind: Read,
		Doc: "Lists the tasks that wait for a person, the oldest first.",
	}),
	method[ReplyParams, ReplyResult](Method{
		Name: "reply", Group: "replies", Kind: Change,
		Doc:    "Answers a task and continues it. Of many answers the first wins.",
		Errors: []Code{TaskGone, InvalidState, AlreadyResolved, EmptyContent, TooLarge},
	}),

	method[None, PlanList](Method{
		Name: "list_plans", Group: "plans", Kind: Read,
		Doc: "Lists the plans of the workspace with their totals.",
	}),
	method[GetPlanParams, Plan](Method{
		Name: "get_plan", Group: "plans", Kind: Read,
		Doc:    "Gives one plan as it was read: every item, and a diagnostic for everything that is not one.",
		Errors: []Code{PlanGone, PathOutside, LedgerMissing, LedgerUnparsed},
	}),
	method[ReadyItemsParams, ReadyItems](Method{
		Name: "ready_items", Group: "plans", Kind: Read,
		Doc:    "Says which items of a plan can be begun now, and of each other one why not. It waits for what the plan says that an item depends on; the order of the plan is none of that. A blocked item holds back only what depends on it.",
		Errors: []Code{PlanGone, PathOutside, LedgerMissing, LedgerUnparsed},
	}),
	method[SetItemStatusParams, SetItemStatusResult](Method{
		Name: "set_item_status", Group: "plans", Kind: Change,
		Doc:    "Writes the status of an item into its plan file: the mark in its box, or its word for the status, and no other byte. Nothing is written over what somebody else has saved meanwhile.",
		Errors: []Code{PlanGone, PathOutside, LedgerMissing, LedgerUnparsed, ItemGone, ItemFixed, PlanUnwritable, Conflict},
	}),
	method[InitRunParams, InitRunResult](Method{
		Name: "init_run", Group: "plans", Kind: Change,
		Doc:    "Starts the journey of one item, or gives the live run that it already has.",
		Errors: []Code{PlanGone, PathOutside, LedgerMissing, LedgerUnparsed, ItemGone},
	}),
	method[ResumeRunParams, ResumeRunResult](Method{
		Name: "resume_run", Group: "plans", Kind: Read,
		Doc:    "Finds the newest run of an item without its id and gives the prompt with which an agent picks it up, also when the plan cannot be read.",
		Errors: []Code{RunGone, PlanGone, PathOutside, LedgerIncomplete},
	}),
	method[ListRunsParams, RunList](Method{
		Name: "list_runs", Group: "plans", Kind: Read,
		Doc:    "Lists runs, the one that began last first, also those of plans that are not there any more; or gives one of them.",
		Errors: []Code{PlanGone, PathOutside, RunGone},
	}),
	method[CompilePromptParams, CompilePromptResult](Method{
		Name: "compile_prompt", Group: "plans", Kind: Read,
		Doc:    "Compiles the prompt for a role of a run from what is true now. The plan is checked on every call.",
		Errors: []Code{RunGone, ItemGone, LedgerMissing, LedgerIncomplete, PromptOverflow},
	}),
	method[IngestOutputParams, IngestOutputResult](Method{
		Name: "ingest_output", Group: "plans", Kind: Change,
		Doc:    "Judges what an agent gave back, moves the run accordingly, and says what has to be done next. With a lease it finishes the attempt, too.",
		Errors: []Code{RunGone, TaskGone, AttemptGone, InvalidState, TooLarge, PathOutside, OutputGone, LedgerIncomplete},
	}),
	method[ReplanParams, ReplanResult](Method{
		Name: "replan", Group: "plans", Kind: Change,
		Doc:    "Records a new version of the plan for an item. It ends a block exactly if it wants something else done next.",
		Errors: []Code{RunGone, InvalidState, EmptyContent, TooLarge, ItemGone, LedgerIncomplete},
	}),
	method[GetLedgerParams, Ledger](Method{
		Name: "get_ledger", Group: "plans", Kind: Read,
		Doc:    "Gives the ledgers of a run as they are stored.",
		Errors: []Code{RunGone, LedgerIncomplete},
	}),
	method[RunParams, Snapshot](Method{
		Name: "get_snapshot", Group: "plans", Kind: Read,
		Doc:    "Gives the revisioned facts of a run.",
		Errors: []Code{RunGone},
	}),
	method[TelemetryParams, Telemetry](Method{
		Name: "get_telemetry", Group: "plans", Kind: Read,
		Doc:    "Counts what was compiled and judged, for one run or for all.",
		Errors: []Code{RunGone},
	}),

	method[EventsSinceParams, EventList](Method{
		Name: "events_since", Group: "log", Kind: Read,
		Doc:    "Gives what happened after a cursor, in order and without gaps.",
		Errors: []Code{CursorGone},
	}),
	method[ListNoticesParams, NoticeList](Method{
		Name: "list_notices", Group: "log", Kind: Read,
		Doc: "Lists the notices that were not consumed, which counts as a delivery of each unless peek is true.",
	}),
	method[ConsumeNoticesParams, ConsumeNoticesResult](Method{
		Name: "consume_notices", Group: "log", Kind: Change,
		Doc: "Marks notices as seen, so that they are not delivered again.",
	}),
	method[ExplainParams, Explanation](Method{
		Name: "explain", Group: "log", Kind: Read,
		Doc:    "Says why a thing is as it is, and what would move it on.",
		Errors: []Code{SubjectGone, PlanGone, PathOutside, LedgerMissing, LedgerUnparsed, ItemGone},
	}),
}

// Notifications declares every message that is sent unasked. They are hints: each carries seq, and
// events_since rebuilds everything.
var Notifications = []Notification{
	notification[InstructionNote]("instruction/available", "An instruction waits for a dispatch."),
	notification[InstructionNote]("instruction/updated", "An instruction moved on."),
	notification[TaskNote]("task/updated", "A task moved on."),
	notification[TaskNote]("task/awaiting_response", "A task asks a person."),
	notification[AttemptNote]("attempt/updated", "An attempt moved on, or somebody reported about it."),
	notification[RunNote]("run/updated", "A run began, moved on or ended."),
	notification[LedgerNote]("ledger/changed", "A plan reads differently than before, or cannot be read, or can be again."),
	notification[NoticeNote]("notice/posted", "There is a notice to consume."),
	notification[LogNote]("log", "Something about the connection itself, such as notifications that were dropped, or about the event log as a whole."),
}

// Everywhere lists the errors that every method may answer.
var Everywhere = []Code{
	InvalidParams, UnknownField, Internal, Cancelled, Overloaded, ShuttingDown,
	NoWorkspace, IdempotencyClash, StoreFull, StoreIO, StoreReadOnly, StoreNewer,
	StoreBusy, StoreCorrupt, StoreLost, StoreUnsafe,
}
