// The only access to the server. Every request has the token, and every answer is a result or a Fault.
import { signal } from "@preact/signals";
import type { ErrorCode, ErrorData, MethodMap } from "../../../schema/gen/protocol.ts";

export type { MethodMap };
export type Result<M extends keyof MethodMap> = MethodMap[M]["result"];
export type Params<M extends keyof MethodMap> = Partial<MethodMap[M]["params"]>;

/** A Fault is an answer other than success, or a missing answer with the code "". */
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

  /** Whether there was no answer at all. */
  get silent(): boolean {
    return this.status === 0;
  }
}

/** Reads an error body: the data of an error with its message, or the whole error object. */
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

/** Whether this tab has a token that was not refused. A restarted waybill has a new token. */
export const signedIn = signal(token() !== "");

/** Records that a token was refused, unless the tab has a new one. */
export function refused(shown: string): void {
  if (shown === token()) signedIn.value = false;
}

/** Exchanges the one-time code of a link for the token. */
export async function login(code: string): Promise<void> {
  const answer = await request("POST", "/api/login", { body: { code }, changes: true });
  sessionStorage.setItem(tokenKey, text(member(answer, "token")));
  signedIn.value = true;
}

/** The code in an address from `waybill ui`, or "". */
export function codeIn(address: string): string {
  const fragment = address.slice(address.indexOf("#") + 1);
  return fragment.startsWith("c=") ? (new URLSearchParams(fragment).get("c") ?? "") : "";
}

/** Headers with the token. */
export function credentials(): Record<string, string> {
  return token() === "" ? {} : { Authorization: "Bearer " + token() };
}

/** Limit of a request. The server's own limit is shorter. */
const patience = 40_000;

/** A request. A read has no key and may be repeated. */
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
  if (answer.status === 401 && path !== "/api/login") throw new Fault("this tab is not signed in", 401, "UNAUTHORIZED", "not_applied");
  if (!answer.ok) throw faultOf(answer.status, read);
  return read;
}

/**
 * One request and its answer. A connection can break when the machine wakes up or changes its network. Then a read is
 * repeated. A change is not repeated, and the user sees that its outcome is unknown.
 */
async function exchange(verb: string, path: string, question: Question): Promise<{ answer: Response; read: unknown }> {
  for (let again = !question.changes; ; again = false) {
    try {
      const answer = await fetch(path, asked(verb, question));
      return { answer, read: await answer.json() };
    } catch (broken) {
      // Reading can fail like the request: TypeError for the network, AbortError for the limit.
      if (!again || !(broken instanceof TypeError)) throw new Fault("waybill does not answer: it has ended, or is busy", 0, "", question.changes ? "unknown" : "not_applied");
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

/** A part that cannot be escaped in a path: browsers change it. */
const turns = /^[^?]*\/\.{1,2}(\/|\?|$)/;

/** The path with its params, escaped, so that an id cannot change the target; see turns for the rest. */
export function address(path: TemplateStringsArray, ...parts: string[]): string {
  return String.raw({ raw: path }, ...parts.map(encodeURIComponent));
}

/** The path of a method in a workspace: that of the server with "". */
export function inWorkspace(at: string, path: string): string {
  return at === "" ? path : path.replace("/api/", address`/api/workspaces/${at}/`);
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

/**
 * Reads. Returns the result of the method. The workspace is a parameter, because the page may show another one by the
 * time of a later request.
 */
export function get<M extends keyof MethodMap>(_method: M, path: string, at: string, query: Params<M> & Query = {} as never): Promise<Result<M>> {
  return request("GET", withQuery(inWorkspace(at, path), query)) as Promise<Result<M>>;
}

/** Changes, once per key. */
export function post<M extends keyof MethodMap>(_method: M, path: string, at: string, body: Params<M>, key?: string): Promise<Result<M>> {
  return request("POST", inWorkspace(at, path), { body, key, changes: true }) as Promise<Result<M>>;
}

/** Reads the inbox of all workspaces. */
export function getInbox(): Promise<unknown> {
  return request("GET", "/api/inbox");
}

/** Notes that the person has seen an inbox. */
export function postLooked(read_at: string): Promise<unknown> {
  return request("POST", "/api/inbox/looked", { body: { read_at }, changes: true });
}

/** A new unique key. */
export function newKey(): string {
  return "page-" + crypto.randomUUID();
}

export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  return new Fault("the page failed: " + String(thrown), 0, "", "unknown");
}
