// The errors of calls that waybill did not answer.

import type { Call } from "./calls.js";
import type { Ending } from "./connection.js";
import { WaybillError } from "./errors.js";
import { changingMethods } from "./methods.js";

/** The error of a call that was given up before an answer could come. */
export function cancelled(call: Call): WaybillError {
  return untouched(call, "CANCELLED", `${call.method} was cancelled`, true);
}

/** The error of a call that is not sent. One that was sent before, to a process that died, may have had its effect. */
export function untouched(call: Call, code: WaybillError["code"], message: string, retryable: boolean): WaybillError {
  const outcome = call.sends > 0 && changingMethods.has(call.method) ? "unknown" : "not_applied";
  return new WaybillError(message, { code, outcome, retryable, method: call.method, idempotencyKey: call.key });
}

/** The error of a call whose answer will not come. Only a change can have had an effect. */
export function gone(call: Call, ending: Ending): WaybillError {
  return new WaybillError(`${call.method} has no answer: ${story(ending)}`, {
    code: ending.failure ? "NOT_STARTED" : "CONNECTION_LOST",
    outcome: changingMethods.has(call.method) && !ending.failure ? "unknown" : "not_applied",
    retryable: true,
    method: call.method,
    hint: call.key && "another client may repeat the call with this idempotency_key: it takes effect once",
    details: { exit_code: ending.code, signal: ending.signal, stderr: ending.stderr },
    idempotencyKey: call.key,
  });
}

/** What a person is told of an ending. */
export function story(ending: Ending): string {
  if (ending.failure) return `waybill could not be started: ${ending.failure.message}; set WAYBILL_BIN, or the option binary, to its path`;
  const how = ending.signal ? `was ended by ${ending.signal}` : `has exited with ${ending.code}`;
  return `waybill ${how}` + (ending.stderr ? `, and said: ${ending.stderr.slice(-500)}` : "");
}
