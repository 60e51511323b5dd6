// Keeps the page up to date. One tab of a browser reads the event stream and informs the others, because a browser
// allows few connections to one server.
import { computed, signal } from "@preact/signals";
import { fold, nothing } from "./fold.ts";
import type { Change } from "./fold.ts";
import { route } from "./route.ts";
import { follow, hurry } from "./stream.ts";
import type { Link } from "./stream.ts";
import { asFault, login, signedIn } from "./wire.ts";

/** State of the connection, for display. */
export const linkState = signal<Link>("connecting");
/** Reason of the server for sending no events, if any. */
export const linkReason = signal("");
/** The user has paused updates. */
export const paused = signal(false);
/** Number of events during the pause. */
export const heldBack = signal(0);

type Refresh = (change: Change) => void;

/** Listeners for outdated topics, with the changes that each has not seen. */
interface Watch {
  watchers: Set<Refresh>;
  pending: Change;
}

/** Visible parts are read again only in a visible tab; a hidden tab collects changes. */
const seen: Watch = { watchers: new Set(), pending: nothing() };
/** Listeners for changes in a hidden tab. */
const always: Watch = { watchers: new Set(), pending: nothing() };
const both = [seen, always];

function among({ watchers }: Watch, fn: Refresh): () => void {
  watchers.add(fn);
  return () => watchers.delete(fn);
}

/** Calls fn with outdated topics as soon as the page is visible, until the returned function is called. */
export function watch(fn: Refresh): () => void {
  return among(seen, fn);
}

/** Calls fn with outdated topics, also in a hidden tab, until the returned function is called. */
export function watchAlways(fn: Refresh): () => void {
  return among(always, fn);
}

/** Time for which events are collected, so that a burst of events causes one read. */
const gather = 250;
let timer: ReturnType<typeof setTimeout> | undefined;
let cursor = "";

function note(): void {
  if (paused.value) {
    heldBack.value = always.pending.events;
    return;
  }
  timer ??= setTimeout(flush, gather);
}

function flush(): void {
  timer = undefined;
  if (paused.value || !signedIn.value) return; // flush runs again after resuming or signing in
  heldBack.value = 0;
  tell(always);
  if (!document.hidden) tell(seen);
}

function tell(those: Watch): void {
  const change = those.pending;
  if (change.events === 0 && !change.all) return;
  those.pending = nothing();
  for (const fn of [...those.watchers]) fn(change);
}

function everything(): void {
  for (const { pending } of both) pending.all = true;
  note();
}

/** Reads everything visible again, and reconnects at once. */
export function refreshAll(): void {
  hurry();
  for (const { pending } of both) pending.all = true;
  clearTimeout(timer);
  const held = paused.value;
  paused.value = false;
  flush();
  paused.value = held;
}

export function pause(on: boolean): void {
  paused.value = on;
  if (!on) note();
}

function heard(at: string, data: unknown): void {
  cursor = at;
  for (const { pending } of both) {
    if (isEvent(data) && !(route.value.at !== "" && data.type === "inbox.changed")) fold(pending, data);
    else pending.all = true; // of another workspace that is shown, nothing more is known
  }
  note();
}

function isEvent(data: unknown): data is { type: string; subject_id: string } {
  if (typeof data !== "object" || data === null) return false;
  const { type, subject_id } = data as Record<string, unknown>;
  return typeof type === "string" && typeof subject_id === "string";
}

function linked(state: Link, why = ""): void {
  const before = linkState.value;
  linkState.value = state;
  linkReason.value = why;
  // The events before the first connection are unknown: the page may have read its content before them.
  if (state === "live" && before !== "live") everything();
}

/** Why the last code did not sign the tab in, or "". */
export const notIn = signal("");

/** Signs the tab in with a one-time code. Returns why that failed, or "". */
export async function signIn(code: string): Promise<string> {
  notIn.value = await login(code).then(() => "", (thrown: unknown) => {
    const fault = asFault(thrown);
    return fault.status === 401 ? "That address was used before, or is older than a minute: each admits one tab, once." : fault.message;
  });
  return notIn.value;
}

/** Whether the page is open. A browser may keep a page that was left; it must then release the stream. */
const shown = signal(true);
const mayFollow = computed(() => signedIn.value && shown.value);

async function untilAllowed(): Promise<void> {
  let stop = () => {};
  await new Promise<void>((resolve) => (stop = mayFollow.subscribe((may) => may && resolve())));
  stop();
}

/** Returns a signal for the end of this tab's turn, and a function that stops watching for it. */
function whileAllowed(): [AbortSignal, () => void] {
  const here = new AbortController();
  return [here.signal, mayFollow.subscribe((may) => !may && here.abort())];
}

// Messages between tabs. They do not include the sign-in, because each tab has its own token.
type Word = { kind: "event"; cursor: string; data: unknown } | { kind: "link"; state: Link; why: string } | { kind: "lost" } | { kind: "who" };

/** Follows the log, or the tab that does, until the page closes. */
export async function stayCurrent(): Promise<never> {
  document.addEventListener("visibilitychange", note);
  addEventListener("pagehide", () => (shown.value = false));
  addEventListener("pageshow", ({ persisted }) => {
    shown.value = true;
    if (persisted) everything(); // messages of other tabs were missed meanwhile
  });
  const alone = { link: linked, event: heard, lost: everything };
  const shared = "locks" in navigator && "BroadcastChannel" in globalThis;
  const turn = shared ? turns() : (here: AbortSignal) => follow(cursor, alone, here);
  for (;;) {
    await untilAllowed();
    const [here, stop] = whileAllowed();
    await turn(here).catch(() => undefined); // it left while it waited for its turn
    stop();
  }
}

/** Returns the work of a tab: it waits until no other tab follows, and then follows for all. */
function turns(): (here: AbortSignal) => Promise<void> {
  const channel = new BroadcastChannel("waybill");
  let leads = false;
  const say = (word: Word) => channel.postMessage(word);
  channel.onmessage = ({ data }: MessageEvent<Word>) => {
    if (data.kind === "who" && leads) {
      say({ kind: "link", state: linkState.value, why: linkReason.value });
      hurry(); // a person who opens a page expects waybill to run
    }
    if (leads) return;
    if (data.kind === "event") heard(data.cursor, data.data);
    if (data.kind === "link") linked(data.state, data.why);
    if (data.kind === "lost") everything();
  };
  const spread = {
    link: (state: Link, why = "") => (linked(state, why), say({ kind: "link", state, why })),
    event: (at: string, data: unknown) => (heard(at, data), say({ kind: "event", cursor: at, data })),
    lost: () => (everything(), say({ kind: "lost" })),
  };
  const lead = async (here: AbortSignal) => {
    if (here.aborted) return;
    leads = true;
    // Without a cursor, events since the last tab are unknown, so all tabs read again.
    if (cursor === "" && linkState.value === "live") spread.link("reconnecting");
    // This tab has seen the events up to the last message of the other tab.
    await follow(cursor, spread, here).finally(() => (leads = false));
  };
  return (here) => {
    say({ kind: "who" });
    return navigator.locks.request("waybill.stream", { signal: here }, () => lead(here));
  };
}
