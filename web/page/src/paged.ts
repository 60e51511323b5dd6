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

/** Where a page begins, and which rows are on it as far as is known, in the order of the list. */
interface Leaf {
  cursor: string | undefined;
  ids: string[];
  /** Whether it has still to be read: its rows are from the page before, which has no room for them any more. */
  unread: boolean;
  /** How many changes the list had seen when the page was asked for. */
  asOf: number;
}

/** How many pages are read at most after a change or a move. What is missing then comes with the next one. */
const mostAtOnce = 20;

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
  /** How many new things stand before and among the rows. They are not shown until the list is read from the beginning. */
  readonly newer = signal(0);

  private readonly at = new Map<string, number>();
  private readonly held = new Set<string>();
  private leaves: Leaf[] = [];
  private next: string | undefined;
  private busy: Promise<void> | undefined;
  private changes = 0;
  private range = { from: 0, to: 0 };
  private allowed = 0;

  constructor(
    private readonly fetch: Fetch<T>,
    private readonly idOf: (thing: T) => string,
    /** Where new things come: they are shown at the end, or kept back at the top. */
    private readonly grows: "end" | "top" = "end",
  ) {}

  /** Reads the next page, unless there is none. */
  more(): Promise<void> {
    if (this.complete.value) return Promise.resolve();
    return this.alone(async () => {
      const last = this.leaves.length - 1;
      if (this.leaves[last]?.unread) await this.read(last);
      else if (!this.complete.value) await this.read(this.leaves.length, { cursor: this.next, ids: [], unread: true, asOf: this.changes });
    });
  }

  /** Takes all that was read for old. What is between two rows is read again, and where new things come, if it is known. */
  refresh(from: number, to: number): Promise<void> {
    this.changes++;
    this.range = { from, to };
    this.allowed = mostAtOnce;
    return this.alone(() => this.catchUp());
  }

  /**
   * Says which rows are looked at from now on. Those that became old while others were looked at are read again; after
   * a failure nothing is, until somebody asks for it.
   */
  look(from: number, to: number): Promise<void> {
    if (from !== this.range.from || to !== this.range.to) this.allowed = mostAtOnce;
    this.range = { from, to };
    if (this.fault.value || this.allowed === 0 || this.due() < 0) return Promise.resolve();
    return this.alone(() => this.catchUp());
  }

  /** Takes rows out that have left the list, but for those that are kept. */
  drop(kept: (row: Row<T>) => boolean): void {
    const rows = this.rows.value.filter((row) => !row.left || kept(row));
    if (rows.length === this.rows.value.length) return;
    this.at.clear();
    rows.forEach((row, n) => this.at.set(row.id, n));
    this.rows.value = rows;
  }

  /** Reads from the beginning. What had left is not shown any more. */
  restart(): Promise<void> {
    return this.alone(async () => {
      const asOf = this.changes;
      const page = await this.fetch(undefined);
      this.at.clear();
      this.held.clear();
      this.leaves = [{ cursor: undefined, ids: [], unread: true, asOf }];
      this.take(page, 0, []);
    });
  }

  /** The range may move while a page is read: what is looked at then is what counts. */
  private async catchUp(): Promise<void> {
    for (let n = this.due(); n >= 0 && this.allowed > 0; n = this.due()) {
      this.allowed--;
      await this.read(n);
    }
  }

  /** The first page that may be old and is looked at, or where new things come; -1 if there is none. */
  private due(): number {
    const seen = this.seen();
    const grows = this.grows === "top" ? 0 : this.complete.value ? this.leaves.length - 1 : -1;
    return this.leaves.findIndex((leaf, n) => leaf.unread || (leaf.asOf < this.changes && (n === grows || leaf.ids.some((id) => seen.has(id)))));
  }

  /** The rows that are looked at, and those beside them that a row which had left would come back between. */
  private seen(): Set<string> {
    const rows = this.rows.value;
    let { from, to } = this.range;
    while (rows[from]?.left) from--;
    while (rows[to]?.left) to++;
    return new Set(rows.slice(Math.max(0, from), to + 1).map((row) => row.id));
  }

  private async read(n: number, leaf = this.leaves[n]): Promise<void> {
    if (leaf === undefined) return;
    const asOf = this.changes;
    const page = await this.fetch(leaf.cursor);
    this.leaves[n] = { ...leaf, asOf };
    this.take(page, n, this.rows.value.slice());
  }

  private take(page: Page<T>, n: number, rows: Row<T>[]): void {
    const now = new Set(page.items.map(this.idOf));
    const whole = page.next_cursor === undefined;
    // In the order of the list, what stood before the last known row of this page and is not on it has left. What
    // stood behind that may be on the next page by now.
    const known = this.leaves.slice(n).flatMap((leaf) => leaf.ids);
    const last = whole ? known.length - 1 : known.findLastIndex((id) => now.has(id));
    for (const id of known.slice(0, last + 1)) {
      const at = this.at.get(id) ?? -1;
      const row = rows[at];
      if (row && !now.has(id)) rows[at] = { ...row, left: true };
    }
    const rest = new Set(known.slice(last + 1));
    this.arrange(n, this.show(page.items, n, rest.size === 0, rows), rest, page.next_cursor);
    this.rows.value = rows;
    this.newer.value = this.held.size;
    this.ready.value = true;
    this.fault.value = undefined;
  }

  /**
   * Puts what came where it is, and what is new behind all rows, or keeps it back. It gives the ids of the rows. The
   * page reaches the end of what is known, if there is nothing behind it.
   */
  private show(items: readonly T[], n: number, reaches: boolean, rows: Row<T>[]): string[] {
    const lastKnown = items.findLastIndex((thing) => this.at.has(this.idOf(thing)));
    const behind = reaches && (lastKnown >= 0 || this.leaves[n]?.ids.length === 0);
    const shown: string[] = [];
    items.forEach((thing, i) => {
      const id = this.idOf(thing);
      const at = this.at.get(id);
      if (at === undefined && this.grows === "top" && !(behind && i > lastKnown)) {
        this.held.add(id);
        return;
      }
      if (at === undefined) this.at.set(id, rows.push({ id, thing, left: false }) - 1);
      else rows[at] = { id, thing, left: false };
      this.held.delete(id);
      shown.push(id);
    });
    return shown;
  }

  /** Notes what is on a page, and moves what is not there any more to the next one, which begins where this one ends. */
  private arrange(n: number, shown: string[], rest: ReadonlySet<string>, next: string | undefined): void {
    const leaf = this.leaves[n];
    if (leaf === undefined) return;
    const moved = leaf.ids.filter((id) => rest.has(id));
    const later = this.leaves.slice(n + 1);
    const reached = later.some((l) => l.ids.some((id) => !rest.has(id)));
    const kept = later.map((l) => ({ ...l, ids: l.ids.filter((id) => rest.has(id)) })).filter((l) => l.ids.length > 0);
    if (moved.length > 0 && kept.length === 0) kept.push({ cursor: next, ids: [], unread: true, asOf: leaf.asOf });
    const follower = kept[0];
    if (follower && (moved.length > 0 || reached)) Object.assign(follower, { cursor: next, ids: [...moved, ...follower.ids], asOf: Math.min(leaf.asOf, follower.asOf) });
    this.leaves = [...this.leaves.slice(0, n), { ...leaf, ids: shown, unread: false }, ...kept];
    if (kept.length > 0) return;
    this.next = next;
    this.complete.value = next === undefined;
  }

  /** Only one reads at a time; a second caller waits for the first, and then has its turn. */
  private alone(work: () => Promise<void>): Promise<void> {
    this.loading.value = true; // at once, so that who looks again before it has begun does not ask again
    const turn = (this.busy ?? Promise.resolve()).then(async () => {
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
