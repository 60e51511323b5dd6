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
/** Whether the reader wants nothing to move. */
export const paused = signal(false);
/** How many events came while nothing was to move. */
export const heldBack = signal(0);

type Refresh = (change: Change) => void;
const watchers = new Set<Refresh>();

/** Calls fn with what became old, until the returned function is called. */
export function watch(fn: Refresh): () => void {
  watchers.add(fn);
  return () => watchers.delete(fn);
}

/** What came is gathered for so long, so that a storm of events is one look at the server. */
const gather = 250;
let pending = nothing();
let timer: ReturnType<typeof setTimeout> | undefined;
let cursor = "";

function note(): void {
  if (paused.value) {
    heldBack.value = pending.events;
    return;
  }
  timer ??= setTimeout(flush, gather);
}

function flush(): void {
  timer = undefined;
  if (paused.value || !signedIn.value) return; // to go on, or to sign in, comes back to it
  const change = pending;
  pending = nothing();
  heldBack.value = 0;
  for (const fn of [...watchers]) fn(change);
}

function everything(): void {
  pending.all = true;
  note();
}

/** Whatever is shown is read again at once, and whoever waits to connect again does. */
export function refreshAll(): void {
  hurry();
  pending.all = true;
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
  if (isEvent(data)) fold(pending, data);
  else pending.all = true;
  note();
}

function isEvent(data: unknown): data is { type: string; subject_id: string } {
  if (typeof data !== "object" || data === null) return false;
  const { type, subject_id } = data as Record<string, unknown>;
  return typeof type === "string" && typeof subject_id === "string";
}

function linked(state: Link): void {
  const before = linkState.value;
  linkState.value = state;
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
type Word = { kind: "event"; cursor: string; data: unknown } | { kind: "link"; state: Link } | { kind: "lost" } | { kind: "who" };

/** Follows the log, or the tab that does. Ends with the page. */
export async function stayCurrent(): Promise<never> {
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
  const tell = (word: Word) => channel.postMessage(word);
  channel.onmessage = ({ data }: MessageEvent<Word>) => {
    if (data.kind === "who" && leads) {
      tell({ kind: "link", state: linkState.value });
      hurry(); // whoever opens a page expects waybill to be there
    }
    if (leads) return;
    if (data.kind === "event") heard(data.cursor, data.data);
    if (data.kind === "link") linked(data.state);
    if (data.kind === "lost") everything();
  };
  const spread = {
    link: (state: Link) => (linked(state), tell({ kind: "link", state })),
    event: (at: string, data: unknown) => (heard(at, data), tell({ kind: "event", cursor: at, data })),
    lost: () => (everything(), tell({ kind: "lost" })),
  };
  const lead = async (here: AbortSignal) => {
    if (here.aborted) return;
    leads = true;
    // Without a cursor it is not known what happened since the tab before this one left; all are to look.
    if (cursor === "" && linkState.value === "live") spread.link("reconnecting");
    // This tab may be as far as the last event that the one before it told of.
    await follow(cursor, spread, here);
    leads = false;
  };
  return (here) => {
    tell({ kind: "who" });
    return navigator.locks.request("waybill.stream", { signal: here }, () => lead(here));
  };
}
