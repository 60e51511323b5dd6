// Whether a session may stop. `waybill hook` knows: it runs the checks that a person trusts.

import { execFile, type ChildProcess } from "node:child_process";

/** The time that checks may take. waybill ends them before. */
const limitMs = 600_000;

export class Gate {
  readonly #directory: string;
  readonly #asked = new Map<ChildProcess, Promise<void>>(); // until the process has gone

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Returns why a session must go on, or undefined if it may stop. again says whether it was held at its last stop: waybill
   * holds a stop three times at most. Rejects if waybill cannot be asked.
   */
  ask(session: string, again: boolean): Promise<string | undefined> {
    const event = { hook_event_name: "Stop", session_id: session, cwd: this.#directory, stop_hook_active: again };
    // A session of its own, which has no instructions: the plugin hands them over when OpenCode has taken a prompt.
    const args = ["hook", "opencode", "--session", `${session}.stop`];
    return new Promise((resolve, reject) => {
      const options = { cwd: this.#directory, timeout: limitMs, windowsHide: true };
      const child = execFile(process.env["WAYBILL_BIN"] || "waybill", args, options, (error, stdout, stderr) => {
        this.#asked.delete(child);
        if (error) reject(error);
        else if (stderr !== "") reject(new Error(stderr.trim()));
        else resolve(reason(stdout));
      });
      this.#asked.set(child, new Promise((gone) => child.once("close", () => gone())));
      child.stdin?.on("error", () => {}); // the process has gone, which the callback says
      child.stdin?.end(JSON.stringify(event));
      child.unref();
    });
  }

  /** Ends what is asked, and waits until it has gone. */
  async close(): Promise<void> {
    for (const child of this.#asked.keys()) child.kill();
    await Promise.all(this.#asked.values());
  }
}

function reason(stdout: string): string | undefined {
  if (stdout.trim() === "") return undefined;
  const answer = JSON.parse(stdout) as { decision?: string; reason?: string };
  return answer.decision === "block" ? answer.reason : undefined;
}
