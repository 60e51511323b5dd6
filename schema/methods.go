package schema

// Methods declares every method, in the order of the documentation.
var Methods = []Method{
	method[InitializeParams, InitializeResult](Method{
		Name: "initialize", Group: "lifecycle", Kind: Control,
		Doc:    "Names the host and the workspace. Optional: every method works without it. A repeated call does no harm.",
		Errors: []Code{BadVersion},
	}),
	method[None, PingResult](Method{
		Name: "ping", Group: "lifecycle", Kind: Control,
		Doc: "Answers at once.",
	}),
	method[None, StatusResult](Method{
		Name: "get_status", Group: "lifecycle", Kind: Read,
		Doc: "Describes the process, its store, its watcher, the counts of the store, and everything that is degraded.",
	}),
	method[None, OpenRPC](Method{
		Name: "rpc.discover", Group: "lifecycle", Kind: Control,
		Doc: "Returns the OpenRPC document of this binary.",
	}),
	method[None, Null](Method{
		Name: "shutdown", Group: "lifecycle", Kind: Connection,
		Doc: "Refuses new requests, finishes those in flight, then answers null.",
	}),
	method[None, Null](Method{
		Name: "exit", Group: "lifecycle", Kind: Connection, Notification: true,
		Doc: "Ends the process: with status 0 after shutdown, with 1 without.",
	}),
	method[None, Null](Method{
		Name: "initialized", Aliases: []string{"notifications/initialized"}, Group: "lifecycle", Kind: Connection, Notification: true,
		Doc: "Accepted and ignored, for hosts that always send it.",
	}),
	method[CancelParams, Null](Method{
		Name: "$/cancelRequest", Aliases: []string{"$/cancel_request"}, Group: "lifecycle", Kind: Connection, Notification: true,
		Doc: "Cancels a request in flight. It is answered CANCELLED if nothing was applied, otherwise as usual.",
	}),

	method[QueueInstructionParams, InstructionResult](Method{
		Name: "queue_instruction", Aliases: []string{"queue"}, Group: "instructions", Kind: Change,
		Doc:    "Queues a plain instruction. It is sent once and not tracked.",
		Errors: []Code{EmptyContent, TooLarge, QueueFull},
	}),
	method[QueueInstructionWithAckParams, QueueInstructionWithAckResult](Method{
		Name: "queue_instruction_with_ack", Group: "instructions", Kind: Change,
		Doc:    "Queues a tracked instruction. Each dispatch pass sends it again until it is acknowledged. After 1 + max_retries sends it fails, with a notice. A standing one is sent only after its trigger fired, and waits for its trigger again after an acknowledgement or a failure.",
		Errors: []Code{EmptyContent, TooLarge, QueueFull},
	}),
	method[DispatchParams, DispatchResult](Method{
		Name: "dispatch_instructions", Group: "instructions", Kind: Change,
		Doc: "Runs one dispatch pass: sends queued instructions, sends unacknowledged ones again, and fails those without sends left.",
	}),
	method[AcknowledgeParams, AcknowledgeResult](Method{
		Name: "acknowledge", Aliases: []string{"ack"}, Group: "instructions", Kind: Change,
		Doc:    "Confirms that a tracked instruction took effect. A repeated call returns the same answer. A failed instruction stays failed and gets late_ack_at.",
		Errors: []Code{InstructionGone, InvalidState},
	}),
	method[ReportEventParams, ReportEventResult](Method{
		Name: "report_event", Group: "instructions", Kind: Change,
		Doc:    "Reports an event, and acknowledges every outstanding instruction whose ack_on matches it. Then it fires the trigger of every other standing instruction that it fits. A tool call in the session of an attempt is kept in the event log, for audits.",
		Errors: []Code{TooLarge},
	}),
	method[FailedParams, InstructionList](Method{
		Name: "get_failed_instructions", Group: "instructions", Kind: Read,
		Doc: "Lists the instructions that failed because no agent acknowledged them.",
	}),
	method[ListInstructionsParams, InstructionList](Method{
		Name: "list_instructions", Group: "instructions", Kind: Read,
		Doc:    "Lists instructions in the order of queueing, or returns one of them.",
		Errors: []Code{InstructionGone},
	}),
	method[CancelInstructionParams, CancelInstructionResult](Method{
		Name: "cancel_instruction", Group: "instructions", Kind: Change,
		Doc:    "Cancels one instruction, or with all every standing or outstanding instruction of a session.",
		Errors: []Code{InstructionGone, InvalidState, TooLarge},
	}),

	method[CreateTaskParams, TaskResult](Method{
		Name: "create_task", Group: "tasks", Kind: Change,
		Doc:    "Queues a task for an agent, with its chain of models and its dependencies.",
		Errors: []Code{EmptyContent, TooLarge, QueueFull, RunGone, TaskGone, LedgerIncomplete},
	}),
	method[ClaimTaskParams, ClaimTaskResult](Method{
		Name: "claim_task", Group: "tasks", Kind: Change,
		Doc: "Returns the oldest ready task under a lease, with its prompt. A task goes to one caller only.",
	}),
	method[BindSessionParams, AttemptReport](Method{
		Name: "bind_session", Group: "tasks", Kind: Change,
		Doc:    "Names the session and the model in which an attempt runs.",
		Errors: []Code{TaskGone, AttemptGone, SessionBound, AttemptFinalized},
	}),
	method[HeartbeatParams, HeartbeatResult](Method{
		Name: "heartbeat", Group: "tasks", Kind: Change,
		Doc:    "Extends the lease of a running attempt. The answer tells whether the host wants the task to end.",
		Errors: []Code{TaskGone, TooLarge},
	}),
	method[FinishAttemptParams, FinishAttemptResult](Method{
		Name: "finish_attempt", Group: "tasks", Kind: Change,
		Doc:    "Reports the end of an attempt. The class of a failure decides whether the task is retried on the same model, on the next one, or not at all. A repeated report returns the same answer.",
		Errors: []Code{TaskGone, TooLarge},
	}),
	method[SessionEventParams, SessionEventResult](Method{
		Name: "report_session_event", Group: "tasks", Kind: Change,
		Doc:    "Reports an event of a session. An event of a session that no longer works on its task changes nothing.",
		Errors: []Code{TooLarge},
	}),
	method[RetryTaskParams, RetryTaskResult](Method{
		Name: "retry_task", Group: "tasks", Kind: Change,
		Doc:    "Queues a task in ERROR, CANCELLED or BLOCKED again, with a fresh budget of attempts.",
		Errors: []Code{TaskGone, InvalidState, Conflict},
	}),
	method[CancelTaskParams, TaskResult](Method{
		Name: "cancel_task", Group: "tasks", Kind: Change,
		Doc:    "Cancels a task. A running task ends when its worker reports the end, or when its lease expires.",
		Errors: []Code{TaskGone, InvalidState, TooLarge},
	}),
	method[TaskParams, TaskDetail](Method{
		Name: "get_task", Group: "tasks", Kind: Read,
		Doc:    "Returns a task with its attempts and replies. Of many attempts, it returns the first and the last few.",
		Errors: []Code{TaskGone},
	}),
	method[ListTasksParams, TaskList](Method{
		Name: "list_tasks", Group: "tasks", Kind: Read,
		Doc: "Lists tasks in the order of creation, the oldest or the newest first, and what a queued one waits for.",
	}),
	method[TimelineParams, Timeline](Method{
		Name: "get_timeline", Group: "tasks", Kind: Read,
		Doc:    "Returns the attempts of a task in order, and as text with one line each.",
		Errors: []Code{TaskGone},
	}),

	method[AskUserParams, TaskResult](Method{
		Name: "ask_user", Group: "replies", Kind: Change,
		Doc:    "Puts a question of a session before a person, as a task that no worker claims. The answer completes the task, and goes to the session as an instruction.",
		Errors: []Code{EmptyContent, TooLarge, QueueFull},
	}),
	method[ListAwaitingParams, AwaitingList](Method{
		Name: "list_awaiting", Group: "replies", Kind: Read,
		Doc: "Lists the tasks that wait for an answer, the oldest first.",
	}),
	method[ReplyParams, ReplyResult](Method{
		Name: "reply", Group: "replies", Kind: Change,
		Doc:    "Answers the question of a task by one of its options or in own words, and continues the task. Of several replies the first wins.",
		Errors: []Code{TaskGone, InvalidState, AlreadyResolved, EmptyContent, TooLarge},
	}),

	method[None, PlanList](Method{
		Name: "list_plans", Group: "plans", Kind: Read,
		Doc: "Lists the plans of the workspace with their totals.",
	}),
	method[GetPlanParams, Plan](Method{
		Name: "get_plan", Group: "plans", Kind: Read,
		Doc:    "Returns one plan: every item, and a diagnostic for every other box or task sign.",
		Errors: []Code{PlanGone, PathOutside, LedgerMissing, LedgerUnparsed},
	}),
	method[ReadyItemsParams, ReadyItems](Method{
		Name: "ready_items", Group: "plans", Kind: Read,
		Doc:    "Lists the items of a plan that can begin now, and for each other item the reasons why it cannot. Only dependencies that the plan names hold an item back, not its order. A blocked item holds back only its dependents.",
		Errors: []Code{PlanGone, PathOutside, LedgerMissing, LedgerUnparsed},
	}),
	method[SetItemStatusParams, SetItemStatusResult](Method{
		Name: "set_item_status", Group: "plans", Kind: Change,
		Doc:    "Writes the status of an item into its plan file: the mark in its box or its status word, and no other byte. It never overwrites a change that was saved in between.",
		Errors: []Code{PlanGone, PathOutside, LedgerMissing, LedgerUnparsed, ItemGone, ItemFixed, PlanUnwritable, Conflict},
	}),
	method[InitRunParams, InitRunResult](Method{
		Name: "init_run", Group: "plans", Kind: Change,
		Doc:    "Starts a run of an item, or returns its live run.",
		Errors: []Code{PlanGone, PathOutside, LedgerMissing, LedgerUnparsed, ItemGone},
	}),
	method[ResumeRunParams, ResumeRunResult](Method{
		Name: "resume_run", Group: "plans", Kind: Read,
		Doc:    "Finds the newest run of an item and returns the prompt to continue it, even if the plan is unreadable.",
		Errors: []Code{RunGone, PlanGone, PathOutside, LedgerIncomplete},
	}),
	method[ListRunsParams, RunList](Method{
		Name: "list_runs", Group: "plans", Kind: Read,
		Doc:    "Lists runs, the newest first, including those of plans that no longer exist, or returns one of them.",
		Errors: []Code{PlanGone, PathOutside, RunGone},
	}),
	method[CompilePromptParams, CompilePromptResult](Method{
		Name: "compile_prompt", Group: "plans", Kind: Read,
		Doc:    "Compiles the prompt for a role of a run from the present facts. Each call reads the plan file.",
		Errors: []Code{RunGone, ItemGone, LedgerMissing, LedgerIncomplete, PromptOverflow},
	}),
	method[CompileAnchorParams, CompileAnchorResult](Method{
		Name: "compile_anchor", Group: "plans", Kind: Read,
		Doc: "Compiles a text with which an agent that lost its memory goes on: the work and its next step, what is proven and what is only said, open questions, and instructions that are due. It sends no instruction.",
	}),
	method[IngestOutputParams, IngestOutputResult](Method{
		Name: "ingest_output", Group: "plans", Kind: Change,
		Doc:    "Judges the output of an agent, moves the run accordingly, and returns the next action. With a lease it also finishes the attempt.",
		Errors: []Code{RunGone, TaskGone, AttemptGone, InvalidState, TooLarge, PathOutside, OutputGone, LedgerIncomplete},
	}),
	method[ReportCheckParams, ReportCheckResult](Method{
		Name: "report_check", Group: "plans", Kind: Change,
		Doc:    "Records how a check ended, as a receipt, and moves the run accordingly. Only a host calls it: no agent can write a receipt.",
		Errors: []Code{RunGone, TooLarge, LedgerIncomplete},
	}),
	method[ListReceiptsParams, ReceiptList](Method{
		Name: "list_receipts", Group: "plans", Kind: Read,
		Doc:    "Lists the receipts of a run or of all runs, the oldest first.",
		Errors: []Code{RunGone},
	}),
	method[GetReceiptParams, Receipt](Method{
		Name: "get_receipt", Group: "plans", Kind: Read,
		Doc:    "Returns one receipt.",
		Errors: []Code{ReceiptGone},
	}),
	method[ReplanParams, ReplanResult](Method{
		Name: "replan", Group: "plans", Kind: Change,
		Doc:    "Records a new version of the plan for an item. It ends a block if the next items have changed.",
		Errors: []Code{RunGone, InvalidState, EmptyContent, TooLarge, ItemGone, LedgerIncomplete},
	}),
	method[UnblockRunParams, UnblockRunResult](Method{
		Name: "unblock_run", Group: "plans", Kind: Change,
		Doc:    "Ends the block of a run after a person solved its cause. All counters of the run start again at zero, each role keeps its standing, and blocked tasks are queued again.",
		Errors: []Code{RunGone, InvalidState, TooLarge, ItemGone, LedgerIncomplete},
	}),
	method[GetLedgerParams, Ledger](Method{
		Name: "get_ledger", Group: "plans", Kind: Read,
		Doc:    "Returns the stored ledgers of a run.",
		Errors: []Code{RunGone, LedgerIncomplete},
	}),
	method[RunParams, Snapshot](Method{
		Name: "get_snapshot", Group: "plans", Kind: Read,
		Doc:    "Returns the facts of a run with their revision.",
		Errors: []Code{RunGone},
	}),
	method[TelemetryParams, Telemetry](Method{
		Name: "get_telemetry", Group: "plans", Kind: Read,
		Doc:    "Returns counts of compiled prompts and judged results, for one run or for all.",
		Errors: []Code{RunGone},
	}),

	method[EventsSinceParams, EventList](Method{
		Name: "events_since", Group: "log", Kind: Read,
		Doc:    "Returns the events after a cursor, in order and without gaps.",
		Errors: []Code{CursorGone},
	}),
	method[ListNoticesParams, NoticeList](Method{
		Name: "list_notices", Group: "log", Kind: Read,
		Doc: "Lists the notices that were not consumed. It counts as a delivery of each, unless peek is true.",
	}),
	method[ConsumeNoticesParams, ConsumeNoticesResult](Method{
		Name: "consume_notices", Group: "log", Kind: Change,
		Doc: "Marks notices as consumed, so that they are not delivered again.",
	}),
	method[ExplainParams, Explanation](Method{
		Name: "explain", Group: "log", Kind: Read,
		Doc:    "Explains why an instruction, task, run or item is in its state, and what happens next.",
		Errors: []Code{SubjectGone, PlanGone, PathOutside, LedgerMissing, LedgerUnparsed, ItemGone},
	}),
}

// Notifications declares every message that waybill sends on its own. They are hints: each carries seq, and
// events_since rebuilds everything.
var Notifications = []Notification{
	notification[InstructionNote]("instruction/available", "An instruction waits for a dispatch."),
	notification[InstructionNote]("instruction/updated", "An instruction changed its state."),
	notification[TaskNote]("task/updated", "A task changed its state."),
	notification[TaskNote]("task/awaiting_response", "A task asks a person."),
	notification[AttemptNote]("attempt/updated", "An attempt changed its state, or was reported on."),
	notification[RunNote]("run/updated", "A run began, changed or ended."),
	notification[LedgerNote]("ledger/changed", "The reading of a plan changed, or the plan became unreadable or readable."),
	notification[NoticeNote]("notice/posted", "A notice waits to be consumed."),
	notification[LogNote]("log", "A message about the connection, such as dropped notifications, or about the event log as a whole."),
}

// Everywhere lists the errors that every method may return.
var Everywhere = []Code{
	InvalidParams, UnknownField, Internal, Cancelled, Overloaded, ShuttingDown,
	NoWorkspace, IdempotencyClash, StoreFull, StoreIO, StoreReadOnly, StoreNewer,
	StoreBusy, StoreCorrupt, StoreLost, StoreUnsafe,
}
