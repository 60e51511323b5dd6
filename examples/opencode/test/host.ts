// OpenCode as a plugin sees it: a server that its client talks to, and hooks that are called.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Hooks, PluginInput } from "@opencode-ai/plugin";
import { createOpencodeClient, type Event, type Part, type SessionStatus, type UserMessage } from "@opencode-ai/sdk";
import { Waybill } from "waybill-client";
import * as plugin from "../src/plugin.js";

export const patience = { timeout: 180_000 };

export class Host {
  /** What sessions were given, in order. */
  readonly prompts: { session: string; texts: string[] }[] = [];
  readonly log: string[] = [];
  /** Whether a prompt is taken. */
  takes = (): boolean => true;
  /** Whether a session is called idle once more when its prompt is taken, before the turn begins. */
  repeats = false;
  /** What OpenCode says of a session. */
  session: { parentID?: string } = {};
  hooks!: Hooks;
  /** Another host of the same workspace, which queues instructions. */
  readonly other: Waybill;
  readonly #server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk)).on("end", () => {
      const url = request.url ?? "";
      const status = request.method === "GET" ? 200 : this.#serve(url, JSON.parse(body));
      const text = request.method === "GET" ? JSON.stringify({ id: "ses_1", ...this.session }) : status === 200 ? "true" : status === 204 ? undefined : "{}";
      response.writeHead(status, { "content-type": "application/json" }).end(text);
      this.#changed();
    });
  });
  readonly #waiting = new Set<() => void>();

  private constructor(readonly folder: string) {
    this.other = new Waybill({ workspace: folder });
  }

  static async start(t: TestContext): Promise<Host> {
    const home = mkdtempSync(join(tmpdir(), "waybill-opencode-"));
    process.env["XDG_STATE_HOME"] = join(home, "state");
    writeFileSync(join(home, "tasks.md"), "- [ ] 1 Cut the face\n");
    const host = new Host(home);
    await host.#load();
    t.after(async () => {
      await Promise.all([host.hooks.dispose?.(), host.other.close()]);
      host.#server.closeAllConnections();
      host.#server.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    });
    return host;
  }

  // OpenCode calls every export of a module as a plugin.
  async #load(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    const input = { client: createOpencodeClient({ baseUrl }), directory: this.folder, worktree: "/" } as unknown as PluginInput;
    const loaded = await Promise.all(Object.values(plugin).map((init) => init(input)));
    assert.equal(loaded.length, 1);
    this.hooks = loaded[0] ?? assert.fail();
  }

  #serve(url: string, body: { message?: string }): number {
    const session = /^\/session\/([^/]+)\/prompt_async/.exec(url)?.[1];
    if (!session) {
      this.log.push(body.message ?? url);
      return 200;
    }
    if (!this.takes()) return 400;
    void (this.repeats ? this.idleAgain(session) : this.prompt(session));
    return 204;
  }

  /** Calls the session idle once more. The turn begins when the plugin has heard that and waybill answered it since. */
  async idleAgain(session: string): Promise<void> {
    this.status(session, "idle");
    await this.ran("bash", {}, {});
    await this.prompt(session);
  }

  /** A turn begins: OpenCode calls the hook with the message, and then tells that the session works. */
  async prompt(session: string): Promise<void> {
    const parts: Part[] = [{ id: "prt_1", sessionID: session, messageID: "msg_1", type: "text", text: "" }];
    await this.hooks["chat.message"]?.({ sessionID: session }, { message: { id: "msg_1" } as UserMessage, parts });
    this.prompts.push({ session, texts: parts.slice(1).map((part) => (part.type === "text" ? part.text : part.type)) });
    assert.deepEqual(parts.map((part) => part.id), parts.map((part) => part.id).sort());
    this.#changed();
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** Resolves when what the server has heard fits. */
  until(fits: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!fits()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** OpenCode does not wait for the handlers of events. */
  tell(event: Event): void {
    void this.hooks.event?.({ event });
  }

  status(sessionID: string, type: "busy" | "idle"): void {
    this.tell({ type: "session.status", properties: { sessionID, status: { type } as SessionStatus } });
    if (type === "idle") this.tell({ type: "session.idle", properties: { sessionID } });
  }

  /** A tool has run. */
  async ran(tool: string, args: object, metadata: object, output = "", callID = "call/1"): Promise<void> {
    const input = { tool, sessionID: "ses_1", callID, args };
    await this.hooks["tool.execute.after"]?.(input, { title: tool, output, metadata });
  }
}
