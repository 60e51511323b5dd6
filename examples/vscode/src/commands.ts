// What a person can do.

import * as vscode from "vscode";
import { WaybillError, type Awaiting } from "waybill-client";
import type { Desk } from "./desk.js";

/** Lets a person answer a question; with several, the person says which. Of many answers the first wins. */
export async function reply(desk: Desk): Promise<void> {
  const asked = await choose(desk.look.questions);
  if (!asked) return;
  const answer = await vscode.window.showInputBox({
    title: asked.description ?? "waybill: Reply",
    prompt: asked.question,
    ignoreFocusOut: true,
    validateInput: (value) => (value.trim() === "" ? "An answer has to say something." : undefined),
  });
  if (answer === undefined) return;
  try {
    await desk.waybill.call("reply", { task_id: asked.task_id, attempt_id: asked.attempt_id, reply: answer, by: "vscode" });
  } catch (error) {
    await say(error, answer);
  }
  await desk.refresh();
}

async function choose(questions: readonly Awaiting[]): Promise<Awaiting | undefined> {
  if (questions.length === 0) {
    await vscode.window.showInformationMessage("No agent asks anything.");
    return undefined;
  }
  if (questions.length === 1) return questions[0];
  const items = questions.map((asked) => ({ label: asked.question, detail: asked.description ?? asked.task_id, asked }));
  const chosen = await vscode.window.showQuickPick(items, { title: "waybill: Reply", placeHolder: "Which question?" });
  return chosen?.asked;
}

/** Says why an answer was not taken, and gives it back: it was typed once, and that is enough. */
async function say(error: unknown, answer: string): Promise<void> {
  const why = error instanceof WaybillError && error.code === "ALREADY_RESOLVED"
    ? "Somebody else has answered."
    : String(error instanceof Error ? error.message : error);
  const copy = "Copy My Answer";
  if ((await vscode.window.showWarningMessage(why, copy)) === copy) await vscode.env.clipboard.writeText(answer);
}

/** Prints what has failed, and forgets it if the person says so. */
export async function showFailures(desk: Desk, output: vscode.OutputChannel): Promise<void> {
  const failures = desk.look.failures.slice(0, 500); // as many as waybill forgets at once
  for (const notice of failures) output.appendLine(`${notice.created_at}  ${notice.text}`);
  output.show(true);
  if (failures.length === 0) return;
  const dismiss = "Dismiss";
  const chosen = await vscode.window.showWarningMessage(`${failures.length} failed: see the output.`, dismiss);
  if (chosen !== dismiss) return;
  await desk.waybill.call("consume_notices", { notice_ids: failures.map((notice) => notice.notice_id) });
  await desk.refresh();
}
