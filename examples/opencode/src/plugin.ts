// What OpenCode loads. It calls everything that this module exports as a plugin, so there is one export.

import type { Plugin } from "@opencode-ai/plugin";
import { Waybill } from "waybill-client";
import { Gate } from "./gate.js";
import { Handover } from "./handover.js";
import { toolFailed, toolRan } from "./reports.js";

/**
 * Tells waybill of each tool that ran, so that instructions with an `ack_on` that matches are acknowledged by
 * themselves, and hands the instructions for a session to it at the start of each turn.
 */
export const WaybillPlugin: Plugin = async ({ client, directory }) => {
  // OpenCode does not always say goodbye to its plugins, and must not be kept from ending.
  const waybill = new Waybill({ cwd: directory, restart: true, unref: true });
  const log = (level: "info" | "error", message: string) =>
    void client.app.log({ body: { service: "waybill", level, message } }).catch(() => {});
  // An agent works on, whatever becomes of waybill.
  const quietly = (what: Promise<unknown>) => what.catch((error: unknown) => log("error", String(error))).then(() => {});

  const gate = new Gate(directory);
  const handover = new Handover(waybill, {
    gate: async (session, again) => {
      const { data } = await client.session.get({ path: { id: session }, throwOnError: true });
      return data.parentID === undefined ? gate.ask(session, again) : undefined; // the work is that of the parent
    },
    wake: async (session, text) => {
      const parts = [{ type: "text" as const, text, synthetic: true }];
      await client.session.promptAsync({ path: { id: session }, body: { parts }, throwOnError: true });
    },
  }, (trouble) => log("error", trouble));
  waybill.on("exited", ({ code, signal, stderr }) => log("error", `waybill has gone (${signal ?? code}) ${stderr}`));
  await quietly(waybill.start().then((hello) => log("info", `waybill ${hello.server_info.version} runs`)));

  return {
    "chat.message": ({ sessionID }, { message, parts }) => quietly((async () => {
      const last = parts.at(-1)?.id ?? "prt_"; // OpenCode orders the parts of a message by their ids
      const texts = await handover.turn(sessionID);
      texts.forEach((text, n) => {
        parts.push({ id: `${last}w${String(n).padStart(4, "0")}`, sessionID, messageID: message.id, type: "text", text, synthetic: true });
      });
    })()),
    "tool.execute.after": (input, output) => quietly(waybill.call("report_event", toolRan(input, output))),
    event: async ({ event }) => {
      handover.heard(event);
      const failed = toolFailed(event);
      if (failed) await quietly(waybill.call("report_event", failed));
    },
    dispose: async () => {
      await Promise.all([gate.close(), waybill.close()]);
    },
  };
};
