// What waybill is told of the tools of OpenCode: `tool.execute.after` for one that ran, and `tool.error` for one that
// failed. The data of both can be matched by `ack_on`, such as {"tool": "bash", "metadata.exit": 0}.

import { createHash } from "node:crypto";
import type { Hooks } from "@opencode-ai/plugin";
import type { Event } from "@opencode-ai/sdk";
import type { ReportEventParams } from "waybill-client";

type After = NonNullable<Hooks["tool.execute.after"]>;

/** The longest text of a tool that is told. The beginning says what it was. */
const longest = 8 << 10;

/** toolRan says that a tool has run. */
export function toolRan(input: Parameters<After>[0], output: Parameters<After>[1]): ReportEventParams {
  const { tool, sessionID, callID, args } = input;
  const { title, metadata } = output;
  return report("tool.execute.after", sessionID, callID, { tool, args, title, metadata, output: output.output });
}

/** toolFailed says that a tool has failed, if that is what an event tells. OpenCode has no hook for it. */
export function toolFailed(event: Event): ReportEventParams | undefined {
  if (event.type !== "message.part.updated") return undefined;
  const { part } = event.properties;
  if (part.type !== "tool" || part.state.status !== "error") return undefined;
  return report("tool.error", part.sessionID, part.callID, { tool: part.tool, args: part.state.input, error: part.state.error });
}

// The key makes one event of one call of a tool, however often OpenCode tells of it.
function report(type: string, session: string, call: string, data: Record<string, unknown>): ReportEventParams {
  const key = createHash("sha256").update(`${type}\0${session}\0${call}`).digest("hex");
  return { type, session_id: session, data: brief(data), idempotency_key: `opencode-${key}` };
}

// Tools print whatever they find: halves of characters are no text, and a whole file is too much.
function brief(data: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(data, (_, value: unknown) => (typeof value === "string" ? value.slice(0, longest).toWellFormed() : value)));
}
