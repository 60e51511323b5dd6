// How many there are of everything: read once for all views, and again when something moved.
import { computed, signal } from "@preact/signals";
import type { StatusResult } from "../../../schema/gen/protocol.ts";
import { touches } from "./fold.ts";
import { watch } from "./live.ts";
import { asFault, get } from "./wire.ts";
import type { Fault } from "./wire.ts";

export const status = signal<StatusResult | undefined>(undefined);
export const statusFault = signal<Fault | undefined>(undefined);

export const waiting = computed(() => status.value?.counts.tasks["AWAITING_RESPONSE"] ?? 0);

let reading = false;
let again = false;

/** Reads the counts. While one reading is under way, any number of others are one more. */
export async function readStatus(): Promise<void> {
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  try {
    status.value = await get("get_status", "/api/status");
    statusFault.value = undefined;
  } catch (thrown) {
    statusFault.value = asFault(thrown);
  } finally {
    reading = false;
    if (again) {
      again = false;
      void readStatus();
    }
  }
}

export function countAlong(): void {
  void readStatus();
  watch((change) => {
    if (touches(change, ["counts"])) void readStatus();
  });
}
