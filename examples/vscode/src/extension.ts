// What VS Code calls. It wires the desk to what a person sees, and knows nothing of the protocol.

import * as vscode from "vscode";
import { bar } from "./bar.js";
import { reply, showFailures } from "./commands.js";
import { Desk } from "./desk.js";
import { servers } from "./mcp.js";

let desk: Desk | undefined;

/** Starts waybill for the first folder of the window. A window without a folder is left alone. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) return;
  const binary = vscode.workspace.getConfiguration("waybill").get<string>("path") || process.env["WAYBILL_BIN"] || "waybill";
  const output = vscode.window.createOutputChannel("waybill");
  const opened = new Desk(folder.uri.fsPath, binary, (line) => output.appendLine(line));
  desk = opened;
  context.subscriptions.push(
    output,
    bar(opened),
    vscode.commands.registerCommand("waybill.reply", () => reply(opened)),
    vscode.commands.registerCommand("waybill.failures", () => showFailures(opened, output)),
    vscode.lm.registerMcpServerDefinitionProvider("waybill", servers(folder.uri, binary)),
  );
  await opened.open();
}

/** Lets waybill go, and waits until it has. */
export async function deactivate(): Promise<void> {
  await desk?.close();
  desk = undefined;
}
