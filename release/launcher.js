#!/usr/bin/env node
// Starts waybill. The program is in the package for this system, an optional dependency of this one.
"use strict";

const { spawn } = require("node:child_process");

const name = `waybill-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "waybill.exe" : "waybill";
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`waybill: npm has not installed ${name}. Install without --omit=optional; other systems need another way of installing.`);
  process.exit(1);
}

// An interruption or a hang-up comes from the terminal, which sends it to both processes. A second one from here would kill
// the program while it still ends its work. Other senders know only this process, and end it with SIGTERM.
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});
if (process.platform !== "win32") {
  process.on("SIGTERM", () => child.kill("SIGTERM"));
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
child.on("error", (problem) => {
  console.error(`waybill: ${program}: ${problem.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal); // the caller sees the same end
});
