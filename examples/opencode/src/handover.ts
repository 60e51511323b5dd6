// When a session is given what waybill has for it: in one pass whenever it becomes idle, and when something comes while
// it is. A pass while it works would count as a reminder of what it is just reading.

import type { Event } from "@opencode-ai/sdk";
import type { Waybill } from "waybill-client";

/** How a session stands. One that was given something is no longer idle until OpenCode says that it worked. */
type Standing = "idle" | "given" | "busy";

interface Session {
  standing: Standing;
  passing: boolean;
  /** Whether something came while a pass was under way. */
  again: boolean;
  /** What waybill has handed out and OpenCode has not taken. */
  left: string[];
}

export class Handover {
  readonly #waybill: Waybill;
  readonly #give: (session: string, texts: string[]) => Promise<void>;
  readonly #trouble: (message: string) => void;
  readonly #sessions = new Map<string, Session>();
  #toldOfWork = false; // whether this OpenCode says when a session works, as newer ones do

  /** give gives texts to a session and rejects if it was not given them. */
  constructor(waybill: Waybill, give: (session: string, texts: string[]) => Promise<void>, trouble: (message: string) => void) {
    this.#waybill = waybill;
    this.#give = give;
    this.#trouble = trouble;
    waybill.on("instruction/available", ({ session_id }) => void this.#offer(session_id));
  }

  /** Takes in what OpenCode tells of its sessions. */
  heard(event: Event): void {
    switch (event.type) {
      case "session.status":
        this.#toldOfWork = true;
        if (event.properties.status.type === "idle") this.#idle(event.properties.sessionID);
        else this.#session(event.properties.sessionID).standing = "busy";
        break;
      case "session.idle": // the older way to say so; newer ones say both
        if (!this.#toldOfWork) this.#session(event.properties.sessionID).standing = "busy";
        this.#idle(event.properties.sessionID);
        break;
      case "session.deleted":
        this.#sessions.delete(event.properties.info.id);
        break;
    }
  }

  #session(id: string): Session {
    const known = this.#sessions.get(id) ?? { standing: "busy", passing: false, again: false, left: [] };
    this.#sessions.set(id, known);
    return known;
  }

  #idle(id: string): void {
    const session = this.#session(id);
    const same = session.standing === "idle" && session.left.length === 0; // it was idle before
    if (same || session.standing === "given") return; // or has not begun with what it was given
    session.standing = "idle";
    void this.#offer(id);
  }

  async #offer(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (session?.standing !== "idle") return;
    session.again = true;
    if (session.passing) return;
    session.passing = true;
    try {
      while (session.again && session.standing === "idle") {
        session.again = false;
        await this.#pass(id, session);
      }
    } catch (error) {
      this.#trouble(`instructions for ${id}: ${error}`);
    } finally {
      session.passing = false;
    }
  }

  async #pass(id: string, session: Session): Promise<void> {
    if (session.left.length === 0) {
      const { instructions } = await this.#waybill.call("dispatch_instructions", { session_id: id });
      session.left.push(...instructions.map((send) => send.text));
    }
    if (session.left.length === 0) return;
    if (session.standing === "idle") session.standing = "given"; // else somebody else gave it work meanwhile
    const texts = session.left.splice(0);
    try {
      await this.#give(id, texts);
    } catch (error) {
      session.left.unshift(...texts);
      session.standing = "idle"; // the next pass takes them along
      throw error;
    }
  }
}
