// The event log as an iterator. Notifications only wake it: what happened is read from events_since, from the cursor
// of the page before, so that no event is missed and none is given twice, whichever process answers.

import { WaybillError } from "./errors.js";
import type { Event, EventList, EventsSinceParams } from "./protocol.js";

/** When to read again after what may not fail the next time, if waybill does not say. */
const againMs = 1000;

/** Where a feed begins, what of, and until when. */
export interface FeedOptions {
  /** Where to begin: "0" is the beginning of the log, and the default is about now. */
  cursor?: string;
  /** Only events of these types. */
  types?: string[];
  /** Ends the iteration. */
  signal?: AbortSignal;
}

/** Hints counts the signs that something may have happened, and lets feeds wait for the next one. */
export class Hints {
  #count = 0;
  #over = false;
  readonly #waiting = new Set<() => void>();

  get count(): number {
    return this.#count;
  }

  /** Whether there will be no more. */
  get over(): boolean {
    return this.#over;
  }

  /** Notes a sign. */
  tick(): void {
    this.#count++;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Notes the last one. */
  end(): void {
    this.#over = true;
    this.tick();
  }

  /** Resolves when there was a sign since the count, or the signal was given. */
  since(count: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      if (this.#count !== count || this.#over || signal?.aborted) return resolve();
      this.#waiting.add(wake);
      signal?.addEventListener("abort", wake);
    });
  }
}

/** What a feed needs of its client. */
export interface Source {
  readonly hints: Hints;
  read(params: EventsSinceParams): Promise<EventList>;
}

/** Gives the events behind a cursor as they happen, a page in memory at a time, until the hints are over. */
export async function* feed(source: Source, start: Promise<string>, options: FeedOptions): AsyncGenerator<Event, void, void> {
  const { types, signal } = options;
  let cursor = await unlessOver(source, start);
  while (cursor !== undefined && !signal?.aborted && !source.hints.over) {
    const seen = source.hints.count;
    let page: EventList | undefined;
    try {
      page = await unlessOver(source, source.read({ cursor, ...(types && { types }) }));
    } catch (error) {
      if (!(error instanceof WaybillError && error.retryable)) throw error;
      await pause(source.hints, error.retryAfterMs ?? againMs, signal);
      continue;
    }
    if (!page) return;
    for (const event of page.events) {
      if (signal?.aborted) return;
      yield event;
    }
    cursor = page.cursor;
    if (!page.more) await source.hints.since(seen, signal);
  }
}

/** Waits, and no longer than until the end of the hints or the signal. */
async function pause(hints: Hints, ms: number, signal: AbortSignal | undefined): Promise<void> {
  let passed = false;
  const timer = setTimeout(() => {
    passed = true;
    hints.tick();
  }, ms);
  while (!passed && !hints.over && !signal?.aborted) await hints.since(hints.count, signal);
  clearTimeout(timer);
}

/** Gives what was promised; undefined if the client was closed meanwhile, which is the end and no failure. */
async function unlessOver<T>(source: Source, promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (source.hints.over) return undefined;
    throw error;
  }
}
