// Keeps the page up to date. Of all tabs of one browser only one reads the stream, because a browser holds few
// connections to one server and a stream keeps one for good; it tells the others.
import { computed, signal } from "@preact/signals";
import { fold, nothing } from "./fold.ts";
import type { Change } from "./fold.ts";
import { follow, hurry } from "./stream.ts";
import type { Link } from "./stream.ts";
import { login, signedIn } from "./wire.ts";

/** How the connection stands, whatever the reader of the page wants to see of it. */
export const linkState = signal<Link>("connecting");
/** Why the server gives no events, in its words, if it said so. */
export const linkReason = signal("");
/** Whether the reader wants nothing to move. */
export const paused = signal(false);
/** How many events came while nothing was to move. */
export const heldBack = signal(0);

type Refresh = (change: Change) => void;

/** Those who want to know what became old, and what has done so since they were told. */
interface Watch {
  watchers: Set<Refresh>;
  pending: Change;
}

/** What can be seen is read again only while it is: a tab behind another one gathers until it is looked at. */
const seen: Watch = { watchers: new Set(), pending: nothing() };
/** What a tab tells while another one is looked at. */
const always: Watch = { watchers: new Set(), pending: nothing() };
const both = [seen, always];

function among({ watchers }: Watch, fn: Refresh): () => void {
  watchers.add(fn);
  return () => watchers.delete(fn);
}

/** Calls fn with what became old as soon as the page can be seen, until the returned function is called. */
export function watch(fn: Refresh): () => void {
  return among(seen, fn);
}

/** Calls fn with what became old, whether the page can be seen or not, until the returned function is called. */
export function watchAlways(fn: Refresh): () => void {
  return among(always, fn);
}

/** What came is gathered for so long, so that a storm of events is one look at the server. */
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
  if (paused.value || !signedIn.value) return; // to go on, or to sign in, comes back to it
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

/** Whatever is shown is read again at once, and whoever waits to connect again does. */
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
    if (isEvent(data)) fold(pending, data);
    else pending.all = true;
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
  // Until now it is not known what was missed: a cursor goes back to the last event, but what the page had read
  // before its first one may be older.
  if (state === "live" && before !== "live") everything();
}

/** Lets the tab in with a one-time code, with all that it holds. */
export async function signIn(code: string): Promise<void> {
  await login(code);
  refreshAll();
}

/** Whether the page is there. One that was left may be kept, frozen, to go back to: it would keep the stream, and tell nobody. */
const shown = signal(true);
const mayFollow = computed(() => signedIn.value && shown.value);

async function untilAllowed(): Promise<void> {
  let stop = () => {};
  await new Promise<void>((resolve) => (stop = mayFollow.subscribe((may) => may && resolve())));
  stop();
}

/** Gives a signal that ends when this tab is to follow no more, and what ends the watch for that. */
function whileAllowed(): [AbortSignal, () => void] {
  const here = new AbortController();
  return [here.signal, mayFollow.subscribe((may) => !may && here.abort())];
}

// What tabs tell each other. Whether one of them is signed in is not among it: each has a token of its own.
type Word = { kind: "event"; cursor: string; data: unknown } | { kind: "link"; state: Link; why: string } | { kind: "lost" } | { kind: "who" };

/** Follows the log, or the tab that does. Ends with the page. */
export async function stayCurrent(): Promise<never> {
  document.addEventListener("visibilitychange", note);
  addEventListener("pagehide", () => (shown.value = false));
  addEventListener("pageshow", ({ persisted }) => {
    shown.value = true;
    if (persisted) everything(); // what others told meanwhile was not heard
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

/** Gives what a tab does in its turn: it waits until no other one follows, and then follows for all of them. */
function turns(): (here: AbortSignal) => Promise<void> {
  const channel = new BroadcastChannel("waybill");
  let leads = false;
  const say = (word: Word) => channel.postMessage(word);
  channel.onmessage = ({ data }: MessageEvent<Word>) => {
    if (data.kind === "who" && leads) {
      say({ kind: "link", state: linkState.value, why: linkReason.value });
      hurry(); // whoever opens a page expects waybill to be there
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
    // Without a cursor it is not known what happened since the tab before this one left; all are to look.
    if (cursor === "" && linkState.value === "live") spread.link("reconnecting");
    // This tab may be as far as the last event that the one before it told of.
    await follow(cursor, spread, here).finally(() => (leads = false));
  };
  return (here) => {
    say({ kind: "who" });
    return navigator.locks.request("waybill.stream", { signal: here }, () => lead(here));
  };
}
