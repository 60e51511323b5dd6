// All counts: read once for all views, and again after changes.
import { effect, signal } from "@preact/signals";
import type { StatusResult } from "../../../schema/gen/protocol.ts";
import { touches } from "./fold.ts";
import { watchAlways } from "./live.ts";
import { route } from "./route.ts";
import { backoff } from "./sse.ts";
import { inTurn } from "./turns.ts";
import { asFault, get, signedIn } from "./wire.ts";
import type { Fault } from "./wire.ts";

export const status = signal<StatusResult | undefined>(undefined);
export const statusFault = signal<Fault | undefined>(undefined);

let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Reads the counts. Calls during a reading share one more reading; a failed one is repeated. */
export const readStatus = inTurn(async () => {
  clearTimeout(retry);
  const { at } = route.value;
  try {
    const read = await get("get_status", "/api/status", at);
    if (at === route.value.at) status.value = read;
    statusFault.value = undefined;
    failures = 0;
  } catch (thrown) {
    const fault = asFault(thrown);
    statusFault.value = fault;
    // Otherwise the title would keep a wrong number until the next change. A new sign-in reads anyway.
    if (signedIn.value) retry = setTimeout(() => void readStatus(), Math.max(fault.retryAfter, backoff(failures++, 1000, Math.random())));
  }
});

export function countAlong(): void {
  let at: string | undefined;
  effect(() => {
    if (at === route.value.at) return;
    at = route.value.at;
    status.value = undefined;
    void readStatus();
  });
  watchAlways((change) => {
    if (touches(change, ["counts"])) void readStatus();
  });
}
