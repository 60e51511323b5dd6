// Calls to the real program, and how they fail.

import assert from "node:assert/strict";
import { test } from "node:test";
import { World, failure, next, patience } from "./world.js";
import type { TaskNote } from "../src/index.js";

test("a call needs no handshake, and the first one starts the program", patience, async (t) => {
  const client = new World(t).client();
  assert.equal(client.pid, undefined);
  assert.deepEqual(await client.call("ping"), { pong: true });
  assert.ok(client.pid);
  const { instruction } = await client.call("queue_instruction", { content: "Grüße, 世界 \u2028 \"quoted\"\n" });
  assert.equal(instruction.content, "Grüße, 世界 \u2028 \"quoted\"\n");
  assert.equal(instruction.state, "queued");
});

test("start opens the store, says where the log is, and works in the workspace that was named", patience, async (t) => {
  const world = new World(t);
  const hello = await world.client().start();
  assert.equal(hello.protocol_version, 1);
  assert.ok(hello.workspace?.root.endsWith("work"));
  assert.ok(hello.cursor);
});

test("an error has its code, its outcome, what to do and the facts", patience, async (t) => {
  const client = new World(t).client();
  const missing = await failure(client.call("get_task", { task_id: "tsk_none" }));
  assert.equal(missing.code, "TASK_NOT_FOUND");
  assert.equal(missing.outcome, "not_applied");
  assert.equal(missing.retryable, false);
  assert.equal(missing.method, "get_task");
  assert.equal(missing.number, 4040);
  assert.equal(missing.idempotencyKey, undefined);
  // @ts-expect-error the compiler refuses it as well
  const unknown = await failure(client.call("create_task", { prompt: "p", promt: "q" }));
  assert.equal(unknown.code, "UNKNOWN_FIELD");
  assert.match(unknown.message, /promt/);
  assert.notDeepEqual(unknown.details, {});
  assert.match(unknown.idempotencyKey ?? "", /^ts-/);
});

test("a change gets a key of its own, and a key that was given stays", patience, async (t) => {
  const client = new World(t).client();
  const one = await client.call("queue_instruction", { content: "same" });
  const two = await client.call("queue_instruction", { content: "same" });
  assert.notEqual(one.instruction.instruction_id, two.instruction.instruction_id);
  const keyed = { content: "once", idempotency_key: "mine" };
  assert.deepEqual(await client.call("queue_instruction", keyed), await client.call("queue_instruction", keyed));
  const clash = await failure(client.call("queue_instruction", { content: "other", idempotency_key: "mine" }));
  assert.equal(clash.code, "IDEMPOTENCY_MISMATCH");
  assert.equal(clash.idempotencyKey, "mine");
});

test("thousands of calls at once are answered, and changes take effect in their order", patience, async (t) => {
  const client = new World(t).client();
  const texts = Array.from({ length: 1500 }, (_, i) => `instruction ${i}`);
  const answers = await Promise.all(texts.map((content) => client.call("queue_instruction", { content })));
  assert.deepEqual(answers.map((answer) => answer.instruction.content), texts);
  const numbers = answers.map((answer) => answer.seq);
  assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
});

test("a message that waybill would not read is not sent", patience, async (t) => {
  const client = new World(t).client();
  const error = await failure(client.call("create_task", { prompt: "x".repeat(9 << 20) }));
  assert.equal(error.code, "MESSAGE_TOO_LARGE");
  assert.equal(error.outcome, "not_applied");
  assert.equal(client.pid, undefined, "nothing was started for it");
});

test("large answers come whole", patience, async (t) => {
  const client = new World(t).client();
  const content = "ü€".repeat(200_000);
  const { instruction } = await client.call("queue_instruction", { content });
  assert.equal(instruction.content, content);
});

test("a waiting claim that is cancelled takes no task", patience, async (t) => {
  const client = new World(t).client();
  const stop = new AbortController();
  const claim = failure(client.call("claim_task", { worker: "a", wait_ms: 25_000 }, { signal: stop.signal }));
  await client.call("ping"); // the claim went ahead of it
  stop.abort();
  const error = await claim;
  assert.equal(error.code, "CANCELLED");
  assert.equal(error.outcome, "not_applied");
  const { task } = await client.call("create_task", { prompt: "p" });
  const { claim: mine } = await client.call("claim_task", { worker: "b" });
  assert.equal(mine?.task.task_id, task.task_id);
});

test("what is cancelled before it is sent is not sent, and what was applied is answered", patience, async (t) => {
  const client = new World(t).client();
  const error = await failure(client.call("queue_instruction", { content: "never" }, { signal: AbortSignal.abort() }));
  assert.equal(error.code, "CANCELLED");
  assert.equal(client.pid, undefined);
  const stop = new AbortController();
  const { instruction } = await client.call("queue_instruction", { content: "once" }, { signal: stop.signal });
  stop.abort();
  const { items } = await client.call("list_instructions");
  assert.deepEqual(items.map((item) => item.instruction_id), [instruction.instruction_id]);
});

test("notifications are heard with their types until nobody listens any more", patience, async (t) => {
  const client = new World(t).client();
  await client.start();
  const heard: TaskNote[] = [];
  const off = client.on("task/updated", (note) => heard.push(note));
  const asked = next<"task/awaiting_response", TaskNote>(client, "task/awaiting_response");
  const { task } = await client.call("create_task", { prompt: "Migrate the loans." });
  const { claim } = await client.call("claim_task", { worker: "w" });
  assert.ok(claim);
  const mine = { task_id: task.task_id, lease_token: claim.lease.token };
  await client.call("finish_attempt", { ...mine, status: "awaiting_response", question: "Keep the old column?" });
  assert.equal((await asked).question, "Keep the old column?");
  assert.ok(heard.length > 0 && heard.every((note) => note.task_id === task.task_id));
  off();
  const before = heard.length;
  const available = next(client, "instruction/available");
  await client.call("reply", { task_id: task.task_id, reply: "Drop it." });
  await client.call("queue_instruction", { content: "behind it" });
  await available; // behind what the reply had to tell
  assert.equal(heard.length, before);
});
