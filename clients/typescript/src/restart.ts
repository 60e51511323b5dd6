// When the next process is started after one has died.

/** How a client goes on after its process has died. */
export interface Restart {
  /** The wait after the first death; it doubles with each process that dies before it was of use. Default 100. */
  firstDelayMs?: number;
  /** The longest wait. Default 5000. */
  maxDelayMs?: number;
  /** How many processes in a row may die before they have answered a call or have lived for ten seconds. Default 10. */
  attempts?: number;
}

/** The exit code of a waybill that does not understand its arguments; another would not, either. */
const usage = 2;

/** How long a process has to live to have been of use, whatever it was asked. */
const steadyMs = 10_000;

/** A Backoff counts the processes in a row that were of no use. */
export class Backoff {
  readonly #policy: Required<Restart>;
  readonly #now: () => number;
  #useless = 0;
  #everAnswered = false;
  #begunAt = 0;

  /** now gives the milliseconds of a clock that is never set back. */
  constructor(policy: Restart, now = () => performance.now()) {
    this.#policy = { firstDelayMs: 100, maxDelayMs: 5000, attempts: 10, ...policy };
    this.#now = now;
  }

  /** Notes that a process begins. */
  began(): void {
    this.#begunAt = this.#now();
  }

  /** Notes that the process has answered. Every process is greeted, so the answer to that alone is of no use. */
  answered(useful: boolean): void {
    this.#everAnswered = true;
    if (useful) this.#useless = 0;
  }

  /** Gives how long to wait before the next process, or undefined if there should be none. */
  next(code: number | null, started: boolean): number | undefined {
    if (!this.#everAnswered && (!started || code === usage)) return undefined;
    if (started && this.#now() - this.#begunAt >= steadyMs) this.#useless = 0;
    if (this.#useless >= this.#policy.attempts) return undefined;
    const delay = this.#policy.firstDelayMs * 2 ** this.#useless++;
    // Many clients whose processes died together do not come back together.
    return Math.min(delay, this.#policy.maxDelayMs) * (0.5 + Math.random() / 2);
  }
}
