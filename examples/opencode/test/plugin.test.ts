// The plugin, with the real program as its child.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolPart } from "@opencode-ai/sdk";
import { Host, patience } from "./host.js";

const ackOn = { event_type: "tool.execute.after", match: { tool: "bash", "args.command": "npm test", "metadata.exit": 0 } };

test("an instruction is given to the session when it is idle, reminded of, and acknowledged by the tool that it wants", patience, async (t) => {
  const host = await Host.start(t);
  await host.other.call("queue_instruction_with_ack", { content: "Run the tests.", session_id: "ses_1", ack_on: ackOn });
  host.status("ses_1", "busy");
  host.status("ses_1", "idle");
  await host.until(() => host.prompts.length === 1);
  assert.deepEqual(host.prompts[0], { session: "ses_1", texts: ["Run the tests."] });

  host.status("ses_1", "busy");
  await host.ran("bash", { command: "npm test" }, { exit: 1 });
  host.status("ses_1", "idle");
  await host.until(() => host.prompts.length === 2);
  assert.match(host.prompts[1]?.texts[0] ?? "", /REMINDER.*Run the tests\./);

  host.status("ses_1", "busy");
  await host.ran("bash", { command: "npm test" }, { exit: 0 }, "ok", "call/2");
  const { items } = await host.other.call("list_instructions");
  assert.equal(items[0]?.state, "acknowledged");
  assert.equal(items[0]?.acknowledged_by, "event");
  assert.equal(items[0]?.sends, 2);
});

test("an idle session gets its instructions at once, a working one none", patience, async (t) => {
  const host = await Host.start(t);
  host.repeats = true;
  host.status("ses_1", "busy");
  host.status("ses_1", "idle");
  host.status("ses_2", "busy");
  await host.other.call("queue_instruction", { content: "for two", session_id: "ses_2" });
  await host.other.call("queue_instruction", { content: "for one", session_id: "ses_1" });
  await host.until(() => host.prompts.length === 1);
  assert.deepEqual(host.prompts[0], { session: "ses_1", texts: ["for one"] });
  host.status("ses_1", "busy");
  await host.other.call("queue_instruction", { content: "later", session_id: "ses_1" });
  host.status("ses_2", "idle");
  await host.until(() => host.prompts.length === 2);
  assert.deepEqual(host.prompts[1], { session: "ses_2", texts: ["for two"] });
  host.status("ses_1", "idle");
  await host.until(() => host.prompts.length === 3);
  assert.deepEqual(host.prompts[2], { session: "ses_1", texts: ["later"] });
});

test("an OpenCode that only says when a session is idle", patience, async (t) => {
  const host = await Host.start(t);
  for (const content of ["one", "two"]) {
    await host.other.call("queue_instruction", { content, session_id: "ses_1" });
    host.tell({ type: "session.idle", properties: { sessionID: "ses_1" } });
    await host.until(() => host.prompts.at(-1)?.texts[0] === content);
  }
  assert.equal(host.prompts.length, 2);
});

test("what OpenCode does not take uses up no send", patience, async (t) => {
  const host = await Host.start(t);
  host.takes = () => false;
  await host.other.call("queue_instruction_with_ack", { content: "kept", session_id: "ses_1" });
  host.status("ses_1", "busy");
  host.status("ses_1", "idle");
  await host.until(() => host.log.some((line) => line.includes("instructions for ses_1")));
  assert.equal((await host.other.call("list_instructions")).items[0]?.sends, 0);
  host.takes = () => true;
  host.status("ses_1", "idle");
  await host.until(() => host.prompts.length === 1);
  assert.deepEqual(host.prompts[0]?.texts, ["kept"]);
  assert.equal((await host.other.call("list_instructions")).items[0]?.sends, 1);
});

test("a session that is idle again while its prompt is being refused gets another one", patience, async (t) => {
  const host = await Host.start(t);
  host.takes = () => {
    host.takes = () => true;
    host.status("ses_1", "idle");
    return false;
  };
  host.status("ses_1", "idle");
  await host.ran("bash", {}, {}); // by then the plugin has seen that nothing waits
  await host.other.call("queue_instruction", { content: "kept", session_id: "ses_1" });
  await host.until(() => host.prompts.length === 1);
  assert.deepEqual(host.prompts[0]?.texts, ["kept"]);
});

test("a turn that a person begins carries what waits", patience, async (t) => {
  const host = await Host.start(t);
  for (const content of ["one", "two"]) await host.other.call("queue_instruction", { content, session_id: "ses_1" });
  await host.prompt("ses_1");
  assert.deepEqual(host.prompts, [{ session: "ses_1", texts: ["one", "two"] }]);
});

test("an instruction without a send left fails when its session is idle, and no turn is begun for that", patience, async (t) => {
  const host = await Host.start(t);
  await host.other.call("queue_instruction_with_ack", { content: "c", session_id: "ses_1", max_retries: 0 });
  await host.prompt("ses_1");
  const posted = new Promise<void>((resolve) => host.other.on("notice/posted", () => resolve()));
  host.status("ses_1", "idle");
  await posted;
  assert.equal((await host.other.call("list_instructions")).items[0]?.state, "failed");
  assert.equal(host.prompts.length, 1);
});

test("a tool that fails is told of once, however often OpenCode tells of it", patience, async (t) => {
  const host = await Host.start(t);
  const wanted = { event_type: "tool.error", match: { tool: "edit" } };
  const queued = await host.other.call("queue_instruction_with_ack", { content: "c", session_id: "ses_1", ack_on: wanted });
  const state = { status: "error" as const, input: { filePath: "a.txt" }, error: "no such file", time: { start: 1, end: 2 } };
  const part: ToolPart = { id: "p", sessionID: "ses_1", messageID: "m", type: "tool", callID: "c", tool: "edit", state };
  const event = { type: "message.part.updated" as const, properties: { part } };
  await Promise.all([host.hooks.event?.({ event }), host.hooks.event?.({ event })]);
  const { items } = await host.other.call("list_instructions", { instruction_id: queued.instruction_id });
  assert.equal(items[0]?.state, "acknowledged");
  assert.deepEqual(host.log.filter((line) => line.includes("Error")), []);
});

test("large output and halves of characters are told of all the same", patience, async (t) => {
  const host = await Host.start(t);
  await host.other.call("queue_instruction_with_ack", { content: "c", session_id: "ses_1", ack_on: { event_type: "tool.execute.after" } });
  await host.ran("read", { filePath: "\ud800" }, {}, "x".repeat(8191) + "😀".repeat(1 << 20));
  assert.equal((await host.other.call("list_instructions")).items[0]?.state, "acknowledged");
});

test("without waybill OpenCode works on", patience, async (t) => {
  const binary = process.env["WAYBILL_BIN"] ?? assert.fail();
  process.env["WAYBILL_BIN"] = "/nowhere/waybill";
  t.after(() => (process.env["WAYBILL_BIN"] = binary));
  const host = await Host.start(t);
  host.status("ses_1", "idle");
  await host.ran("bash", { command: "ls" }, { exit: 0 });
  await host.until(() => host.log.some((line) => line.includes("could not be started")));
});
