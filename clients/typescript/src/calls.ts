// The calls that have no answer yet: those that wait to be sent, in order, and those that waybill has in hand.

import type { WaybillError } from "./errors.js";

/** How many calls waybill is given at a time. It refuses work beyond 1,024, from all that the host sends. */
const window = 512;
/** How often a call is sent, to one process after another. One at which every process dies is given up. */
const maxSends = 4;

/** A call without an answer. */
export interface Call {
  readonly id: number;
  readonly method: string;
  /** The request as it is sent, each time the same. */
  readonly line: string;
  readonly key: string | undefined;
  /** Who made it: who uses the client, a feed, or the client to greet a process. A greeting is not sent again. */
  readonly by: "user" | "feed" | "greeting";
  sends: number;
  /** Whether its caller has asked to have it cancelled. */
  cancelled: boolean;
  resolve(result: unknown): void;
  reject(error: WaybillError): void;
}

/** keeps reports whether a call whose answer was lost is to be sent again. */
export function keeps(call: Call): boolean {
  return call.by !== "greeting" && !call.cancelled && call.sends < maxSends;
}

export class Calls {
  #waiting: Call[] = [];
  readonly #inHand = new Map<number, Call>();

  /** Adds a call behind all others. */
  add(call: Call): void {
    this.#waiting.push(call);
  }

  /** Puts calls back whose answer was lost. They go where they were: calls take effect in their order. */
  again(calls: Iterable<Call>): void {
    this.#waiting = [...calls, ...this.#waiting].sort((a, b) => a.id - b.id);
  }

  /** Gives the next call to send, if waybill may be given one more. It is in hand then. */
  next(): Call | undefined {
    if (this.#inHand.size >= window) return undefined;
    const call = this.#waiting.shift();
    if (call) this.hold(call);
    return call;
  }

  /** Notes that a call is in the hands of waybill. */
  hold(call: Call): void {
    call.sends++;
    this.#inHand.set(call.id, call);
  }

  /** Takes the call out that an answer is for. */
  take(id: unknown): Call | undefined {
    const call = typeof id === "number" ? this.#inHand.get(id) : undefined;
    if (call) this.#inHand.delete(call.id);
    return call;
  }

  /** Takes a call out that was not sent yet, and reports whether it was one. */
  withdraw(call: Call): boolean {
    const at = this.#waiting.indexOf(call);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** Takes all calls out that are in hand. */
  lost(): Call[] {
    const calls = [...this.#inHand.values()];
    this.#inHand.clear();
    return calls;
  }

  /** Takes all calls out that wait to be sent. */
  unsent(): Call[] {
    const calls = this.#waiting;
    this.#waiting = [];
    return calls;
  }
}
