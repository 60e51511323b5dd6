// A client that goes on when its program dies.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Event, ProcessMap } from "../src/index.js";
import { World, failure, kill, next, patience, standStill } from "./world.js";

const restart = { firstDelayMs: 1 };

test("calls in hand while the program is killed take effect once, in their order, and no event is missed or given twice", patience, async (t) => {
  const client = new World(t).client({ restart });
  await client.start();
  const [rounds, each] = [5, 60];
  const feed = client.events({ cursor: "0", types: ["instruction.queued"] });
  const created: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const calls = Array.from({ length: each }, () => client.call("queue_instruction", { content: "equal" }));
    await calls[0];
    const successor = next<"started", ProcessMap["started"]>(client, "started");
    kill(client);
    created.push(...(await Promise.all(calls)).map((answer) => answer.instruction.instruction_id));
    assert.equal((await successor).restarts, round + 1);
  }
  assert.equal(new Set(created).size, rounds * each);
  const seen: Event[] = [];
  for await (const event of feed) {
    seen.push(event);
    if (seen.length === created.length) break;
  }
  assert.deepEqual(seen.map((event) => event.subject_id), created);
});

test("a feed that waits is woken by what another process does while its own is dead", patience, async (t) => {
  const world = new World(t);
  const other = world.client();
  await other.start();
  const client = world.client({ restart });
  const feed = client.events({ cursor: "0" });
  const first = feed.next();
  await other.call("queue_instruction", { content: "before" });
  assert.equal((await first).value?.seq, 1);
  const second = feed.next();
  const gone = next(client, "exited");
  kill(client);
  await gone;
  await other.call("queue_instruction", { content: "meanwhile" });
  assert.equal((await second).value?.seq, 2);
});

test("a claim that waits goes on waiting in the next process", patience, async (t) => {
  const client = new World(t).client({ restart });
  await client.start();
  const claim = client.call("claim_task", { worker: "w", wait_ms: 25_000 });
  await client.call("ping");
  const successor = next(client, "started");
  kill(client);
  await successor;
  const { task } = await client.call("create_task", { prompt: "p" });
  assert.equal((await claim).claim?.task.task_id, task.task_id);
});

test("what was handed out and got lost is handed out again and counts once", patience, async (t) => {
  const world = new World(t);
  const client = world.faulty("loses=dispatch_instructions", { restart });
  await client.call("queue_instruction_with_ack", { content: "Run the tests." });
  const { instructions } = await client.call("dispatch_instructions");
  assert.deepEqual(instructions.map(({ text, send }) => ({ text, send })), [{ text: "Run the tests.", send: 1 }]);
  const { items } = await client.call("list_instructions");
  assert.equal(items[0]?.sends, 1);
});

test("a claim whose answer was lost is the same claim", patience, async (t) => {
  const world = new World(t);
  const client = world.faulty("loses=claim_task", { restart });
  const { task } = await client.call("create_task", { prompt: "p" });
  const { claim } = await client.call("claim_task", { worker: "w" });
  assert.equal(claim?.attempt.attempt_number, 1);
  const report = await client.call("finish_attempt", { task_id: task.task_id, lease_token: claim.lease.token, status: "completed", output: "done" });
  assert.equal(report.applied, true);
});

test("the next process is told what the one before was told, and notifies by itself", patience, async (t) => {
  const world = new World(t);
  const client = world.homeless({ cwd: "/", restart });
  await client.call("initialize", { workspace_folders: [{ uri: pathToFileURL(world.workspace).href }] });
  const { workspace } = await client.call("get_status");
  const gone = next(client, "exited");
  kill(client);
  await gone;
  let told = false;
  client.on("task/updated", () => (told = true));
  const other = world.client();
  while (!told) await other.call("create_task", { prompt: "from elsewhere" }); // nothing is called here meanwhile
  assert.deepEqual((await client.call("get_status")).workspace, workspace);
});

test("work that a leaving process refuses is done by the next one", patience, async (t) => {
  const world = new World(t);
  const client = world.faulty("leaves=create_task", { restart });
  await client.start();
  const exited = next<"exited", ProcessMap["exited"]>(client, "exited");
  const calls = Array.from({ length: 100 }, (_, i) => client.call("create_task", { prompt: `${i}` }));
  const seqs = (await Promise.all(calls)).map((answer) => answer.seq);
  assert.deepEqual(seqs, [...seqs].sort((a, b) => a - b));
  assert.equal((await exited).code, 0);
  const alone = await failure(new World(t).faulty("leaves=create_task").call("create_task", { prompt: "p" }));
  assert.equal(alone.code, "SHUTTING_DOWN");
});

test("a process that is asked to leave by the system is followed by another", patience, async (t) => {
  const client = new World(t).client({ restart });
  await client.start();
  const exited = next<"exited", ProcessMap["exited"]>(client, "exited");
  process.kill(client.pid ?? assert.fail(), "SIGTERM");
  const answers = Array.from({ length: 100 }, (_, i) => client.call("queue_instruction", { content: `${i}` }));
  const seqs = (await Promise.all(answers)).map((answer) => answer.seq);
  assert.deepEqual(seqs, [...seqs].sort((a, b) => a - b));
  assert.ok((await exited).restartMs !== undefined);
});

test("a host that does not read for so long that the program leaves gets its answers from the next one", patience, async (t) => {
  const client = new World(t).client({ restart });
  await client.call("queue_instruction", { content: "x".repeat(1 << 20) });
  const exited = next<"exited", ProcessMap["exited"]>(client, "exited");
  const calls = Array.from({ length: 20 }, () => client.call("list_instructions"));
  await new Promise(setImmediate); // the calls are written
  standStill(client.pid ?? assert.fail());
  for (const { items } of await Promise.all(calls)) assert.equal(items[0]?.content.length, 1 << 20);
  assert.notEqual((await exited).restartMs, undefined);
});

test("a program that always dies is given up", patience, async (t) => {
  const client = new World(t).faulty("dies", { restart: { firstDelayMs: 1, attempts: 2 } });
  let starts = 0;
  client.on("started", () => starts++);
  const error = await failure(client.call("create_task", { prompt: "p" }));
  assert.equal(error.code, "CONNECTION_LOST");
  assert.equal(starts, 3);
});

test("a program that always dies behind the greeting is given up, also where a feed is read", patience, async (t) => {
  const client = new World(t).faulty("answers-only=events_since", { restart: { firstDelayMs: 1, attempts: 3 } });
  let starts = 0;
  client.on("started", () => starts++);
  const end = next<"exited", ProcessMap["exited"]>(client, "exited", ({ restartMs }) => restartMs === undefined);
  const { cursor } = await client.start();
  await assert.rejects(client.events({ cursor }).next(), { code: "CONNECTION_LOST" });
  assert.notEqual((await end).code, 0);
  assert.equal(starts, 4);
});

test("a cancelled call is not sent again", patience, async (t) => {
  const client = new World(t).faulty("ignores=$/cancelRequest", { restart });
  await client.start();
  const stop = new AbortController();
  const claim = failure(client.call("claim_task", { worker: "w", wait_ms: 25_000 }, { signal: stop.signal }));
  await client.call("ping");
  stop.abort();
  kill(client);
  const error = await claim;
  assert.equal(error.code, "CONNECTION_LOST");
  assert.equal(error.outcome, "unknown");
  assert.match(error.idempotencyKey ?? "", /^ts-/);
});

test("closing while the next process is waited for ends everything", patience, async (t) => {
  const client = new World(t).client({ restart: { firstDelayMs: 3_600_000, maxDelayMs: 3_600_000 } });
  await client.start();
  const gone = next(client, "exited");
  kill(client);
  await gone;
  const call = failure(client.call("create_task", { prompt: "p" }));
  await client.close();
  assert.equal((await call).code, "CLOSED");
  assert.equal((await call).outcome, "not_applied");
});
