// A workspace of its own for each test, and the real program in it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Waybill, WaybillError, type Options } from "../src/index.js";

/** How long a test may take before it counts as stuck. Nothing is decided by it but that. */
export const patience = { timeout: 180_000 };

/** The program that is tested. */
export const binary = process.env["WAYBILL_BIN"] ?? assert.fail("WAYBILL_BIN names no program to test");

const between = fileURLToPath(new URL("./between.js", import.meta.url));

export class World {
  readonly workspace: string;
  readonly env: Record<string, string>;
  readonly #clients: Waybill[] = [];

  constructor(t: TestContext) {
    const home = mkdtempSync(join(tmpdir(), "waybill-client-"));
    t.after(async () => {
      await Promise.all(this.#clients.map((client) => client.close()));
      for (const pid of read(join(home, "behind")).split("\n")) if (pid) await ended(Number(pid));
      rmSync(home, { recursive: true, force: true });
    });
    this.workspace = join(home, "work");
    mkdirSync(this.workspace);
    writeFileSync(join(this.workspace, "tasks.md"), "- [ ] 1 Cut the face\n- [ ] 2 Make the hands\n");
    this.env = { XDG_STATE_HOME: join(home, "state"), XDG_CONFIG_HOME: join(home, "config"), XDG_CACHE_HOME: join(home, "cache") };
  }

  /** A client in this world. It is closed behind the test, before the world is removed. */
  client(options: Options = {}): Waybill {
    return this.homeless({ workspace: this.workspace, ...options });
  }

  /** A client that is told of no workspace. */
  homeless(options: Options): Waybill {
    // How long the program takes to leave decides nothing, unless a test says so.
    const client = new Waybill({ graceMs: patience.timeout, ...options, env: { ...this.env, ...options.env } });
    this.#clients.push(client);
    return client;
  }

  /** A client of a program that passes everything on to the real one, but for a fault. */
  faulty(fault: string, options: Options = {}): Waybill {
    return this.client({ binary: process.execPath, args: [between], ...options, env: { FAULT: fault, ...options.env } });
  }
}

/** Gives the error with which a call fails. */
export async function failure(call: Promise<unknown>): Promise<WaybillError> {
  const error = await call.then(() => assert.fail("the call succeeded"), (error: unknown) => error);
  assert.ok(error instanceof WaybillError, String(error));
  return error;
}

/** Resolves with the next value that a client emits under a name and that fits. */
export function next<K extends Parameters<Waybill["on"]>[0], V>(client: Waybill, name: K, fits: (value: V) => boolean = () => true): Promise<V> {
  return new Promise((resolve) => {
    const off = client.on(name, (value) => {
      if (!fits(value as V)) return;
      off();
      resolve(value as V);
    });
  });
}

/** Ends the process of a client as the system does when memory runs out. */
export function kill(client: Waybill): void {
  process.kill(client.pid ?? assert.fail("no process runs"), "SIGKILL");
}

/** Waits, with the whole process, until another one has ended. Nothing else is done meanwhile, and nothing is read. */
export function standStill(pid: number): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  while (lives(pid)) Atomics.wait(clock, 0, 0, 50);
}

/** Resolves when a process has ended that is no child of this one. */
export async function ended(pid: number): Promise<void> {
  while (lives(pid)) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Reports whether a process runs. One that has ended and that its parent has not heard of yet does not. */
function lives(pid: number): boolean {
  if (existsSync("/proc/self/stat")) return /\) [^ZX] /.test(read(`/proc/${pid}/stat`));
  return /^[^Z]/.test(spawnSync("ps", ["-o", "stat=", "-p", `${pid}`], { encoding: "utf8" }).stdout.trim());
}

/** Gives the text of a file, or none. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Reports whether there is a process with this number. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
