// The same waybill as a server of tools, for agents of VS Code.

import * as vscode from "vscode";

/** Gives a provider of one server: `waybill mcp` in the folder. */
export function servers(folder: vscode.Uri, binary: string): vscode.McpServerDefinitionProvider {
  return {
    provideMcpServerDefinitions() {
      const server = new vscode.McpStdioServerDefinition("waybill", binary, ["mcp", "--workspace", folder.fsPath]);
      server.cwd = folder;
      return [server];
    },
  };
}
