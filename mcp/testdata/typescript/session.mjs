// A host that holds one conversation with `waybill mcp` through a client of the TypeScript SDK, and prints what it saw
// as JSON. Usage: node session.mjs CLIENT COMMAND ARGUMENT…, where CLIENT is one of those of `clients`.
import { once } from "node:events";

const person = { action: "accept", content: { reply: "Drop it." } };

async function first(env, command, args) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { ElicitRequestSchema, ResourceUpdatedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const client = new Client({ name: "first", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async () => person);
  const updated = new Promise((resolve) =>
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => resolve(n.params.uri)),
  );
  const transport = new StdioClientTransport({ command, args, env, stderr: "inherit" });
  await client.connect(transport);
  await client.subscribeResource({ uri: "waybill://awaiting" });
  return { client, updated, end: () => client.close() };
}

function second(versionNegotiation) {
  return async (env, command, args) => {
    const { Client } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const client = new Client(
      { name: "second", version: "1" },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation },
    );
    client.setRequestHandler("elicitation/create", async () => person);
    const updated = new Promise((resolve) =>
      client.setNotificationHandler("notifications/resources/updated", (n) => resolve(n.params.uri)),
    );
    await client.connect(new StdioClientTransport({ command, args, env, stderr: "inherit" }));
    if (versionNegotiation) await client.listen({ resourceSubscriptions: ["waybill://awaiting"] });
    else await client.subscribeResource({ uri: "waybill://awaiting" });
    return { client, updated, end: () => client.close() };
  };
}

const clients = {
  "sdk": first,
  "client": second(undefined),
  "client-auto": second({ mode: "auto" }),
  "client-modern": second({ mode: { pin: "2026-07-28" } }),
};

const [kind, command, ...args] = process.argv.slice(2);
const { client, updated, end } = await clients[kind](process.env, command, args);

async function call(name, args) {
  const r = await client.callTool({ name, arguments: args });
  if (r.isError) throw new Error(`${name}: ${r.content[0].text}`);
  return r.structuredContent;
}

const report = { server: client.getServerVersion()?.name, instructions: client.getInstructions()?.length > 0 };
report.tools = (await client.listTools()).tools.map((t) => t.name);
report.prompts = (await client.listPrompts()).prompts.map((p) => p.name);
report.resources = (await client.listResources()).resources.map((r) => r.uri);

const created = await call("create_task", { prompt: `Migrate the loans for ${kind}.` });
const claimed = await call("claim_task", { worker: kind });
report.claimed = claimed.task_id === created.task_id;
await call("finish_attempt", { task_id: claimed.task_id, lease_token: claimed.lease_token, status: "awaiting_response", question: "Keep the old column?" });
report.updated = await updated;
report.awaiting = JSON.parse((await client.readResource({ uri: "waybill://awaiting" })).contents[0].text);
report.replied = await call("reply", { task_id: claimed.task_id });
report.task = await call("get_task", { task_id: claimed.task_id });

const bad = await client.callTool({ name: "get_task", arguments: { task_id: 7 } });
report.wrong = bad.isError === true;
report.unknown = await client.callTool({ name: "no_such", arguments: {} }).then(() => null, (e) => e.code);

await Promise.all(Array.from({ length: 100 }, (_, i) => call("queue_instruction_with_ack", { content: `note ${i}`, session_id: kind })));
report.queued = 100;

await end();
if (!process.stdout.write(JSON.stringify(report) + "\n")) await once(process.stdout, "drain");
