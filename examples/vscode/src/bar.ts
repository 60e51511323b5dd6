// The item in the status bar.

import * as vscode from "vscode";
import type { Desk, Look } from "./desk.js";

/** Gives an item that says how many questions wait and how many things have failed. A click answers, or shows them. */
export function bar(desk: Desk): vscode.Disposable {
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  item.name = "waybill";
  const show = (look: Look) => {
    item.text = text(look);
    item.tooltip = look.trouble ?? look.questions.map((asked) => asked.question).join("\n");
    item.command = look.questions.length > 0 ? "waybill.reply" : "waybill.failures";
    item.backgroundColor = look.questions.length > 0 ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    item.show();
  };
  show(desk.look);
  return vscode.Disposable.from(item, { dispose: desk.watch(show) });
}

function text({ questions, failures, trouble }: Look): string {
  if (trouble !== undefined) return "$(error) waybill";
  const parts = ["waybill"];
  if (questions.length > 0) parts.push(`$(comment-discussion) ${questions.length}`);
  if (failures.length > 0) parts.push(`$(warning) ${failures.length}`);
  return parts.join(" ");
}
