// Follows the event log: connects, continues after every break, and reports its state.
import { backoff, Reader } from "./sse.ts";
import type { Message } from "./sse.ts";
import { credentials, Fault, faultOf, refused, token } from "./wire.ts";

/**
 * live: events come. reconnecting: a retry follows. refused: the server sends none. gone: no answer for a long time.
 */
export type Link = "connecting" | "live" | "reconnecting" | "refused" | "gone";

export interface Listener {
  /** why is the reason of a refusing server. */
  link(state: Link, why?: string): void;
  /** An event of the log, with the cursor after it. */
  event(cursor: string, data: unknown): void;
  /** The log no longer has the page's position, so everything must be read again. */
  lost(): void;
}

/** Silence of this length means a dead connection, because the server sends a sign every 15 s. */
const silence = 40_000;
/** Number of failures in a row before the state is gone. Retries continue. */
const hopeless = 3;

/** Ends the present wait of a retry. */
const hurried = new EventTarget();

export function hurry(): void {
  hurried.dispatchEvent(new Event("hurry"));
}

/** Follows until the signal ends it or the token is refused. from is a cursor, or "" for now. */
export async function follow(from: string, to: Listener, signal: AbortSignal): Promise<void> {
  let cursor = from;
  let tries = 0;
  let wait = 1000;
  while (!signal.aborted) {
    const shown = token();
    let why = "";
    try {
      const read = await connect(cursor, signal);
      tries = 0;
      for await (const message of read) {
        if (message.id !== "") cursor = message.id;
        wait = read.retry();
        if (message.event === "ready") to.link("live");
        else if (message.event === "end") break;
        else if (message.event === "message") to.event(cursor, parsed(message.data));
        else if (message.event === "inbox") to.event(cursor, elsewhere);
      }
    } catch (thrown) {
      if (signal.aborted) return;
      const fault = thrown instanceof Fault ? thrown : undefined;
      if (fault?.status === 401) return refused(shown);
      if (fault?.code === "CURSOR_EXPIRED") {
        cursor = "";
        to.lost();
      }
      why = fault?.message ?? "";
      wait = Math.max(wait, fault?.retryAfter ?? 0);
    }
    if (signal.aborted) return;
    to.link(broken(++tries, why), why);
    await pause(backoff(tries - 1, wait, Math.random()), signal);
  }
}

/** State after failures in a row. A server that is starting may refuse once. */
function broken(tries: number, why: string): Link {
  if (why !== "" && tries > 1) return "refused";
  return tries > hopeless ? "gone" : "reconnecting";
}

/** Stands for an event of another workspace, whose log this stream has not. */
export const elsewhere = { type: "inbox.changed", subject_id: "" };

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** Messages as they come, and the wait that the server asks for. */
interface Reading extends AsyncIterable<Message> {
  retry(): number;
}

async function connect(cursor: string, signal: AbortSignal): Promise<Reading> {
  const headers: Record<string, string> = { ...credentials(), Accept: "text/event-stream" };
  if (cursor !== "") headers["Last-Event-ID"] = cursor;
  const ended = new AbortController();
  const stop = () => ended.abort();
  signal.addEventListener("abort", stop, { once: true });
  let timer = setTimeout(stop, silence);
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(stop, silence);
  };
  const done = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    stop();
  };
  try {
    const answer = await fetch("/api/events", { headers, cache: "no-store", redirect: "error", signal: ended.signal });
    if (!answer.ok || answer.body === null) throw faultOf(answer.status, await answer.json().catch(() => undefined));
    return messages(answer.body, heard, done);
  } catch (thrown) {
    done();
    throw thrown;
  }
}

function messages(body: ReadableStream<Uint8Array>, heard: () => void, done: () => void): Reading {
  const reader = new Reader();
  async function* read(): AsyncGenerator<Message> {
    const source = body.getReader();
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const { done: over, value } = await source.read();
        if (over) return;
        heard();
        yield* reader.push(decoder.decode(value, { stream: true }));
      }
    } finally {
      done();
    }
  }
  return { [Symbol.asyncIterator]: read, retry: () => reader.retry };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      removeEventListener("online", over);
      hurried.removeEventListener("hurry", over);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    addEventListener("online", over);
    hurried.addEventListener("hurry", over);
    signal.addEventListener("abort", over);
  });
}
