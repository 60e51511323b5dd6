// One process of waybill and the pipes to it. It knows messages and the end of the process, and nothing of calls.

import { spawn, type ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { Lines, Tail } from "./lines.js";

/** What to start, and within which bounds. */
export interface Command {
  binary: string;
  args: readonly string[];
  cwd: string | undefined;
  env: Record<string, string | undefined>;
  maxMessageBytes: number;
  /** Whether this process may end while that one runs. */
  unref: boolean;
}

/** How a process ended. */
export interface Ending {
  code: number | null;
  signal: string | null;
  /** The end of what it wrote to standard error. */
  stderr: string;
  /** Why it could not be started at all. */
  failure?: Error;
}

/** Who is told what comes from the process, and last of all its ending. */
export interface Listener {
  message(value: Record<string, unknown>): void;
  /** A line that is no message, cut to a few hundred characters, or what else was wrong with the output. */
  garbage(text: string): void;
  ended(ending: Ending): void;
}

const stderrBytes = 8 << 10;
const garbageChars = 400;
/** How long the pipes of a process that has exited may stay open, because another program holds them. */
const drainMs = 1000;

export class Connection {
  /** Resolves when the process is gone and everything that it printed was read. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess | undefined;
  readonly #listener: Listener;
  readonly #stderr = new Tail(stderrBytes);
  #resolve!: () => void;
  #ended = false;

  constructor(command: Command, listener: Listener) {
    this.gone = new Promise((resolve) => (this.#resolve = resolve));
    this.#listener = listener;
    try {
      this.#child = started(command);
      this.#listen(this.#child, command.maxMessageBytes);
      if (command.unref) this.#hold("unref");
    } catch (failure) {
      // Some failures are thrown and others are told of later; here all are told of later.
      queueMicrotask(() => this.#end(null, null, failure as Error));
    }
  }

  /** The number of the process; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Writes one message. What the process does not read any more is lost; its ending is told of by itself. */
  send(line: string): void {
    const stdin = this.#child?.stdin;
    if (stdin?.writable) stdin.write(line + "\n");
  }

  /** Ends the input, at which waybill answers what it has read, and leaves. That is waited for. */
  endInput(): void {
    this.#hold("ref");
    this.#child?.stdin?.end();
  }

  /** Ends the process at once. What it has answered is on disk. */
  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  #listen(child: ChildProcess, limit: number): void {
    const lines = new Lines(limit, (text) => this.#line(text), () => {
      this.#listener.garbage(`a message of more than ${limit} bytes`);
      this.kill();
    });
    child.stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
    child.stdin?.on("error", () => {}); // the process has gone, which "close" says
    child.on("error", (failure) => {
      if (child.pid === undefined) this.#end(null, null, failure);
    });
    child.on("exit", () => this.#drain());
    child.on("close", (code, signal) => this.#end(code, signal));
  }

  /** Sets whether this process stays alive for the child and its pipes. The pipes are sockets in Node; in Bun they lack ref and unref. */
  #hold(how: "ref" | "unref"): void {
    this.#child?.[how]();
    for (const pipe of this.#child?.stdio ?? []) if (pipe && !pipe.destroyed) (pipe as Partial<Socket>)[how]?.();
  }

  #drain(): void {
    const timer = setTimeout(() => {
      this.#child?.stdout?.destroy();
      this.#child?.stderr?.destroy();
    }, drainMs);
    void this.gone.then(() => clearTimeout(timer));
  }

  #line(text: string): void {
    const value = parsed(text);
    if (value === undefined) this.#listener.garbage(text.slice(0, garbageChars));
    else this.#listener.message(value);
  }

  #end(code: number | null, signal: string | null, failure?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#resolve();
    this.#listener.ended({ code, signal, stderr: this.#stderr.toString(), ...(failure && { failure }) });
  }
}

function started(command: Command): ChildProcess {
  return spawn(command.binary, [...command.args], {
    cwd: command.cwd,
    env: { ...process.env, ...command.env },
    shell: false,
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** isObject reports whether a value of JSON is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
