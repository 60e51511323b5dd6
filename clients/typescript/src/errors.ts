// What can go wrong with a call, in one class: what waybill answered, and what kept an answer from coming.

import type { ErrorCode, ErrorData, Error as WireError } from "./protocol.js";

/** Whether a call took effect. */
export type Outcome = ErrorData["outcome"];

/**
 * What goes wrong on this side of the pipe: the program could not be started, it has gone with the call in its
 * hands, or the client was closed.
 */
export type ClientCode = "NOT_STARTED" | "CONNECTION_LOST" | "CLOSED";

/** What a WaybillError is made of, beside its message. */
export interface Facts {
  code: ErrorCode | ClientCode;
  outcome: Outcome;
  retryable: boolean;
  method: string;
  number?: number | undefined;
  retryAfterMs?: number | undefined;
  hint?: string | undefined;
  details?: Record<string, unknown> | undefined;
  incident?: string | undefined;
  idempotencyKey?: string | undefined;
}

/** Every call that fails rejects with one of these. `code` and `outcome` are what a program goes by. */
export class WaybillError extends Error {
  /** The stable name of what went wrong. */
  readonly code: ErrorCode | ClientCode;
  /** Whether the call took effect. */
  readonly outcome: Outcome;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** The method that was called. */
  readonly method: string;
  /** The number that JSON-RPC has for the code, if waybill answered. */
  readonly number: number | undefined;
  /** When to try again. */
  readonly retryAfterMs: number | undefined;
  /** What to do about it. */
  readonly hint: string | undefined;
  /** Facts, by the code. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Finds more in the log of waybill. */
  readonly incident: string | undefined;
  /** The key that the call had: the same call with this key takes effect once, however often it is made. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, facts: Facts) {
    super(message);
    this.name = "WaybillError";
    this.code = facts.code;
    this.outcome = facts.outcome;
    this.retryable = facts.retryable;
    this.method = facts.method;
    this.number = facts.number;
    this.retryAfterMs = facts.retryAfterMs;
    this.hint = facts.hint;
    this.details = facts.details ?? {};
    this.incident = facts.incident;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

/** answered gives the error that waybill answered. One without data, which waybill never sends, is INTERNAL. */
export function answered(error: WireError, method: string, key: string | undefined): WaybillError {
  const data: Partial<ErrorData> = error.data ?? {};
  return new WaybillError(error.message, {
    code: data.code ?? "INTERNAL",
    outcome: data.outcome ?? "unknown",
    retryable: data.retryable ?? false,
    method,
    number: error.code,
    retryAfterMs: data.retry_after_ms,
    hint: data.hint,
    details: data.details,
    incident: data.incident,
    idempotencyKey: key,
  });
}
