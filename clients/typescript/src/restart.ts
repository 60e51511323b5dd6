// When the next process is started after one has died.

/** How a client goes on after its process has died. */
export interface Restart {
  /** The wait after the first death; it doubles with each process that dies before it has answered anything. Default 100. */
  firstDelayMs?: number;
  /** The longest wait. Default 5000. */
  maxDelayMs?: number;
  /** How many processes in a row may die before they have answered anything. Default 10. */
  attempts?: number;
}

/** The exit code of a waybill that does not understand its arguments; another would not, either. */
const usage = 2;

/** A Backoff counts the processes in a row that were of no use. */
export class Backoff {
  readonly #policy: Required<Restart>;
  #useless = 0;
  #everUseful = false;

  constructor(policy: Restart) {
    this.#policy = { firstDelayMs: 100, maxDelayMs: 5000, attempts: 10, ...policy };
  }

  /** Notes that the process has answered something. */
  answered(): void {
    this.#useless = 0;
    this.#everUseful = true;
  }

  /** Gives how long to wait before the next process, or undefined if there should be none. */
  next(code: number | null, started: boolean): number | undefined {
    if (!this.#everUseful && (!started || code === usage)) return undefined;
    if (this.#useless >= this.#policy.attempts) return undefined;
    const delay = this.#policy.firstDelayMs * 2 ** this.#useless++;
    // Many clients whose processes died together do not come back together.
    return Math.min(delay, this.#policy.maxDelayMs) * (0.5 + Math.random() / 2);
  }
}
