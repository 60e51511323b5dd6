// Generated from the declarations in schema/ by `go test ./schema/gen -update`. Do not edit.

/** The largest message that waybill reads. */
export const maxMessageBytes = 8388608;

/** The methods that are about the connection itself. */
export type ConnectionMethod =
  | "shutdown"
  | "exit"
  | "initialized"
  | "$/cancelRequest";

/** The methods that change something. Each takes an idempotency_key. */
export const changingMethods: ReadonlySet<string> = new Set([
  "queue_instruction",
  "queue_instruction_with_ack",
  "dispatch_instructions",
  "acknowledge",
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
]);
