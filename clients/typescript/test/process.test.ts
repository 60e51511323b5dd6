// What a program can do to its client.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import type { ProcessMap } from "../src/index.js";
import { World, ended, failure, kill, next, patience, runs } from "./world.js";

test("a program that is not there", patience, async (t) => {
  for (const restart of [false, true]) {
    const client = new World(t).client({ binary: "/nowhere/waybill", restart });
    const error = await failure(client.call("create_task", { prompt: "p" }));
    assert.equal(error.code, "NOT_STARTED");
    assert.equal(error.outcome, "not_applied");
    assert.match(error.message, /WAYBILL_BIN/);
    assert.equal((await failure(client.call("ping"))).code, "NOT_STARTED");
    await client.close();
  }
});

test("what cannot be given to a program at all", patience, async (t) => {
  const client = new World(t).client({ args: ["a\0b"] });
  assert.equal((await failure(client.call("ping"))).code, "NOT_STARTED");
});

test("arguments that the program does not know are said once, with its words", patience, async (t) => {
  const world = new World(t);
  const client = world.client({ args: ["--nonsense"], restart: true });
  const error = await failure(client.call("ping"));
  assert.equal(error.code, "CONNECTION_LOST");
  assert.equal(error.details["exit_code"], 2);
  assert.match(error.message, /nonsense/);
});

test("what is no message is passed over", patience, async (t) => {
  const client = new World(t).faulty("garbage");
  const heard: string[] = [];
  client.on("garbage", ({ text }) => heard.push(text));
  assert.deepEqual(await client.call("ping"), { pong: true });
  assert.equal((await client.call("queue_instruction", { content: "c" })).instruction.content, "c");
  assert.deepEqual(heard.slice(0, 4), ["Debugger attached.", "[1]", '"text"', '{"half":']);
  assert.match(heard[4] ?? "", /999999/);
});

test("a line without an end is not held", patience, async (t) => {
  const client = new World(t).faulty("endless", { maxMessageBytes: 1 << 20 });
  const garbage = next<"garbage", { text: string }>(client, "garbage");
  const error = await failure(client.call("ping"));
  assert.equal(error.code, "CONNECTION_LOST");
  assert.match((await garbage).text, /1048576/);
});

test("the death of the program leaves calls unknown, and nothing can be called any more", patience, async (t) => {
  const client = new World(t).client();
  await client.start();
  const exited = next<"exited", ProcessMap["exited"]>(client, "exited");
  const claim = failure(client.call("claim_task", { worker: "w", wait_ms: 25_000 }));
  await client.call("ping");
  kill(client);
  const lost = await claim;
  assert.equal(lost.code, "CONNECTION_LOST");
  assert.equal(lost.outcome, "unknown");
  assert.equal(lost.idempotencyKey, undefined, "what was handed out is to be taken back");
  assert.equal(lost.details["signal"], "SIGKILL");
  assert.equal((await exited).restartMs, undefined);
  const later = await failure(client.call("create_task", { prompt: "p" }));
  assert.equal(later.code, "CONNECTION_LOST");
  assert.equal(later.outcome, "not_applied");
});

test("a call whose answer was lost takes effect once under its key, from another client as well", patience, async (t) => {
  const world = new World(t);
  const error = await failure(world.faulty("loses=create_task").call("create_task", { prompt: "once" }));
  assert.equal(error.outcome, "unknown");
  assert.ok(error.idempotencyKey);
  const other = world.client();
  const { task } = await other.call("create_task", { prompt: "once", idempotency_key: error.idempotencyKey });
  const { items } = await other.call("list_tasks");
  assert.deepEqual(items.map((item) => item.task_id), [task.task_id]);
});

test("of what goes to standard error the end is kept", patience, async (t) => {
  const error = await failure(new World(t).faulty("dies").call("ping"));
  const said = String(error.details["stderr"]);
  assert.ok(said.endsWith("the last word"));
  assert.ok(said.length <= 8 << 10);
});

test("close lets the program go, with its waiting calls, and leaves no process", patience, async (t) => {
  const client = new World(t).client();
  await client.start();
  const claim = client.call("claim_task", { worker: "w", wait_ms: 25_000 }).then(() => "settled", () => "settled");
  const exited = next<"exited", ProcessMap["exited"]>(client, "exited");
  const pid = client.pid ?? assert.fail();
  await Promise.all([client.close(), client.close()]);
  assert.equal(await claim, "settled");
  assert.deepEqual(await exited.then(({ code, signal }) => ({ code, signal })), { code: 0, signal: null });
  assert.equal(runs(pid), false);
  assert.equal((await failure(client.call("ping"))).code, "CLOSED");
});

test("what is in hand when the client is closed is answered", patience, async (t) => {
  const client = new World(t).client();
  await client.start();
  const answers = Array.from({ length: 200 }, (_, i) => client.call("queue_instruction", { content: `${i}` }));
  await client.close();
  assert.equal((await Promise.all(answers)).length, 200);
});

test("a program that does not notice the end of its input is killed", patience, async (t) => {
  const client = new World(t).faulty("deaf", { graceMs: 1 });
  const call = failure(client.call("ping"));
  const pid = client.pid ?? assert.fail();
  await client.close();
  assert.equal((await call).code, "CONNECTION_LOST");
  assert.equal(runs(pid), false);
});

test("a process that only is a guest's host may end, and its waybill leaves", patience, async (t) => {
  const world = new World(t);
  const guest = `
    const { Waybill } = await import(${JSON.stringify(new URL("../src/index.js", import.meta.url).href)});
    const client = new Waybill({ workspace: ${JSON.stringify(world.workspace)}, restart: true, unref: true });
    client.on("started", ({ pid }) => console.log(pid));
    client.start().then(() => client.events().next());
    const busy = setInterval(() => client.call("ping").then(() => clearInterval(busy)), 10);`;
  const host = spawnSync(process.execPath, ["--input-type=module", "--eval", guest], { env: { ...process.env, ...world.env }, encoding: "utf8", ...patience });
  assert.equal(host.status, 0, host.stderr);
  await ended(Number(host.stdout));
});

test("a client that called nothing is closed at once", patience, async (t) => {
  const client = new World(t).client();
  await client.close();
  assert.equal((await failure(client.call("ping"))).code, "CLOSED");
});
