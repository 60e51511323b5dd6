// An editor without a window: it gives an agent one prompt over the Agent Client Protocol, allows every tool call, and prints
// the updates and how the turn ended, one JSON value a line. Usage: node editor.mjs PROMPT COMMAND [ARG]…
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const [prompt, command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const print = (value) => console.log(JSON.stringify(value));

const editor = client({ name: "editor" })
  .onNotification(methods.client.session.update, ({ params }) => print(params.update))
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    const allowed = params.options.find((option) => option.kind === "allow_once") ?? params.options[0];
    return { outcome: { outcome: "selected", optionId: allowed.optionId } };
  });

try {
  const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  await editor.connectWith(stream, async (context) => {
    await context.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    const { sessionId } = await context.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
    print(await context.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: prompt }] }));
  });
  agent.stdin.end();
} catch (fault) {
  print({ fault: String(fault?.message ?? fault) });
  process.exitCode = 1;
}
