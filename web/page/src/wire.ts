// The only way to the server: every request carries the token, and every answer is a result or a Fault.
import { signal } from "@preact/signals";
import type { ErrorCode, ErrorData, MethodMap } from "../../../schema/gen/protocol.ts";

export type { MethodMap };
export type Result<M extends keyof MethodMap> = MethodMap[M]["result"];
export type Params<M extends keyof MethodMap> = Partial<MethodMap[M]["params"]>;

/** A Fault is an answer that is not a success, or none at all: then code is "" and outcome says what is known. */
export class Fault extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: ErrorCode | "",
    readonly outcome: ErrorData["outcome"],
    readonly hint: string = "",
    readonly details: Record<string, unknown> = {},
    readonly retryAfter: number = 0,
  ) {
    super(message);
  }

  /** Whether nobody answered at all. */
  get silent(): boolean {
    return this.status === 0;
  }
}

/** Reads the body of a refusal: the data of an error with its message, or the error object around them. */
export function faultOf(status: number, body: unknown): Fault {
  const outer = member(body, "error") ?? body;
  const data = member(outer, "data") ?? outer;
  const details = member(data, "details");
  return new Fault(
    text(member(outer, "message")) || text(member(data, "message")) || `the server answered ${status}`,
    status,
    text(member(data, "code")) as ErrorCode | "",
    (text(member(data, "outcome")) || "unknown") as ErrorData["outcome"],
    text(member(data, "hint")),
    typeof details === "object" && details !== null ? (details as Record<string, unknown>) : {},
    Number(member(data, "retry_after_ms")) || 0,
  );
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const tokenKey = "waybill.token";

export function token(): string {
  return sessionStorage.getItem(tokenKey) ?? "";
}

/** Whether this tab has a token, and it was not refused. A waybill that was started anew has another one. */
export const signedIn = signal(token() !== "");

/** Notes that a token was refused, unless the tab has another one by now. */
export function refused(shown: string): void {
  if (shown === token()) signedIn.value = false;
}

/** Exchanges the one-time code of a link for the token. */
export async function login(code: string): Promise<void> {
  const answer = await request("POST", "/api/login", { body: { code }, changes: true });
  sessionStorage.setItem(tokenKey, text(member(answer, "token")));
  signedIn.value = true;
}

/** The code in an address that `waybill ui` prints, or "" if it has none. */
export function codeIn(address: string): string {
  const fragment = address.slice(address.indexOf("#") + 1);
  return fragment.startsWith("c=") ? (new URLSearchParams(fragment).get("c") ?? "") : "";
}

/** Headers that say who asks. */
export function credentials(): Record<string, string> {
  return token() === "" ? {} : { Authorization: "Bearer " + token() };
}

/** How long a request may take. The server gives up earlier. */
const patience = 40_000;

/** What is asked. A read has no key, and may be asked again. */
interface Question {
  body?: unknown;
  key?: string | undefined;
  changes?: boolean;
}

async function request(verb: string, path: string, question: Question = {}): Promise<unknown> {
  if (turns.test(path)) throw new Fault("an id in this address is only dots, which would lead elsewhere", 400, "INVALID_PARAMS", "not_applied");
  const shown = token();
  const { answer, read } = await exchange(verb, path, question);
  if (answer.status === 401 && path !== "/api/login") refused(shown);
  if (!answer.ok) throw faultOf(answer.status, read);
  return read;
}

/**
 * One request and its answer. A connection breaks when the machine wakes up or changes its network, and the server is
 * there all the same: a read is then asked once more. A change is not: its user is told that nobody knows.
 */
async function exchange(verb: string, path: string, question: Question): Promise<{ answer: Response; read: unknown }> {
  for (let again = !question.changes; ; again = false) {
    try {
      const answer = await fetch(path, asked(verb, question));
      return { answer, read: await answer.json() };
    } catch (broken) {
      // Reading may fail as well as asking; a TypeError is the network's, and the end of our patience is another.
      if (!again || !(broken instanceof TypeError)) throw new Fault("waybill does not answer", 0, "", question.changes ? "unknown" : "not_applied");
    }
  }
}

function asked(verb: string, { body, key }: Question): RequestInit {
  const headers = credentials();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  return {
    method: verb,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(patience),
  };
}

type Query = Record<string, string | number | boolean | string[] | undefined>;

/** A path with a part that nobody can escape: a browser takes it for a step up, or for none. */
const turns = /^[^?]*\/\.{1,2}(\/|\?|$)/;

/** The path with its params. They are escaped, so an id of somebody else cannot lead elsewhere; see turns for the rest. */
export function address(path: TemplateStringsArray, ...parts: string[]): string {
  return String.raw({ raw: path }, ...parts.map(encodeURIComponent));
}

export function withQuery(path: string, query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const tail = search.toString();
  return tail === "" ? path : `${path}?${tail}`;
}

/** Reads: the result is that of the method. */
export function get<M extends keyof MethodMap>(_method: M, path: string, query: Params<M> & Query = {} as never): Promise<Result<M>> {
  return request("GET", withQuery(path, query)) as Promise<Result<M>>;
}

/** Changes something, once per key. */
export function post<M extends keyof MethodMap>(_method: M, path: string, body: Params<M>, key?: string): Promise<Result<M>> {
  return request("POST", path, { body, key, changes: true }) as Promise<Result<M>>;
}

/** Reads with params that are too long for an address, or too much of somebody's to stand in one. */
export function ask<M extends keyof MethodMap>(_method: M, path: string, body: Params<M>): Promise<Result<M>> {
  return request("POST", path, { body }) as Promise<Result<M>>;
}

/** Has the markup of a text read. */
export function readMarkup(text: string): Promise<unknown> {
  return request("POST", "/api/markdown", { body: { text } });
}

/** A key that no other call has. */
export function newKey(): string {
  return "page-" + crypto.randomUUID();
}

export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  return new Fault("the page failed: " + String(thrown), 0, "", "unknown");
}
