// What lies before a person: the questions of agents, and what has failed. The log says when to look anew; what is
// there is read from the lists, so that it is right whatever was missed.

import { Waybill, WaybillError, type Awaiting, type Notice } from "waybill-client";

/** What a person should look at, and why nothing can be said if nothing can. */
export interface Look {
  questions: readonly Awaiting[];
  failures: readonly Notice[];
  trouble: string | undefined;
}

/** How long waybill may take to leave; VS Code does not wait much longer. */
const graceMs = 2000;

/** When to look again after what may not fail the next time, if waybill does not say. */
const againMs = 1000;

export class Desk {
  readonly waybill: Waybill;
  readonly #binary: string;
  readonly #print: (line: string) => void;
  readonly #watchers = new Set<(look: Look) => void>();
  #look: Look = { questions: [], failures: [], trouble: undefined };
  #reading: Promise<void> | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined; // until somebody looks again, after a look that failed

  /** print gets a line for everything that happens. */
  constructor(folder: string, binary: string, print: (line: string) => void) {
    this.#binary = binary;
    this.#print = print;
    this.waybill = new Waybill({ binary, workspace: folder, restart: true, graceMs });
    this.waybill.on("exited", ({ code, signal, stderr, restartMs }) => {
      if (restartMs === undefined) return;
      this.#say(`waybill has gone (${signal ?? code}) and is started again${stderr && `: ${stderr}`}`);
      void this.refresh(); // ends when another process has answered
    });
  }

  /** What was found when somebody looked last. */
  get look(): Look {
    return this.#look;
  }

  /** Calls the watcher with each new look. Gives what ends that. */
  watch(watcher: (look: Look) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Starts waybill, looks for the first time, and follows the log from there. */
  async open(): Promise<void> {
    try {
      const { cursor, server_info } = await this.waybill.start();
      this.#print(`waybill ${server_info.version} runs as process ${server_info.pid}`);
      void this.#follow(cursor);
      await this.refresh();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Lets waybill go. */
  close(): Promise<void> {
    clearTimeout(this.#timer);
    return this.waybill.close();
  }

  /**
   * Looks anew. Whoever asks while somebody looks gets what is found behind that. What fails and may succeed the next
   * time is tried again by itself.
   */
  refresh(): Promise<void> {
    if (this.#reading) this.#again = true;
    this.#reading ??= this.#read();
    return this.#reading;
  }

  async #follow(cursor: string): Promise<void> {
    for (let from: string | undefined = cursor; from !== undefined; ) {
      try {
        for await (const event of this.waybill.events({ cursor: from })) {
          this.#print(`${event.seq}  ${event.type}  ${event.subject_id}`);
          void this.refresh();
        }
        return;
      } catch (error) {
        from = elsewhere(error);
        if (from === undefined) this.#fail(error);
        else void this.refresh();
      }
    }
  }

  async #read(): Promise<void> {
    try {
      do {
        this.#again = false;
        await this.#lookOnce();
      } while (this.#again);
    } finally {
      this.#reading = undefined; // at once, so that nobody joins a look that is over
    }
  }

  async #lookOnce(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const [questions, failures] = await Promise.all([this.#questions(), this.#failures()]);
      this.#show({ questions, failures, trouble: undefined });
    } catch (error) {
      this.#fail(error);
      this.#later(error);
    }
  }

  /** Looks again after a failure that may have passed by then. A client that was closed fails in another way. */
  #later(error: unknown): void {
    if (!(error instanceof WaybillError && error.retryable)) return;
    this.#timer = setTimeout(() => void this.refresh(), error.retryAfterMs ?? againMs).unref();
  }

  async #questions(): Promise<Awaiting[]> {
    return pages((cursor) => this.waybill.call("list_awaiting", { limit: 500, ...cursor }));
  }

  async #failures(): Promise<Notice[]> {
    const notices = await pages((cursor) => this.waybill.call("list_notices", { limit: 500, peek: true, ...cursor }));
    return notices.filter(tellsOfFailure);
  }

  #fail(error: unknown): void {
    this.#say(message(error, this.#binary));
  }

  /** Shows a trouble until a look succeeds. */
  #say(trouble: string): void {
    this.#print(trouble);
    this.#show({ ...this.#look, trouble });
  }

  #show(look: Look): void {
    this.#look = look;
    for (const watcher of this.#watchers) watcher(look);
  }
}

async function pages<T>(page: (cursor: { cursor?: string }) => Promise<{ items: T[]; next_cursor?: string }>): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: { cursor?: string } | undefined = {}; cursor; ) {
    const { items, next_cursor } = await page(cursor);
    all.push(...items);
    cursor = next_cursor === undefined ? undefined : { cursor: next_cursor };
  }
  return all;
}

function tellsOfFailure(notice: Notice): boolean {
  switch (notice.kind) {
    case "instruction.failed":
    case "run.blocked":
    case "run.stalled":
      return true;
    case "task.finished":
      return notice.data["status"] === "ERROR" || notice.data["status"] === "BLOCKED";
  }
  return false;
}

/** Where to go on if the log is another one than that of the cursor, as it is after a restore. */
function elsewhere(error: unknown): string | undefined {
  if (!(error instanceof WaybillError && error.code === "CURSOR_EXPIRED")) return undefined;
  const { newest } = error.details;
  return typeof newest === "string" ? newest : undefined;
}

/** Returns the text that a person reads. A program that cannot be started is named with the setting that names it. */
function message(error: unknown, binary: string): string {
  if (error instanceof WaybillError && error.code === "NOT_STARTED") {
    return `${binary} could not be started; set waybill.path in the settings to the path of the program`;
  }
  return error instanceof Error ? error.message : String(error);
}
