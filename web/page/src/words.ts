// Texts for times and numbers.
import type { PlanRuns, Totals } from "../../../schema/gen/protocol.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** A duration in at most two units: 850 ms, 12 s, 3 m 5 s, 2 h 14 m, 3 d 4 h. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return "unknown";
  if (ms < 0) return "0 s";
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < 10 * second) return `${(Math.floor(ms / 100) / 10).toString()} s`;
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return pair(ms, minute, "m", second, "s");
  if (ms < day) return pair(ms, hour, "h", minute, "m");
  return pair(ms, day, "d", hour, "h");
}

function pair(ms: number, big: number, bigWord: string, small: number, smallWord: string): string {
  const rest = Math.floor((ms % big) / small);
  return `${Math.floor(ms / big)} ${bigWord}` + (rest > 0 ? ` ${rest} ${smallWord}` : "");
}

/** An age in one unit. A time in the future, by another clock, is now. */
export function ago(ms: number): string {
  if (!Number.isFinite(ms)) return "unknown";
  if (ms < 5 * second) return "now";
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} m`;
  if (ms < day) return `${Math.floor(ms / hour)} h`;
  return `${Math.floor(ms / day)} d`;
}

/** An age for screen readers. */
export function agoSpoken(ms: number): string {
  const short = ago(ms);
  if (short === "now" || short === "unknown") return short;
  const [n, unit] = short.split(" ") as [string, string];
  const word = { s: "second", m: "minute", h: "hour", d: "day" }[unit] ?? unit;
  return `${n} ${word}${n === "1" ? "" : "s"} ago`;
}

/** An instant in full, in the user's time zone. */
export function instant(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(1)} KiB`;
  return `${(n / 1024 / 1024).toFixed(1)} MiB`;
}

export function count(n: number): string {
  return n.toLocaleString("en-US");
}

/** A number with its noun. */
export function many(n: number, one: string, more: string = one + "s"): string {
  return `${count(n)} ${n === 1 ? one : more}`;
}

/** The command for the same request. A variable has the token, so that no shell history does. */
export function curl(url: string): string {
  return `curl -H "Authorization: Bearer $token" '${url.replaceAll("'", "%27")}'`;
}

/** The progress of a plan, by its file and its runs. */
export function howFar(totals: Pick<Totals, "completed" | "total">, runs: PlanRuns | undefined): string {
  const file = `${count(totals.completed)} of ${count(totals.total)}`;
  if (!runs) return `${file} done`;
  const early = runs.unapproved > 0 ? `, ${count(runs.unapproved)} not yet approved` : "";
  return `${file} in the file, ${count(runs.approved)} approved (${count(runs.proven)} proven)${early}`;
}
