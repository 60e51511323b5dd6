// The client: calls in, answers out, across the deaths of the process if that is wanted.

import { randomUUID } from "node:crypto";
import { Calls, keeps, type Call } from "./calls.js";
import { Connection, isObject, type Command, type Ending } from "./connection.js";
import { answered, type ClientCode, type WaybillError } from "./errors.js";
import { cancelled, gone, story, untouched } from "./failures.js";
import { Hints, feed, type FeedOptions } from "./feed.js";
import { Listeners } from "./listeners.js";
import { changingMethods, maxMessageBytes } from "./methods.js";
import type { Arguments, Method, Options, ProcessMap, Result } from "./options.js";
import type { Error as WireError, Event, InitializeParams, InitializeResult, NotificationMap } from "./protocol.js";
import { Backoff } from "./restart.js";

/** These hand something out. Under a key, what was handed out and got lost is kept for the same call, and counts. */
const handingOut: ReadonlySet<string> = new Set(["dispatch_instructions", "claim_task"]);

/**
 * A client of one waybill process at a time. Constructing one starts nothing: the first call does.
 * Every promise that it gives is settled, at the latest by `close`.
 */
export class Waybill {
  readonly #command: Command;
  readonly #graceMs: number;
  readonly #backoff: Backoff | undefined;
  readonly #calls = new Calls();
  readonly #listeners = new Listeners<NotificationMap & ProcessMap>();
  readonly #hints = new Hints();
  #hello: InitializeParams | undefined;
  #connection: Connection | undefined;
  #leaving = false; // whether the process takes no more work
  #timer: NodeJS.Timeout | undefined; // until the next process
  #over: { code: ClientCode; message: string } | undefined; // why nothing can be called any more
  #closed: Promise<void> | undefined;
  #ids = 0;
  #starts = 0;

  constructor(options: Options = {}) {
    const { workspace } = options;
    this.#command = {
      binary: options.binary ?? process.env["WAYBILL_BIN"] ?? "waybill",
      args: [...(options.args ?? []), ...(workspace === undefined ? [] : ["--workspace", workspace])],
      cwd: options.cwd ?? workspace,
      env: options.env ?? {},
      maxMessageBytes: options.maxMessageBytes ?? 64 << 20,
      unref: options.unref ?? false,
    };
    this.#graceMs = options.graceMs ?? 5000;
    this.#backoff = options.restart ? new Backoff(options.restart === true ? {} : options.restart) : undefined;
    this.#hello = options.initialize;
  }

  /** The number of the process that runs now, if one does. */
  get pid(): number | undefined {
    return this.#connection?.pid;
  }

  /** Starts the process and has it open the store of its workspace. From then on notifications come. */
  async start(): Promise<InitializeResult> {
    const hello = await this.call("initialize", this.#hello ?? {});
    await this.call("events_since", { cursor: hello.cursor, limit: 1 });
    return hello;
  }

  /**
   * Calls a method. A change that is answered is on disk. One that changes something gets an idempotency_key if it has
   * none; `claim_task` and `dispatch_instructions` only where the client restarts waybill, because under a key waybill
   * keeps what they have handed out for a repetition, and does not take it back.
   */
  call<M extends Method>(method: M, ...[params, options]: Arguments<M>): Promise<Result<M>> {
    return this.#call("user", method, params ?? {}, options?.signal);
  }

  #call<M extends Method>(by: "user" | "feed", method: M, params: object, signal?: AbortSignal): Promise<Result<M>> {
    return new Promise<unknown>((resolve, reject) => {
      const call = this.#make(method, params, by, resolve, reject);
      const error = this.#refusal(call) ?? (signal?.aborted ? cancelled(call) : undefined);
      if (error) return reject(error);
      if (signal) this.#watch(call, signal);
      if (method === "initialize") this.#hello = { ...this.#hello, ...params };
      this.#calls.add(call);
      this.#begin();
      this.#pump();
    }) as Promise<Result<M>>;
  }

  /** Calls the listener for each notification, or each change of the process, of this name. Gives what ends that. */
  on<K extends keyof (NotificationMap & ProcessMap)>(name: K, listener: (value: (NotificationMap & ProcessMap)[K]) => void): () => void {
    return this.#listeners.on(name, listener);
  }

  /**
   * Gives the events behind a cursor, in order, none left out and none twice, also across processes, and waits for
   * more. Nobody has to keep up: what is not asked for stays in the log. It ends with the signal or with `close`, and
   * throws if waybill has gone for good or the cursor is older than the log, or of another one.
   */
  events(options: FeedOptions = {}): AsyncGenerator<Event, void, void> {
    const start = options.cursor === undefined
      ? this.call("initialize").then((hello) => hello.cursor)
      : Promise.resolve(options.cursor);
    start.catch(() => {}); // whoever iterates is told
    return feed({ hints: this.#hints, read: (params) => this.#call("feed", "events_since", params) }, start, options);
  }

  /**
   * Ends the input of waybill, which answers what it has in hand and leaves, and waits for that; it is killed if it takes
   * longer than `graceMs`. Calls that were not sent yet are rejected. Closing twice is closing once.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#end({ code: "CLOSED", message: "the client was closed" });
    this.#hints.end();
    const connection = this.#connection;
    if (!connection) return;
    connection.endInput();
    const timer = setTimeout(() => connection.kill(), this.#graceMs);
    await connection.gone;
    clearTimeout(timer);
  }

  #make(method: string, params: object, by: Call["by"], resolve: (value: unknown) => void, reject: (error: WaybillError) => void): Call {
    const id = ++this.#ids;
    const given = "idempotency_key" in params ? params.idempotency_key : undefined;
    const key = typeof given === "string" ? given : this.#keyFor(method);
    const whole = key === undefined ? params : { ...params, idempotency_key: key };
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params: whole });
    return { id, method, line, key, by, sends: 0, cancelled: false, resolve, reject };
  }

  #keyFor(method: string): string | undefined {
    const wanted = changingMethods.has(method) && (this.#backoff !== undefined || !handingOut.has(method));
    return wanted ? `ts-${randomUUID()}` : undefined;
  }

  /** Says why a call cannot be made, if it cannot. */
  #refusal(call: Call): WaybillError | undefined {
    if (this.#over) return untouched(call, this.#over.code, this.#over.message, false);
    const size = Buffer.byteLength(call.line);
    if (size <= maxMessageBytes) return undefined;
    const message = `the params of ${call.method} make a message of ${size} bytes, and ${maxMessageBytes} are the most that waybill reads`;
    return untouched(call, "MESSAGE_TOO_LARGE", message, false);
  }

  #watch(call: Call, signal: AbortSignal): void {
    const { resolve, reject } = call;
    const abort = () => this.#cancel(call);
    signal.addEventListener("abort", abort, { once: true });
    call.resolve = (value) => (signal.removeEventListener("abort", abort), resolve(value));
    call.reject = (error) => (signal.removeEventListener("abort", abort), reject(error));
  }

  #cancel(call: Call): void {
    call.cancelled = true;
    if (this.#calls.withdraw(call)) return call.reject(cancelled(call));
    this.#connection?.send(JSON.stringify({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: call.id } }));
  }

  /** Starts a process if there is none and none is about to be started. */
  #begin(): void {
    if (this.#connection || this.#timer) return;
    const restarts = this.#starts++;
    this.#leaving = false;
    this.#backoff?.began();
    const connection = new Connection(this.#command, {
      message: (value) => this.#message(value),
      garbage: (text) => this.#listeners.emit("garbage", { text }),
      ended: (ending) => this.#ended(ending),
    });
    this.#connection = connection;
    if (connection.pid === undefined) return; // its ending comes
    this.#greet(restarts > 0);
    this.#listeners.emit("started", { pid: connection.pid, restarts });
  }

  /** Tells a new process what its predecessor was told, and has it look at its log, so that it notifies. */
  #greet(successor: boolean): void {
    if (this.#hello) this.#say("initialize", this.#hello);
    if (successor) this.#say("events_since", { cursor: "0", limit: 1 });
  }

  /** Calls ahead of all others, whatever comes of it. */
  #say(method: string, params: object): void {
    const call = this.#make(method, params, "greeting", () => {}, () => {});
    this.#calls.hold(call);
    this.#connection?.send(call.line);
  }

  #pump(): void {
    while (this.#connection?.pid !== undefined && !this.#leaving) {
      const call = this.#calls.next();
      if (!call) return;
      this.#connection.send(call.line);
    }
  }

  #message(value: Record<string, unknown>): void {
    const { id, method, params } = value;
    if (typeof method === "string") return this.#notified(method, params);
    const call = this.#calls.take(id);
    if (!call) return this.#listeners.emit("garbage", { text: JSON.stringify(value).slice(0, 400) });
    this.#backoff?.answered(call.by === "user");
    if (isObject(value["error"])) this.#failed(call, value["error"] as unknown as WireError);
    else call.resolve(value["result"]);
    if (changingMethods.has(call.method)) this.#hints.tick();
    this.#pump();
  }

  #notified(method: string, params: unknown): void {
    this.#hints.tick();
    this.#listeners.emit(method as keyof NotificationMap, params as never);
  }

  /** A process that is on its way out refuses work, which the next one takes. */
  #failed(call: Call, error: WireError): void {
    const failure = answered(error, call.method, call.key);
    if (failure.code !== "SHUTTING_DOWN" || !this.#backoff || this.#over || !keeps(call)) return call.reject(failure);
    this.#calls.again([call]);
    if (!this.#leaving) this.#connection?.endInput();
    this.#leaving = true;
  }

  #ended(ending: Ending): void {
    this.#connection = undefined;
    const restartMs = this.#over ? undefined : this.#backoff?.next(ending.code, !ending.failure);
    const lost = this.#calls.lost();
    const kept = restartMs === undefined ? [] : lost.filter(keeps);
    this.#calls.again(kept);
    for (const call of lost) if (!kept.includes(call)) call.reject(gone(call, ending));
    if (restartMs === undefined) this.#end(this.#over ?? { code: ending.failure ? "NOT_STARTED" : "CONNECTION_LOST", message: story(ending) });
    else this.#wait(restartMs);
    this.#listeners.emit("exited", { ...ending, ...(restartMs !== undefined && { restartMs }) });
    this.#hints.tick();
  }

  #wait(restartMs: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#begin();
      this.#pump();
    }, restartMs);
    if (this.#command.unref) this.#timer.unref();
  }

  /** Nothing is called from here on. */
  #end(over: { code: ClientCode; message: string }): void {
    this.#over = over;
    for (const call of this.#calls.unsent()) call.reject(untouched(call, over.code, over.message, false));
  }
}
