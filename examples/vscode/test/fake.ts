// As much of VS Code as the extension uses. It records what it is told, and a test plays the person.

import type * as vscode from "vscode";

/** What the test sees, and how it answers. */
export const seen = {
  item: undefined as Item | undefined,
  lines: [] as string[],
  warnings: [] as string[],
  commands: new Map<string, (...args: unknown[]) => unknown>(),
  providers: new Map<string, vscode.McpServerDefinitionProvider>(),
  clipboard: "",
  /** What is asked in the input box, and what the person types; undefined is Escape. */
  input: async (_prompt: string): Promise<string | undefined> => undefined,
  /** Which of the items is picked. */
  pick: async (labels: string[]): Promise<string | undefined> => labels[0],
  /** Whether the button of a warning is pressed. */
  press: false,
};

const watchers = new Set<() => void>();

/** Resolves when the status bar fits, which is looked at whenever it changes. */
export function barSays(fits: (text: string) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!fits(seen.item?.text ?? "")) return;
      watchers.delete(look);
      resolve();
    };
    watchers.add(look);
    look();
  });
}

class Item {
  text = "";
  tooltip: string | undefined;
  command: string | undefined;
  disposed = false;
  show(): void {
    for (const look of [...watchers]) look();
  }
  dispose(): void {
    this.disposed = true;
  }
}

export class Disposable {
  readonly #parts: { dispose(): unknown }[];
  private constructor(parts: { dispose(): unknown }[]) {
    this.#parts = parts;
  }
  static from(...parts: { dispose(): unknown }[]): Disposable {
    return new Disposable(parts);
  }
  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class McpStdioServerDefinition {
  cwd: unknown;
  constructor(readonly label: string, readonly command: string, readonly args: string[]) {}
}

export const StatusBarAlignment = { Left: 1 };

export const workspace = {
  workspaceFolders: undefined as { uri: { fsPath: string } }[] | undefined,
  getConfiguration: (_section: string) => ({ get: (_name: string) => "" }),
};

export const window = {
  createOutputChannel: (_name: string) => ({ appendLine: (line: string) => void seen.lines.push(line), show() {}, dispose() {} }),
  createStatusBarItem: () => (seen.item = new Item()),
  showInputBox: async (options: vscode.InputBoxOptions) => {
    const typed = await seen.input(options.prompt ?? "");
    if (typed !== undefined && options.validateInput?.(typed)) throw new Error(`the box does not take ${JSON.stringify(typed)}`);
    return typed;
  },
  showQuickPick: async <T extends { label: string }>(items: T[]) => {
    const picked = await seen.pick(items.map((item) => item.label));
    return items.find((item) => item.label === picked);
  },
  showInformationMessage: async (text: string) => void seen.warnings.push(text),
  showWarningMessage: async (text: string, button?: string) => {
    seen.warnings.push(text);
    return seen.press ? button : undefined;
  },
};

export const commands = {
  registerCommand(name: string, run: (...args: unknown[]) => unknown) {
    seen.commands.set(name, run);
    return { dispose: () => void seen.commands.delete(name) };
  },
};

export const env = { clipboard: { writeText: async (text: string) => void (seen.clipboard = text) } };

export const lm = {
  registerMcpServerDefinitionProvider(id: string, provider: vscode.McpServerDefinitionProvider) {
    seen.providers.set(id, provider);
    return { dispose: () => void seen.providers.delete(id) };
  },
};
