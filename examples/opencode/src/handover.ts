// When a session is given what waybill has for it: at the start of each of its turns, in one dispatch pass. A session that
// is idle while something waits, or while a check is red, is woken for that by a prompt. A pass counts as a send, so there is none before OpenCode has
// taken the prompt: `opencode run` ends when its session becomes idle, and takes no prompt any more.

import type { Event } from "@opencode-ai/sdk";
import type { InstructionList, Waybill } from "waybill-client";

/** How a session stands. One that was woken is no longer idle until OpenCode says that it worked. */
type Standing = "idle" | "woken" | "busy";

/** The text of a prompt that only begins a turn. */
const waiting = "waybill has instructions for this session.";

/** What a session is asked and told by. */
export interface Session {
  /** Returns why a session that would stop must go on, and undefined if it may stop. again says whether it was held before. */
  gate(session: string, again: boolean): Promise<string | undefined>;
  /** Gives a session a prompt, and rejects if OpenCode does not take it. */
  wake(session: string, text: string): Promise<void>;
}

export class Handover {
  readonly #waybill: Waybill;
  readonly #session: Session;
  readonly #trouble: (message: string) => void;
  readonly #sessions = new Map<string, Standing>();
  readonly #again = new Set<string>(); // idle again since they were woken
  readonly #held = new Set<string>(); // held at their last stop, and no person has said anything since
  readonly #left = new Map<string, string[]>(); // handed out by waybill, and not yet carried by a turn
  #toldOfWork = false; // whether this OpenCode says when a session works, as newer ones do

  constructor(waybill: Waybill, session: Session, trouble: (message: string) => void) {
    this.#waybill = waybill;
    this.#session = session;
    this.#trouble = trouble;
    waybill.on("instruction/available", ({ session_id }) => void this.#offer(session_id));
  }

  /** Does one dispatch pass for a session whose turn begins, and returns the texts that the turn carries. */
  async turn(session: string): Promise<string[]> {
    if (this.#sessions.get(session) !== "woken") this.#held.delete(session);
    this.#sessions.set(session, "busy");
    const left = this.#left.get(session) ?? [];
    const texts = [...left, ...(await this.#pass(session))];
    this.#left.delete(session);
    return texts;
  }

  async #pass(session: string): Promise<string[]> {
    const { instructions } = await this.#waybill.call("dispatch_instructions", { session_id: session });
    return instructions.map((send) => send.text);
  }

  /** Takes in what OpenCode tells of its sessions. */
  heard(event: Event): void {
    switch (event.type) {
      case "session.status":
        this.#toldOfWork = true;
        if (event.properties.status.type === "idle") this.#idle(event.properties.sessionID);
        else this.#sessions.set(event.properties.sessionID, "busy");
        break;
      case "session.idle": // the older way to say so; newer ones say both
        if (!this.#toldOfWork) this.#sessions.set(event.properties.sessionID, "busy");
        this.#idle(event.properties.sessionID);
        break;
      case "session.deleted":
        this.#sessions.delete(event.properties.info.id);
        this.#held.delete(event.properties.info.id);
        break;
    }
  }

  #idle(id: string): void {
    if (this.#sessions.get(id) === "woken") {
      this.#again.add(id); // its turn has not begun yet, or OpenCode refuses it
      return;
    }
    this.#sessions.set(id, "idle");
    void this.#offer(id);
  }

  async #offer(id: string): Promise<void> {
    if (this.#sessions.get(id) !== "idle") return;
    try {
      const waits = await this.#waits(id);
      if (waits === "failure") this.#left.set(id, await this.#pass(id)); // no texts, unless one was queued just now
      const wakes = waits === "text" || (this.#left.get(id)?.length ?? 0) > 0;
      const text = wakes ? waiting : await this.#session.gate(id, this.#held.has(id));
      if (text === undefined || this.#sessions.get(id) !== "idle") return;
      if (!wakes) this.#held.add(id);
      this.#sessions.set(id, "woken");
      this.#again.delete(id);
      await this.#session.wake(id, text);
    } catch (error) {
      if (this.#sessions.get(id) === "woken") this.#sessions.set(id, "idle"); // the next event tries again
      this.#trouble(`instructions for ${id}: ${error}`);
      if (this.#again.delete(id)) void this.#offer(id);
    }
  }

  /** Returns what a pass would bring: a text, or only the failure of what has used up its sends. */
  async #waits(id: string): Promise<"text" | "failure" | undefined> {
    let waits: "failure" | undefined;
    for (const state of ["queued", "sent"] as const) {
      for (let from: { cursor?: string } | undefined = {}; from; ) {
        const { items, next_cursor }: InstructionList = await this.#waybill.call("list_instructions", { session_id: id, state, ...from });
        if (items.some((item) => item.sends < item.sends_max)) return "text";
        if (items.length > 0) waits = "failure";
        from = next_cursor === undefined ? undefined : { cursor: next_cursor };
      }
    }
    return waits;
  }
}
