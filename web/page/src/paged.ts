// A list of any length that is read page by page, and brought up to date without moving a row.
import { signal } from "@preact/signals";
import { asFault } from "./wire.ts";
import type { Fault } from "./wire.ts";

export interface Page<T> {
  items: T[];
  next_cursor?: string;
}

export type Fetch<T> = (cursor: string | undefined) => Promise<Page<T>>;

/** A Row is a thing of the list. It left if the list, read again, does not have it any more. */
export interface Row<T> {
  id: string;
  thing: T;
  left: boolean;
}

/** Where a page begins, and which rows it had when it was read last. */
interface Leaf {
  cursor: string | undefined;
  ids: string[];
}

/**
 * A Paged list keeps the order in which it was read. Rows that leave it stay where they are, marked as such, until
 * the list is read from the beginning: nothing jumps under the eyes, or the pointer, of somebody who reads.
 */
export class Paged<T> {
  readonly rows = signal<Row<T>[]>([]);
  readonly fault = signal<Fault | undefined>(undefined);
  readonly loading = signal(false);
  /** Whether the first page has come. */
  readonly ready = signal(false);
  /** Whether there is nothing behind the rows. */
  readonly complete = signal(false);
  /** How many new things stand before the first row. They are not shown until the list is read from the beginning. */
  readonly newer = signal(0);

  private readonly at = new Map<string, number>();
  private leaves: Leaf[] = [];
  private next: string | undefined;
  private busy: Promise<void> | undefined;
  private old = false;

  constructor(
    private readonly fetch: Fetch<T>,
    private readonly idOf: (thing: T) => string,
    /** Where new things come. */
    private readonly grows: "end" | "top" = "end",
  ) {}

  /** Reads the next page, unless there is none. */
  more(): Promise<void> {
    if (this.complete.value) return Promise.resolve();
    return this.alone(async () => {
      if (!this.complete.value) await this.read({ cursor: this.next, ids: [] }, this.leaves.length);
    });
  }

  /** Reads again the pages between two rows, and the one where new things come, if it is known. */
  refresh(from: number, to: number): Promise<void> {
    this.old = true;
    return this.alone(async () => {
      while (this.old) {
        this.old = false;
        for (const n of this.stale(from, to)) {
          const leaf = this.leaves[n];
          if (leaf) await this.read(leaf, n);
        }
      }
    });
  }

  /** Reads from the beginning. What had left is not shown any more. */
  restart(): Promise<void> {
    return this.alone(async () => {
      const page = await this.fetch(undefined);
      this.at.clear();
      this.leaves = [];
      this.take(page, { cursor: undefined, ids: [] }, 0, []);
    });
  }

  private stale(from: number, to: number): number[] {
    const found: number[] = [];
    let row = 0;
    this.leaves.forEach((leaf, n) => {
      const ends = row + leaf.ids.length;
      const growing = this.grows === "top" ? n === 0 : n === this.leaves.length - 1 && this.complete.value;
      if ((row <= to && ends >= from) || growing) found.push(n);
      row = ends;
    });
    return found;
  }

  private async read(leaf: Leaf, n: number): Promise<void> {
    const page = await this.fetch(leaf.cursor);
    this.take(page, leaf, n, this.rows.value.slice());
  }

  private take(page: Page<T>, leaf: Leaf, n: number, rows: Row<T>[]): void {
    const now = new Set<string>();
    let items = page.items;
    if (this.grows === "top" && n === 0) {
      const known = items.findIndex((thing) => this.at.has(this.idOf(thing)));
      const before = rows.length === 0 ? 0 : known < 0 ? items.length : known;
      this.newer.value = before;
      if (before > 0 && before === items.length) return; // then it says nothing of those that are known
      items = items.slice(before);
    }
    for (const thing of items) {
      const id = this.idOf(thing);
      now.add(id);
      const at = this.at.get(id);
      if (at === undefined) this.at.set(id, rows.push({ id, thing, left: false }) - 1);
      else rows[at] = { id, thing, left: false };
    }
    // The order never changes, so whatever stood before the last row of this page and is not in it has left. What
    // stood behind may be on the next page by now.
    const whole = page.next_cursor === undefined;
    const last = Math.max(-1, ...items.map((thing) => this.at.get(this.idOf(thing)) ?? -1));
    for (const id of leaf.ids) {
      const at = this.at.get(id) ?? -1;
      const row = rows[at];
      if (row && !now.has(id) && (whole || at < last)) rows[at] = { ...row, left: true };
    }
    this.leaves[n] = { cursor: leaf.cursor, ids: [...new Set([...leaf.ids, ...now])] };
    if (n === this.leaves.length - 1) {
      this.next = page.next_cursor;
      this.complete.value = whole;
    }
    this.rows.value = rows;
    this.ready.value = true;
    this.fault.value = undefined;
  }

  /** Only one reads at a time; a second caller waits for the first, and then has its turn. */
  private alone(work: () => Promise<void>): Promise<void> {
    const turn = (this.busy ?? Promise.resolve()).then(async () => {
      this.loading.value = true;
      try {
        await work();
      } catch (thrown) {
        this.fault.value = asFault(thrown);
      } finally {
        if (this.busy === turn) {
          this.busy = undefined;
          this.loading.value = false;
        }
      }
    });
    this.busy = turn;
    return turn;
  }
}
