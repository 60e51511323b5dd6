// The inbox of all workspaces: what waits for a person, and what has ended since the last look.
import { computed, signal } from "@preact/signals";
import type { Option } from "../../../schema/gen/protocol.ts";
import { touches } from "./fold.ts";
import { watchAlways } from "./live.ts";
import { backoff } from "./sse.ts";
import { inTurn } from "./turns.ts";
import { asFault, getInbox, post, signedIn } from "./wire.ts";
import type { Fault } from "./wire.ts";

/** The kinds of entries, in their order. */
export const kinds = ["question", "refuted", "blocked", "failed_task", "failed_instruction", "reported", "unreadable", "gone", "proven", "said"] as const;
export type Kind = (typeof kinds)[number];

export interface Entry {
  kind: Kind;
  workspace_id: string;
  /** The path of the workspace. */
  workspace: string;
  id?: string;
  attempt_id?: string;
  title: string;
  text: string;
  options?: Option[];
  plan?: string;
  since?: string;
  actions: string[];
  command?: string;
  notices?: string[];
}

export interface Inbox {
  waiting: number;
  entries: Entry[];
  gone: { workspace: string }[];
  cut?: boolean;
  read_at: string;
  /** The id of the workspace of the server. */
  here: string;
}

export const inbox = signal<Inbox | undefined>(undefined);
export const inboxFault = signal<Fault | undefined>(undefined);
export const waiting = computed(() => inbox.value?.waiting ?? 0);

/** Distinguishes entries. An entry that waits for something else is another one. */
export function keyOf(e: Entry): string {
  return [e.workspace_id, e.kind, e.id, e.attempt_id].join(" ");
}

/** The id in the route. */
export function routeOf(e: Entry): string {
  return e.id ?? e.workspace_id;
}

/** The workspace in the route. */
export function atOf(e: Entry): string {
  return e.workspace_id === inbox.peek()?.here ? "" : e.workspace_id;
}

let failures = 0;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Reads the inbox. A failed reading is repeated, or the title would keep a wrong number until the next change. */
export const readInbox = inTurn(async () => {
  clearTimeout(retry);
  try {
    inbox.value = (await getInbox()) as Inbox;
    inboxFault.value = undefined;
    failures = 0;
  } catch (thrown) {
    const fault = asFault(thrown);
    inboxFault.value = fault;
    if (signedIn.value) retry = setTimeout(() => void readInbox(), Math.max(fault.retryAfter, backoff(failures++, 1000, Math.random())));
  }
});

export function readAlong(): void {
  void readInbox();
  watchAlways((change) => {
    if (touches(change, ["inbox"])) void readInbox();
  });
}

/** An action that a list of entries has in common. */
export type Verb = "retry" | "dismiss";

/** Carries out an action about an entry. */
export async function carryOut(verb: Verb, e: Entry, key: string): Promise<void> {
  if (verb === "retry") await post("retry_task", `/api/tasks/${e.id}/retry`, atOf(e), {}, key);
  else await post("consume_notices", "/api/notices/consume", atOf(e), { notice_ids: e.notices ?? [] }, key);
}

/** The last part of a path. */
export function nameOf(root: string): string {
  return root.split(/[\\/]/).filter(Boolean).at(-1) ?? root;
}
