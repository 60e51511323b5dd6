// written-by: waybill. Generated from examples/opencode. Do not edit.

// clients/typescript/src/client.ts
import { randomUUID } from "node:crypto";

// clients/typescript/src/calls.ts
var window = 512;
var maxSends = 4;
function keeps(call) {
  return call.by !== "greeting" && !call.cancelled && call.sends < maxSends;
}
var Calls = class {
  #waiting = [];
  #inHand = /* @__PURE__ */ new Map();
  /** Adds a call behind all others. */
  add(call) {
    this.#waiting.push(call);
  }
  /** Puts calls back whose answer was lost. They go where they were: calls take effect in their order. */
  again(calls) {
    this.#waiting = [...calls, ...this.#waiting].sort((a, b) => a.id - b.id);
  }
  /** Gives the next call to send, if waybill may be given one more. It is in hand then. */
  next() {
    if (this.#inHand.size >= window) return void 0;
    const call = this.#waiting.shift();
    if (call) this.hold(call);
    return call;
  }
  /** Notes that a call is in the hands of waybill. */
  hold(call) {
    call.sends++;
    this.#inHand.set(call.id, call);
  }
  /** Takes the call out that an answer is for. */
  take(id) {
    const call = typeof id === "number" ? this.#inHand.get(id) : void 0;
    if (call) this.#inHand.delete(call.id);
    return call;
  }
  /** Takes a call out that was not sent yet, and reports whether it was one. */
  withdraw(call) {
    const at = this.#waiting.indexOf(call);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }
  /** Takes all calls out that are in hand. */
  lost() {
    const calls = [...this.#inHand.values()];
    this.#inHand.clear();
    return calls;
  }
  /** Takes all calls out that wait to be sent. */
  unsent() {
    const calls = this.#waiting;
    this.#waiting = [];
    return calls;
  }
};

// clients/typescript/src/connection.ts
import { spawn } from "node:child_process";

// clients/typescript/src/lines.ts
var newline = 10;
var Lines = class {
  #limit;
  #line;
  #tooLong;
  #pieces = [];
  #size = 0;
  /** tooLong is called for a line over the limit in bytes, and then nothing more is held of it. */
  constructor(limit, line, tooLong) {
    this.#limit = limit;
    this.#line = line;
    this.#tooLong = tooLong;
  }
  /** Takes in what was printed next. */
  push(chunk) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      this.#add(chunk.subarray(from, end));
      this.#end();
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
  }
  #add(piece) {
    if (piece.length === 0) return;
    const before = this.#size;
    this.#size += piece.length;
    if (this.#size <= this.#limit) {
      this.#pieces.push(piece);
    } else if (before <= this.#limit) {
      this.#pieces = [];
      this.#tooLong();
    }
  }
  #end() {
    const text = Buffer.concat(this.#pieces).toString("utf8");
    const whole = this.#size <= this.#limit;
    this.#pieces = [];
    this.#size = 0;
    if (whole && text.trim() !== "") this.#line(text);
  }
};
var Tail = class {
  #limit;
  #kept = Buffer.alloc(0);
  constructor(limit) {
    this.#limit = limit;
  }
  push(chunk) {
    const last = chunk.subarray(Math.max(0, chunk.length - this.#limit));
    const room = this.#limit - last.length;
    this.#kept = Buffer.concat([this.#kept.subarray(Math.max(0, this.#kept.length - room)), last]);
  }
  toString() {
    return this.#kept.toString("utf8").trim();
  }
};

// clients/typescript/src/connection.ts
var stderrBytes = 8 << 10;
var garbageChars = 400;
var drainMs = 1e3;
var Connection = class {
  /** Resolves when the process is gone and everything that it printed was read. */
  gone;
  #child;
  #listener;
  #stderr = new Tail(stderrBytes);
  #resolve;
  #ended = false;
  constructor(command, listener) {
    this.gone = new Promise((resolve) => this.#resolve = resolve);
    this.#listener = listener;
    try {
      this.#child = started(command);
      this.#listen(this.#child, command.maxMessageBytes);
      if (command.unref) this.#hold("unref");
    } catch (failure) {
      queueMicrotask(() => this.#end(null, null, failure));
    }
  }
  /** The number of the process; undefined if it could not be started. */
  get pid() {
    return this.#child?.pid;
  }
  /** Writes one message. What the process does not read any more is lost; its ending is told of by itself. */
  send(line) {
    const stdin = this.#child?.stdin;
    if (stdin?.writable) stdin.write(line + "\n");
  }
  /** Ends the input, at which waybill answers what it has read, and leaves. That is waited for. */
  endInput() {
    this.#hold("ref");
    this.#child?.stdin?.end();
  }
  /** Ends the process at once. What it has answered is on disk. */
  kill() {
    this.#child?.kill("SIGKILL");
  }
  #listen(child, limit) {
    const lines = new Lines(limit, (text) => this.#line(text), () => {
      this.#listener.garbage(`a message of more than ${limit} bytes`);
      this.kill();
    });
    child.stdout?.on("data", (chunk) => lines.push(chunk));
    child.stderr?.on("data", (chunk) => this.#stderr.push(chunk));
    child.stdin?.on("error", () => {
    });
    child.on("error", (failure) => {
      if (child.pid === void 0) this.#end(null, null, failure);
    });
    child.on("exit", () => this.#drain());
    child.on("close", (code, signal) => this.#end(code, signal));
  }
  /** Sets whether this process stays alive for the child and its pipes. The pipes are sockets in Node; in Bun they lack ref and unref. */
  #hold(how) {
    this.#child?.[how]();
    for (const pipe of this.#child?.stdio ?? []) if (pipe && !pipe.destroyed) pipe[how]?.();
  }
  #drain() {
    const timer = setTimeout(() => {
      this.#child?.stdout?.destroy();
      this.#child?.stderr?.destroy();
    }, drainMs);
    void this.gone.then(() => clearTimeout(timer));
  }
  #line(text) {
    const value = parsed(text);
    if (value === void 0) this.#listener.garbage(text.slice(0, garbageChars));
    else this.#listener.message(value);
  }
  #end(code, signal, failure) {
    if (this.#ended) return;
    this.#ended = true;
    this.#resolve();
    this.#listener.ended({ code, signal, stderr: this.#stderr.toString(), ...failure && { failure } });
  }
};
function started(command) {
  return spawn(command.binary, [...command.args], {
    cwd: command.cwd,
    env: { ...process.env, ...command.env },
    shell: false,
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true
  });
}
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : void 0;
  } catch {
    return void 0;
  }
}
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// clients/typescript/src/errors.ts
var WaybillError = class extends Error {
  /** The stable name of what went wrong. */
  code;
  /** Whether the call took effect. */
  outcome;
  /** Whether the same call may succeed later. */
  retryable;
  /** The method that was called. */
  method;
  /** The number that JSON-RPC has for the code, if waybill answered. */
  number;
  /** When to try again. */
  retryAfterMs;
  /** What to do about it. */
  hint;
  /** Facts, by the code. */
  details;
  /** Finds more in the log of waybill. */
  incident;
  /** The key that the call had: the same call with this key takes effect once, however often it is made. */
  idempotencyKey;
  constructor(message, facts) {
    super(message);
    this.name = "WaybillError";
    this.code = facts.code;
    this.outcome = facts.outcome;
    this.retryable = facts.retryable;
    this.method = facts.method;
    this.number = facts.number;
    this.retryAfterMs = facts.retryAfterMs;
    this.hint = facts.hint;
    this.details = facts.details ?? {};
    this.incident = facts.incident;
    this.idempotencyKey = facts.idempotencyKey;
  }
};
function answered(error, method, key) {
  const data = error.data ?? {};
  return new WaybillError(error.message, {
    code: data.code ?? "INTERNAL",
    outcome: data.outcome ?? "unknown",
    retryable: data.retryable ?? false,
    method,
    number: error.code,
    retryAfterMs: data.retry_after_ms,
    hint: data.hint,
    details: data.details,
    incident: data.incident,
    idempotencyKey: key
  });
}

// clients/typescript/src/methods.ts
var maxMessageBytes = 8388608;
var changingMethods = /* @__PURE__ */ new Set([
  "queue_instruction",
  "queue_instruction_with_ack",
  "dispatch_instructions",
  "acknowledge",
  "report_event",
  "cancel_instruction",
  "create_task",
  "claim_task",
  "bind_session",
  "heartbeat",
  "finish_attempt",
  "report_session_event",
  "retry_task",
  "cancel_task",
  "ask_user",
  "reply",
  "set_item_status",
  "init_run",
  "ingest_output",
  "report_check",
  "replan",
  "unblock_run",
  "consume_notices"
]);

// clients/typescript/src/failures.ts
function cancelled(call) {
  return untouched(call, "CANCELLED", `${call.method} was cancelled`, true);
}
function untouched(call, code, message, retryable) {
  const outcome = call.sends > 0 && changingMethods.has(call.method) ? "unknown" : "not_applied";
  return new WaybillError(message, { code, outcome, retryable, method: call.method, idempotencyKey: call.key });
}
function gone(call, ending) {
  return new WaybillError(`${call.method} has no answer: ${story(ending)}`, {
    code: ending.failure ? "NOT_STARTED" : "CONNECTION_LOST",
    outcome: changingMethods.has(call.method) && !ending.failure ? "unknown" : "not_applied",
    retryable: true,
    method: call.method,
    hint: call.key && "another client may repeat the call with this idempotency_key: it takes effect once",
    details: { exit_code: ending.code, signal: ending.signal, stderr: ending.stderr },
    idempotencyKey: call.key
  });
}
function story(ending) {
  if (ending.failure) return `waybill could not be started: ${ending.failure.message}; set WAYBILL_BIN, or the option binary, to its path`;
  const how = ending.signal ? `was ended by ${ending.signal}` : `has exited with ${ending.code}`;
  return `waybill ${how}` + (ending.stderr ? `, and said: ${ending.stderr.slice(-500)}` : "");
}

// clients/typescript/src/feed.ts
var againMs = 1e3;
var Hints = class {
  #count = 0;
  #over = false;
  #waiting = /* @__PURE__ */ new Set();
  get count() {
    return this.#count;
  }
  /** Whether there will be no more. */
  get over() {
    return this.#over;
  }
  /** Notes a sign. */
  tick() {
    this.#count++;
    for (const wake of [...this.#waiting]) wake();
  }
  /** Notes the last one. */
  end() {
    this.#over = true;
    this.tick();
  }
  /** Resolves when there was a sign since the count, or the signal was given. */
  since(count, signal) {
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
};
async function* feed(source, start, options) {
  const { types, signal } = options;
  let cursor = await unlessOver(source, start);
  while (cursor !== void 0 && !signal?.aborted && !source.hints.over) {
    const seen = source.hints.count;
    let page;
    try {
      page = await unlessOver(source, source.read({ cursor, ...types && { types } }));
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
async function pause(hints, ms, signal) {
  let passed = false;
  const timer = setTimeout(() => {
    passed = true;
    hints.tick();
  }, ms);
  while (!passed && !hints.over && !signal?.aborted) await hints.since(hints.count, signal);
  clearTimeout(timer);
}
async function unlessOver(source, promise) {
  try {
    return await promise;
  } catch (error) {
    if (source.hints.over) return void 0;
    throw error;
  }
}

// clients/typescript/src/listeners.ts
var Listeners = class {
  #by = /* @__PURE__ */ new Map();
  /** Adds a listener, and gives the function that removes it. */
  on(name, listener) {
    const all = this.#by.get(name) ?? /* @__PURE__ */ new Set();
    this.#by.set(name, all);
    const own = (value) => listener(value);
    all.add(own);
    return () => void all.delete(own);
  }
  /** Calls the listeners. What one throws reaches neither the others nor the caller, but the process, as uncaught. */
  emit(name, value) {
    for (const listener of [...this.#by.get(name) ?? []]) {
      try {
        listener(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
};

// clients/typescript/src/restart.ts
var usage = 2;
var steadyMs = 1e4;
var Backoff = class {
  #policy;
  #now;
  #useless = 0;
  #everAnswered = false;
  #begunAt = 0;
  /** now gives the milliseconds of a clock that is never set back. */
  constructor(policy, now = () => performance.now()) {
    this.#policy = { firstDelayMs: 100, maxDelayMs: 5e3, attempts: 10, ...policy };
    this.#now = now;
  }
  /** Notes that a process begins. */
  began() {
    this.#begunAt = this.#now();
  }
  /** Notes that the process has answered. Every process is greeted, so the answer to that alone is of no use. */
  answered(useful) {
    this.#everAnswered = true;
    if (useful) this.#useless = 0;
  }
  /** Gives how long to wait before the next process, or undefined if there should be none. */
  next(code, started2) {
    if (!this.#everAnswered && (!started2 || code === usage)) return void 0;
    if (started2 && this.#now() - this.#begunAt >= steadyMs) this.#useless = 0;
    if (this.#useless >= this.#policy.attempts) return void 0;
    const delay = this.#policy.firstDelayMs * 2 ** this.#useless++;
    return Math.min(delay, this.#policy.maxDelayMs) * (0.5 + Math.random() / 2);
  }
};

// clients/typescript/src/client.ts
var handingOut = /* @__PURE__ */ new Set(["dispatch_instructions", "claim_task"]);
var Waybill = class {
  #command;
  #graceMs;
  #backoff;
  #calls = new Calls();
  #listeners = new Listeners();
  #hints = new Hints();
  #hello;
  #connection;
  #leaving = false;
  // whether the process takes no more work
  #timer;
  // until the next process
  #over;
  // why nothing can be called any more
  #closed;
  #ids = 0;
  #starts = 0;
  constructor(options = {}) {
    const { workspace } = options;
    this.#command = {
      binary: options.binary ?? process.env["WAYBILL_BIN"] ?? "waybill",
      args: [...options.args ?? [], ...workspace === void 0 ? [] : ["--workspace", workspace]],
      cwd: options.cwd ?? workspace,
      env: options.env ?? {},
      maxMessageBytes: options.maxMessageBytes ?? 64 << 20,
      unref: options.unref ?? false
    };
    this.#graceMs = options.graceMs ?? 5e3;
    this.#backoff = options.restart ? new Backoff(options.restart === true ? {} : options.restart) : void 0;
    this.#hello = options.initialize;
  }
  /** The number of the process that runs now, if one does. */
  get pid() {
    return this.#connection?.pid;
  }
  /** Starts the process and has it open the store of its workspace. From then on notifications come. */
  async start() {
    const hello = await this.call("initialize", this.#hello ?? {});
    await this.call("events_since", { cursor: hello.cursor, limit: 1 });
    return hello;
  }
  /**
   * Calls a method. A change that is answered is on disk. One that changes something gets an idempotency_key if it has
   * none; `claim_task` and `dispatch_instructions` only where the client restarts waybill, because under a key waybill
   * keeps what they have handed out for a repetition, and does not take it back.
   */
  call(method, ...[params, options]) {
    return this.#call("user", method, params ?? {}, options?.signal);
  }
  #call(by, method, params, signal) {
    return new Promise((resolve, reject) => {
      const call = this.#make(method, params, by, resolve, reject);
      const error = this.#refusal(call) ?? (signal?.aborted ? cancelled(call) : void 0);
      if (error) return reject(error);
      if (signal) this.#watch(call, signal);
      if (method === "initialize") this.#hello = { ...this.#hello, ...params };
      this.#calls.add(call);
      this.#begin();
      this.#pump();
    });
  }
  /** Calls the listener for each notification, or each change of the process, of this name. Gives what ends that. */
  on(name, listener) {
    return this.#listeners.on(name, listener);
  }
  /**
   * Gives the events behind a cursor, in order, none left out and none twice, also across processes, and waits for
   * more. Nobody has to keep up: what is not asked for stays in the log. It ends with the signal or with `close`, and
   * throws if waybill has gone for good or the cursor is older than the log, or of another one.
   */
  events(options = {}) {
    const start = options.cursor === void 0 ? this.call("initialize").then((hello) => hello.cursor) : Promise.resolve(options.cursor);
    start.catch(() => {
    });
    return feed({ hints: this.#hints, read: (params) => this.#call("feed", "events_since", params) }, start, options);
  }
  /**
   * Ends the input of waybill, which answers what it has in hand and leaves, and waits for that; it is killed if it takes
   * longer than `graceMs`. Calls that were not sent yet are rejected. Closing twice is closing once.
   */
  close() {
    this.#closed ??= this.#close();
    return this.#closed;
  }
  async #close() {
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
  #make(method, params, by, resolve, reject) {
    const id = ++this.#ids;
    const given = "idempotency_key" in params ? params.idempotency_key : void 0;
    const key = typeof given === "string" ? given : this.#keyFor(method);
    const whole = key === void 0 ? params : { ...params, idempotency_key: key };
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params: whole });
    return { id, method, line, key, by, sends: 0, cancelled: false, resolve, reject };
  }
  #keyFor(method) {
    const wanted = changingMethods.has(method) && (this.#backoff !== void 0 || !handingOut.has(method));
    return wanted ? `ts-${randomUUID()}` : void 0;
  }
  /** Says why a call cannot be made, if it cannot. */
  #refusal(call) {
    if (this.#over) return untouched(call, this.#over.code, this.#over.message, false);
    const size = Buffer.byteLength(call.line);
    if (size <= maxMessageBytes) return void 0;
    const message = `the params of ${call.method} make a message of ${size} bytes, and ${maxMessageBytes} are the most that waybill reads`;
    return untouched(call, "MESSAGE_TOO_LARGE", message, false);
  }
  #watch(call, signal) {
    const { resolve, reject } = call;
    const abort = () => this.#cancel(call);
    signal.addEventListener("abort", abort, { once: true });
    call.resolve = (value) => (signal.removeEventListener("abort", abort), resolve(value));
    call.reject = (error) => (signal.removeEventListener("abort", abort), reject(error));
  }
  #cancel(call) {
    call.cancelled = true;
    if (this.#calls.withdraw(call)) return call.reject(cancelled(call));
    this.#connection?.send(JSON.stringify({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: call.id } }));
  }
  /** Starts a process if there is none and none is about to be started. */
  #begin() {
    if (this.#connection || this.#timer) return;
    const restarts = this.#starts++;
    this.#leaving = false;
    this.#backoff?.began();
    const connection = new Connection(this.#command, {
      message: (value) => this.#message(value),
      garbage: (text) => this.#listeners.emit("garbage", { text }),
      ended: (ending) => this.#ended(ending)
    });
    this.#connection = connection;
    if (connection.pid === void 0) return;
    this.#greet(restarts > 0);
    this.#listeners.emit("started", { pid: connection.pid, restarts });
  }
  /** Tells a new process what its predecessor was told, and has it look at its log, so that it notifies. */
  #greet(successor) {
    if (this.#hello) this.#say("initialize", this.#hello);
    if (successor) this.#say("events_since", { cursor: "0", limit: 1 });
  }
  /** Calls ahead of all others, whatever comes of it. */
  #say(method, params) {
    const call = this.#make(method, params, "greeting", () => {
    }, () => {
    });
    this.#calls.hold(call);
    this.#connection?.send(call.line);
  }
  #pump() {
    while (this.#connection?.pid !== void 0 && !this.#leaving) {
      const call = this.#calls.next();
      if (!call) return;
      this.#connection.send(call.line);
    }
  }
  #message(value) {
    const { id, method, params } = value;
    if (typeof method === "string") return this.#notified(method, params);
    const call = this.#calls.take(id);
    if (!call) return this.#listeners.emit("garbage", { text: JSON.stringify(value).slice(0, 400) });
    this.#backoff?.answered(call.by === "user");
    if (isObject(value["error"])) this.#failed(call, value["error"]);
    else call.resolve(value["result"]);
    if (changingMethods.has(call.method)) this.#hints.tick();
    this.#pump();
  }
  #notified(method, params) {
    this.#hints.tick();
    this.#listeners.emit(method, params);
  }
  /** A process that is on its way out refuses work, which the next one takes. */
  #failed(call, error) {
    const failure = answered(error, call.method, call.key);
    if (failure.code !== "SHUTTING_DOWN" || !this.#backoff || this.#over || !keeps(call)) return call.reject(failure);
    this.#calls.again([call]);
    if (!this.#leaving) this.#connection?.endInput();
    this.#leaving = true;
  }
  #ended(ending) {
    this.#connection = void 0;
    const restartMs = this.#over ? void 0 : this.#backoff?.next(ending.code, !ending.failure);
    const lost = this.#calls.lost();
    const kept = restartMs === void 0 ? [] : lost.filter(keeps);
    this.#calls.again(kept);
    for (const call of lost) if (!kept.includes(call)) call.reject(gone(call, ending));
    if (restartMs === void 0) this.#end(this.#over ?? { code: ending.failure ? "NOT_STARTED" : "CONNECTION_LOST", message: story(ending) });
    else this.#wait(restartMs);
    this.#listeners.emit("exited", { ...ending, ...restartMs !== void 0 && { restartMs } });
    this.#hints.tick();
  }
  #wait(restartMs) {
    this.#timer = setTimeout(() => {
      this.#timer = void 0;
      this.#begin();
      this.#pump();
    }, restartMs);
    if (this.#command.unref) this.#timer.unref();
  }
  /** Nothing is called from here on. */
  #end(over) {
    this.#over = over;
    for (const call of this.#calls.unsent()) call.reject(untouched(call, over.code, over.message, false));
  }
};

// examples/opencode/src/gate.ts
import { execFile } from "node:child_process";
var limitMs = 6e5;
var Gate = class {
  #directory;
  #asked = /* @__PURE__ */ new Map();
  // until the process has gone
  constructor(directory) {
    this.#directory = directory;
  }
  /**
   * Returns why a session must go on, or undefined if it may stop. again says whether it was held at its last stop: waybill
   * holds a stop three times at most. Rejects if waybill cannot be asked.
   */
  ask(session, again) {
    const event = { hook_event_name: "Stop", session_id: session, cwd: this.#directory, stop_hook_active: again };
    const args = ["hook", "opencode", "--session", `${session}.stop`];
    return new Promise((resolve, reject) => {
      const options = { cwd: this.#directory, timeout: limitMs, windowsHide: true };
      const child = execFile(process.env["WAYBILL_BIN"] || "waybill", args, options, (error, stdout, stderr) => {
        this.#asked.delete(child);
        if (error) reject(error);
        else if (stderr !== "") reject(new Error(stderr.trim()));
        else resolve(reason(stdout));
      });
      this.#asked.set(child, new Promise((gone2) => child.once("close", () => gone2())));
      child.stdin?.on("error", () => {
      });
      child.stdin?.end(JSON.stringify(event));
      child.unref();
    });
  }
  /** Ends what is asked, and waits until it has gone. */
  async close() {
    for (const child of this.#asked.keys()) child.kill();
    await Promise.all(this.#asked.values());
  }
};
function reason(stdout) {
  if (stdout.trim() === "") return void 0;
  const answer = JSON.parse(stdout);
  return answer.decision === "block" ? answer.reason : void 0;
}

// examples/opencode/src/handover.ts
var waiting = "waybill has instructions for this session.";
var Handover = class {
  #waybill;
  #session;
  #trouble;
  #sessions = /* @__PURE__ */ new Map();
  #again = /* @__PURE__ */ new Set();
  // idle again since they were woken
  #held = /* @__PURE__ */ new Set();
  // held at their last stop, and no person has said anything since
  #left = /* @__PURE__ */ new Map();
  // handed out by waybill, and not yet carried by a turn
  #toldOfWork = false;
  // whether this OpenCode says when a session works, as newer ones do
  constructor(waybill, session, trouble) {
    this.#waybill = waybill;
    this.#session = session;
    this.#trouble = trouble;
    waybill.on("instruction/available", ({ session_id }) => void this.#offer(session_id));
  }
  /** Does one dispatch pass for a session whose turn begins, and returns the texts that the turn carries. */
  async turn(session) {
    if (this.#sessions.get(session) !== "woken") this.#held.delete(session);
    this.#sessions.set(session, "busy");
    const left = this.#left.get(session) ?? [];
    const texts = [...left, ...await this.#pass(session)];
    this.#left.delete(session);
    return texts;
  }
  async #pass(session) {
    const { instructions } = await this.#waybill.call("dispatch_instructions", { session_id: session });
    return instructions.map((send) => send.text);
  }
  /** Takes in what OpenCode tells of its sessions. */
  heard(event) {
    switch (event.type) {
      case "session.status":
        this.#toldOfWork = true;
        if (event.properties.status.type === "idle") this.#idle(event.properties.sessionID);
        else this.#sessions.set(event.properties.sessionID, "busy");
        break;
      case "session.idle":
        if (!this.#toldOfWork) this.#sessions.set(event.properties.sessionID, "busy");
        this.#idle(event.properties.sessionID);
        break;
      case "session.deleted":
        this.#sessions.delete(event.properties.info.id);
        this.#held.delete(event.properties.info.id);
        break;
    }
  }
  #idle(id) {
    if (this.#sessions.get(id) === "woken") {
      this.#again.add(id);
      return;
    }
    this.#sessions.set(id, "idle");
    void this.#offer(id);
  }
  async #offer(id) {
    if (this.#sessions.get(id) !== "idle") return;
    try {
      const waits = await this.#waits(id);
      if (waits === "failure") this.#left.set(id, await this.#pass(id));
      const wakes = waits === "text" || (this.#left.get(id)?.length ?? 0) > 0;
      const text = wakes ? waiting : await this.#session.gate(id, this.#held.has(id));
      if (text === void 0 || this.#sessions.get(id) !== "idle") return;
      if (!wakes) this.#held.add(id);
      this.#sessions.set(id, "woken");
      this.#again.delete(id);
      await this.#session.wake(id, text);
    } catch (error) {
      if (this.#sessions.get(id) === "woken") this.#sessions.set(id, "idle");
      this.#trouble(`instructions for ${id}: ${error}`);
      if (this.#again.delete(id)) void this.#offer(id);
    }
  }
  /** Returns what a pass would bring: a text, or only the failure of what has used up its sends. */
  async #waits(id) {
    let waits;
    for (const state of ["queued", "sent"]) {
      for (let from = {}; from; ) {
        const { items, next_cursor } = await this.#waybill.call("list_instructions", { session_id: id, state, ...from });
        if (items.some((item) => item.sends < item.sends_max)) return "text";
        if (items.length > 0) waits = "failure";
        from = next_cursor === void 0 ? void 0 : { cursor: next_cursor };
      }
    }
    return waits;
  }
};

// examples/opencode/src/reports.ts
import { createHash } from "node:crypto";
var longest = 8 << 10;
function toolRan(input, output) {
  const { tool, sessionID, callID, args } = input;
  const { title, metadata } = output;
  return report("tool.execute.after", sessionID, callID, { tool, args, title, metadata, output: output.output });
}
function toolFailed(event) {
  if (event.type !== "message.part.updated") return void 0;
  const { part } = event.properties;
  if (part.type !== "tool" || part.state.status !== "error") return void 0;
  return report("tool.error", part.sessionID, part.callID, { tool: part.tool, args: part.state.input, error: part.state.error });
}
function report(type, session, call, data) {
  const key = createHash("sha256").update(`${type}\0${session}\0${call}`).digest("hex");
  return { type, session_id: session, data: brief(data), idempotency_key: `opencode-${key}` };
}
function brief(data) {
  return JSON.parse(JSON.stringify(data, (_, value) => typeof value === "string" ? value.slice(0, longest).toWellFormed() : value));
}

// examples/opencode/src/plugin.ts
var WaybillPlugin = async ({ client, directory }) => {
  const waybill = new Waybill({ cwd: directory, restart: true, unref: true });
  const log = (level, message) => void client.app.log({ body: { service: "waybill", level, message } }).catch(() => {
  });
  const quietly = (what) => what.catch((error) => log("error", String(error))).then(() => {
  });
  const gate = new Gate(directory);
  const handover = new Handover(waybill, {
    gate: async (session, again) => {
      const { data } = await client.session.get({ path: { id: session }, throwOnError: true });
      return data.parentID === void 0 ? gate.ask(session, again) : void 0;
    },
    wake: async (session, text) => {
      const parts = [{ type: "text", text, synthetic: true }];
      await client.session.promptAsync({ path: { id: session }, body: { parts }, throwOnError: true });
    }
  }, (trouble) => log("error", trouble));
  waybill.on("exited", ({ code, signal, stderr }) => log("error", `waybill has gone (${signal ?? code}) ${stderr}`));
  await quietly(waybill.start().then((hello) => log("info", `waybill ${hello.server_info.version} runs`)));
  return {
    "chat.message": ({ sessionID }, { message, parts }) => quietly((async () => {
      const last = parts.at(-1)?.id ?? "prt_";
      const texts = await handover.turn(sessionID);
      texts.forEach((text, n) => {
        parts.push({ id: `${last}w${String(n).padStart(4, "0")}`, sessionID, messageID: message.id, type: "text", text, synthetic: true });
      });
    })()),
    "tool.execute.after": (input, output) => quietly(waybill.call("report_event", toolRan(input, output))),
    event: async ({ event }) => {
      handover.heard(event);
      const failed = toolFailed(event);
      if (failed) await quietly(waybill.call("report_event", failed));
    },
    dispose: async () => {
      await Promise.all([gate.close(), waybill.close()]);
    }
  };
};
export {
  WaybillPlugin
};
