// The parts of the client that need no program.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Calls, keeps, type Call } from "../src/calls.js";
import { WaybillError } from "../src/errors.js";
import { Hints, feed } from "../src/feed.js";
import { Lines, Tail } from "../src/lines.js";
import { Backoff } from "../src/restart.js";

function call(id: number): Call {
  return { id, method: "ping", line: "", key: undefined, by: "user", sends: 0, cancelled: false, resolve() {}, reject() {} };
}

test("calls are sent in their order, a window at a time, and what is sent again goes ahead", () => {
  const calls = new Calls();
  for (let id = 1; id <= 2000; id++) calls.add(call(id));
  const sent: number[] = [];
  for (let one = calls.next(); one; one = calls.next()) sent.push(one.id);
  assert.ok(sent.length < 1024, "waybill refuses work beyond that");
  assert.deepEqual(sent, sent.map((_, i) => i + 1));
  assert.equal(calls.take("1"), undefined);
  assert.equal(calls.take(1)?.id, 1);
  assert.equal(calls.take(1), undefined);
  assert.equal(calls.next()?.id, sent.length + 1);
  const lost = calls.lost();
  calls.again([lost.pop() as Call]); // as a leaving process refuses them, one by one
  calls.again(lost);
  assert.deepEqual(calls.unsent().map(({ id }) => id), Array.from({ length: 1999 }, (_, i) => i + 2));
});

test("a call is not sent for ever", () => {
  const calls = new Calls();
  calls.add(call(1));
  let sends = 0;
  for (let one = calls.next(); one; one = calls.next(), sends++) calls.again(calls.lost().filter(keeps));
  assert.equal(sends, 4);
});

test("lines are whole however they come, and none is held over the limit", () => {
  const whole = '{"a":"ü"}\r\n\n  \n{"b":"世界"}\nlong: 0123456789\n{"c":1}\nno end';
  for (let size = 1; size <= whole.length; size++) {
    const lines: string[] = [];
    let tooLong = 0;
    const cutter = new Lines(14, (text) => lines.push(text.trim()), () => tooLong++);
    const bytes = Buffer.from(whole);
    for (let at = 0; at < bytes.length; at += size) cutter.push(bytes.subarray(at, at + size));
    assert.deepEqual(lines, ['{"a":"ü"}', '{"b":"世界"}', '{"c":1}'], `in pieces of ${size}`);
    assert.equal(tooLong, 1);
  }
});

test("a tail is the end of what was said", () => {
  for (const size of [1, 3, 5, 11, 100]) {
    const tail = new Tail(5);
    const text = "what was said last";
    for (let at = 0; at < text.length; at += size) tail.push(Buffer.from(text.slice(at, at + size)));
    assert.equal(tail.toString(), "last", `in pieces of ${size}`); // and a space before it
  }
});

test("a sign that came before somebody waits for it is not missed", async () => {
  const hints = new Hints();
  const seen = hints.count;
  hints.tick();
  await hints.since(seen, undefined);
  const next = hints.since(hints.count, undefined);
  hints.tick();
  await next;
  await hints.since(hints.count, AbortSignal.abort());
  hints.end();
  await hints.since(hints.count, undefined);
});

test("a feed goes on after a read that may succeed the next time, and ends with any other", async () => {
  const faults = [
    { code: "STORE_BUSY", retryable: true, retryAfterMs: 1 },
    { code: "CURSOR_EXPIRED", retryable: false },
  ] as const;
  const cursors: string[] = [];
  const hints = new Hints();
  const read = async ({ cursor }: { cursor: string }) => {
    cursors.push(cursor);
    const fault = cursors.length === 2 ? undefined : faults[cursors.length === 1 ? 0 : 1];
    if (fault) throw new WaybillError("no", { ...fault, outcome: "not_applied", method: "events_since" });
    const event = { seq: 8, at: "2026-01-01T00:00:00Z", type: "task.created", subject_id: "tsk_1", data: {} };
    return { events: [event], cursor: "8", more: true };
  };
  const events = feed({ hints, read }, Promise.resolve("7"), {});
  assert.equal((await events.next()).value?.seq, 8);
  await assert.rejects(events.next(), { code: "CURSOR_EXPIRED" });
  assert.deepEqual(cursors, ["7", "7", "8"]);
});

test("the waits before the next process grow, have a limit, and end", () => {
  const backoff = new Backoff({ firstDelayMs: 100, maxDelayMs: 300, attempts: 3 });
  const waits = () => Array.from({ length: 4 }, () => backoff.next(1, true));
  const within = (wait: number | undefined, most: number) => assert.ok(wait !== undefined && wait >= most / 2 && wait <= most, `${wait}`);
  const check = ([first, second, third, fourth]: (number | undefined)[]) => {
    within(first, 100);
    within(second, 200);
    within(third, 300);
    assert.equal(fourth, undefined);
  };
  assert.equal(backoff.next(2, true), undefined, "it did not understand its arguments");
  assert.equal(backoff.next(null, false), undefined, "there is no such program");
  check(waits());
  backoff.answered(true);
  check(waits());
  backoff.answered(true);
  within(backoff.next(null, false), 100);
});

test("a process that lives for a while was of use, and one that only answers the greeting was not", () => {
  let now = 0;
  const backoff = new Backoff({ firstDelayMs: 100, attempts: 3 }, () => now);
  const dies = (afterMs: number, useful: boolean) => {
    backoff.began();
    backoff.answered(useful);
    now += afterMs;
    return backoff.next(1, true);
  };
  const firstAgain = (wait: number | undefined) => assert.ok(wait !== undefined && wait <= 100, `${wait}`);
  firstAgain(dies(1, true));
  const [second, third, none] = [dies(9999, false), dies(9999, false), dies(9999, false)];
  assert.ok(second !== undefined && second >= 100 && third !== undefined && third >= 200, `${second} ${third}`);
  assert.equal(none, undefined);
  firstAgain(dies(10_000, false));
  firstAgain(dies(1, true));
  backoff.began();
  assert.ok((backoff.next(2, true) ?? 0) >= 100, "a program that has answered once understands its arguments");
});
