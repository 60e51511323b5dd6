// A program between a client and the real waybill, which passes everything on, but for the fault that FAULT names.

import { spawn } from "node:child_process";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const home = join(process.argv.at(-1) ?? "", ".."); // of the world; the workspace is the last argument
const [fault = "", argument = ""] = (process.env["FAULT"] ?? "").split("=");

switch (fault) {
  case "deaf": // does not notice the end of its input
    setInterval(() => {}, 1000);
    break;
  case "dies": // before it has said anything
    process.stderr.write("x".repeat(1 << 20) + "the last word", () => process.exit(3));
    break;
  case "endless": // a line that never ends
    setInterval(() => process.stdout.write("x".repeat(1 << 16)), 1);
    break;
  default:
    pass();
}

function pass(): void {
  const real = spawn(process.env["WAYBILL_BIN"] ?? "waybill", process.argv.slice(2), { stdio: ["pipe", "pipe", "inherit"] });
  appendFileSync(join(home, "behind"), `${real.pid}\n`); // it may outlive this one for a moment
  const methods = new Map<number, string>();
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id !== undefined) methods.set(id, method);
    // It is told to leave before it is given the call, which it therefore refuses.
    if (fault === "leaves" && method === argument && !happened()) real.stdin.write('{"jsonrpc":"2.0","id":"bye","method":"shutdown"}\n');
    if (fault !== "ignores" || method !== argument) real.stdin.write(line + "\n");
  }).on("close", () => real.stdin.end());
  createInterface({ input: real.stdout }).on("line", (line) => {
    if (fault === "loses" && methods.get(JSON.parse(line).id) === argument && !happened()) return lose();
    if (fault === "garbage") process.stdout.write('Debugger attached.\n[1]\n"text"\n{"half":\n\n{"jsonrpc":"2.0","id":999999,"result":{}}\n');
    process.stdout.write(line + "\n");
    if (fault === "answers-only" && methods.get(JSON.parse(line).id) === argument) lose();
  });
  real.on("exit", (code) => process.exit(code ?? 1));

  // What it has done is on disk, and what it has not answered is lost.
  function lose(): void {
    real.kill("SIGKILL");
  }
}

// A fault happens once in a workspace.
function happened(): boolean {
  const mark = join(home, "fault-has-happened");
  if (existsSync(mark)) return true;
  writeFileSync(mark, "");
  return false;
}
