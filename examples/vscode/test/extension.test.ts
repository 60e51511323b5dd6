// The extension, with the real program as its child and a fake of VS Code around it.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, test } from "node:test";
import type { ExtensionContext } from "vscode";
import { Waybill, WaybillError } from "waybill-client";
import { Desk, type Look } from "../src/desk.js";
import { activate, deactivate } from "../src/extension.js";
import { barSays, seen, workspace } from "./fake.js";

const patience = { timeout: 180_000 };
const home = mkdtempSync(join(tmpdir(), "waybill-vscode-"));
const subscriptions: { dispose(): unknown }[] = [];
let worker: Waybill;
let folders = 0;

after(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

// Each test has a workspace of its own, in which a worker runs beside the window.
beforeEach(async () => {
  process.env["XDG_STATE_HOME"] = join(home, "state");
  const folder = mkdtempSync(join(home, `${folders++}-`));
  writeFileSync(join(folder, "tasks.md"), "- [ ] 1 Cut the face\n");
  workspace.workspaceFolders = [{ uri: { fsPath: folder } }];
  Object.assign(seen, { lines: [], warnings: [], press: false, clipboard: "" });
  worker = new Waybill({ workspace: folder });
  await activate({ subscriptions } as unknown as ExtensionContext);
});

afterEach(async () => {
  for (const part of subscriptions.splice(0)) part.dispose();
  await Promise.all([deactivate(), worker.close()]);
});

/** A task of the worker that asks something. */
async function ask(question: string): Promise<string> {
  const { task } = await worker.call("create_task", { prompt: "Migrate the loans.", description: `about ${question}` });
  await finish(task.task_id, { status: "awaiting_response", question });
  return task.task_id;
}

async function finish(task_id: string, report: { status: "awaiting_response" | "error"; question?: string; error?: { message: string; class: "terminal" } }) {
  const { claim } = await worker.call("claim_task", { worker: "w", wait_ms: 25_000 });
  assert.equal(claim?.task.task_id, task_id);
  await worker.call("finish_attempt", { task_id, lease_token: claim.lease.token, ...report });
}

function runningPid(): number {
  const said = seen.lines.map((line) => /runs as process (\d+)/.exec(line)?.[1]).find((pid) => pid);
  return Number(said ?? assert.fail(seen.lines.join("\n")));
}

function run(command: string): Promise<unknown> {
  return Promise.resolve(seen.commands.get(command)?.());
}

test("a question is in the status bar, its answer goes through the input box, and the task goes on", patience, async () => {
  assert.equal(seen.item?.text, "waybill");
  const task_id = await ask("Keep the old column?");
  await barSays((text) => text.includes("$(comment-discussion) 1"));
  assert.equal(seen.item?.tooltip, "Keep the old column?");
  assert.equal(seen.item?.command, "waybill.reply");
  seen.input = async (prompt) => (prompt === "Keep the old column?" ? "Drop it." : assert.fail(prompt));
  await run("waybill.reply");
  await barSays((text) => text === "waybill");
  const { claim } = await worker.call("claim_task", { worker: "w" });
  assert.equal(claim?.task.task_id, task_id);
  assert.ok(claim.continuation);
  assert.match(claim.prompt, /Drop it\./);
  assert.ok(seen.lines.some((line) => line.includes("task.created")), "the output has the log");
});

test("of several questions the person says which, and Escape answers none", patience, async () => {
  await ask("First?");
  const second = await ask("Second?");
  await barSays((text) => text.includes("$(comment-discussion) 2"));
  seen.pick = async (labels) => labels.find((label) => label === "Second?");
  seen.input = async () => undefined;
  await run("waybill.reply");
  assert.equal((await worker.call("list_awaiting")).items.length, 2);
  seen.input = async () => "To the second.";
  await run("waybill.reply");
  await barSays((text) => text.includes("$(comment-discussion) 1"));
  assert.equal((await worker.call("get_task", { task_id: second })).task.user_reply, "To the second.");
});

test("an answer that comes too late is given back", patience, async () => {
  const task_id = await ask("Keep the old column?");
  await barSays((text) => text.includes("$(comment-discussion) 1"));
  seen.press = true;
  seen.input = async () => {
    await worker.call("reply", { task_id, reply: "Keep it." });
    await worker.call("claim_task", { worker: "w" });
    return "Drop it.";
  };
  await run("waybill.reply");
  assert.deepEqual(seen.warnings, ["Somebody else has answered."]);
  assert.equal(seen.clipboard, "Drop it.");
});

test("what has failed is counted until it is dismissed", patience, async () => {
  const { task } = await worker.call("create_task", { prompt: "p" });
  await finish(task.task_id, { status: "error", error: { message: "no such model", class: "terminal" } });
  await barSays((text) => text.includes("$(warning) 1"));
  await run("waybill.failures");
  assert.ok(seen.lines.some((line) => line.includes("no such model")));
  assert.match(seen.item?.text ?? "", /warning/, "looking at it is not dismissing it");
  seen.press = true;
  await run("waybill.failures");
  await barSays((text) => text === "waybill");
});

test("a window whose waybill is killed says so in the status bar, and sees what was asked meanwhile", patience, async () => {
  const said = barSays((text) => text === "$(error) waybill");
  process.kill(runningPid(), "SIGKILL");
  await said;
  assert.match(seen.item?.tooltip ?? "", /waybill has gone \(SIGKILL\) and is started again/);
  await ask("Still there?");
  await barSays((text) => text.includes("$(comment-discussion) 1"));
});

test("a look that failed because the store was busy is tried again, also if nothing happens", patience, async (t) => {
  const desk = new Desk(workspace.workspaceFolders?.[0]?.uri.fsPath ?? assert.fail(), process.env["WAYBILL_BIN"] ?? "waybill", () => {});
  t.after(() => desk.close());
  await ask("Keep the old column?");
  await desk.open();
  const call = desk.waybill.call.bind(desk.waybill);
  desk.waybill.call = async () => {
    desk.waybill.call = call;
    throw new WaybillError("another process writes", { code: "STORE_BUSY", retryable: true, retryAfterMs: 1, outcome: "not_applied", method: "list_awaiting" });
  };
  const again = new Promise<Look>((resolve) => desk.watch((look) => look.trouble === undefined && resolve(look)));
  await desk.refresh();
  assert.equal(desk.look.trouble, "another process writes");
  assert.equal((await again).questions[0]?.question, "Keep the old column?");
});

test("a program that is not there is named with the setting that names it, and not with an option of the client", patience, async (t) => {
  const desk = new Desk(workspace.workspaceFolders?.[0]?.uri.fsPath ?? assert.fail(), "/nowhere/waybill", () => {});
  t.after(() => desk.close());
  await desk.open();
  assert.equal(desk.look.trouble, "/nowhere/waybill could not be started; set waybill.path in the settings to the path of the program");
});

test("agents get waybill as a server of tools for the same folder", patience, async () => {
  const provider = seen.providers.get("waybill");
  const servers = await provider?.provideMcpServerDefinitions(undefined as never);
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath;
  const expected = { label: "waybill", command: process.env["WAYBILL_BIN"], args: ["mcp", "--workspace", folder], cwd: { fsPath: folder } };
  assert.deepEqual((servers ?? []).map((server) => ({ ...server })), [expected]);
});

test("what the manifest names is there", patience, () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const names = (list: { command?: string; id?: string }[]) => list.map((entry) => entry.command ?? entry.id).sort();
  assert.deepEqual(names(manifest.contributes.commands), [...seen.commands.keys()].sort());
  assert.deepEqual(names(manifest.contributes.mcpServerDefinitionProviders), [...seen.providers.keys()]);
});

test("deactivating leaves no process", patience, async () => {
  const pid = runningPid();
  await deactivate();
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});

test("a window without a folder is left alone", patience, async () => {
  await deactivate();
  workspace.workspaceFolders = undefined;
  const before = seen.item;
  await activate({ subscriptions } as unknown as ExtensionContext);
  assert.equal(seen.item, before);
});
