// A list of any length that is read by pages and updated without moving a row.
import { signal } from "@preact/signals";
import { asFault } from "./wire.ts";
import type { Fault } from "./wire.ts";

export interface Page<T> {
  items: T[];
  next_cursor?: string;
}

export type Fetch<T> = (cursor: string | undefined) => Promise<Page<T>>;

/** A Row is an entry of the list. left means that the list no longer has it. */
export interface Row<T> {
  id: string;
  thing: T;
  left: boolean;
}

/** Start and known rows of a page, in the order of the list. */
interface Leaf {
  cursor: string | undefined;
  ids: string[];
  /** Not read yet: its rows come from the page before. */
  unread: boolean;
  /** Number of changes of the list at the time of the request. */
  asOf: number;
}

/** Largest number of pages read after a change or a scroll. The next one reads the rest. */
const mostAtOnce = 20;

/**
 * A Paged list keeps the order of its first reading. Rows that left stay in place with a mark until the list is read
 * from the start, so that nothing moves while a person reads or points.
 */
export class Paged<T> {
  readonly rows = signal<Row<T>[]>([]);
  readonly fault = signal<Fault | undefined>(undefined);
  readonly loading = signal(false);
  /** Whether the first page has arrived. */
  readonly ready = signal(false);
  /** Whether nothing follows the rows. */
  readonly complete = signal(false);
  /** Number of new entries before and among the rows. A reading from the start shows them. */
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
    /** Position of new entries: shown at the end, or held back at the top. */
    private readonly grows: "end" | "top" = "end",
  ) {}

  /** Reads the next page, if there is one. */
  more(): Promise<void> {
    if (this.complete.value) return Promise.resolve();
    return this.alone(async () => {
      const last = this.leaves.length - 1;
      if (this.leaves[last]?.unread) await this.read(last);
      else if (!this.complete.value) await this.read(this.leaves.length, { cursor: this.next, ids: [], unread: true, asOf: this.changes });
    });
  }

  /** Marks everything as outdated. Parts between rows are read again, and the position of new entries if known. */
  refresh(from: number, to: number): Promise<void> {
    this.changes++;
    this.range = { from, to };
    this.allowed = mostAtOnce;
    return this.alone(() => this.catchUp());
  }

  /** Sets the visible rows. Outdated rows among them are read again. After a failure, reading waits for a request. */
  look(from: number, to: number): Promise<void> {
    if (from !== this.range.from || to !== this.range.to) this.allowed = mostAtOnce;
    this.range = { from, to };
    if (this.fault.value || this.allowed === 0 || this.due() < 0) return Promise.resolve();
    return this.alone(() => this.catchUp());
  }

  /** Removes rows that left, except the kept ones. */
  drop(kept: (row: Row<T>) => boolean): void {
    const rows = this.rows.value.filter((row) => !row.left || kept(row));
    if (rows.length === this.rows.value.length) return;
    this.at.clear();
    rows.forEach((row, n) => this.at.set(row.id, n));
    this.rows.value = rows;
  }

  /** Reads from the start, without rows that left. */
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

  /** The range can move during a reading; the new range counts. */
  private async catchUp(): Promise<void> {
    for (let n = this.due(); n >= 0 && this.allowed > 0; n = this.due()) {
      this.allowed--;
      await this.read(n);
    }
  }

  /** The first outdated page in sight, or the position of new entries; -1 if all is current. */
  private due(): number {
    const seen = this.seen();
    const grows = this.grows === "top" ? 0 : this.complete.value ? this.leaves.length - 1 : -1;
    return this.leaves.findIndex((leaf, n) => leaf.unread || (leaf.asOf < this.changes && (n === grows || leaf.ids.some((id) => seen.has(id)))));
  }

  /** The visible rows and their neighbours, between which a row could return. */
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
    // A row before the last known row of this page, and not on it, has left. A later row may be on the next
    // page.
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
   * Inserts the rows of a page, and adds or holds back new ones. Returns their ids. If nothing follows, the page
   * reaches the end of the known rows.
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

  /** Sets the rows of a page. Missing rows move to the next page, which begins at its end. */
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

  /** One reading at a time; a second call waits for the first. */
  private alone(work: () => Promise<void>): Promise<void> {
    this.loading.value = true; // at once, so that a look before the start does not ask again
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
