// The items of a plan as a tree.
import type { Item } from "../../../schema/gen/protocol.ts";

export interface Branch {
  item: Item;
  /** Distinguishes items with the same id. */
  key: string;
  below: Branch[];
}

/** Returns the items as a tree, in the order of the plan. An item without its parent is at the top. */
export function tree(items: readonly Item[]): Branch[] {
  const top: Branch[] = [];
  const last = new Map<string, Branch>();
  for (const item of items) {
    const branch: Branch = { item, key: `${item.source ?? ""}:${item.line}:${item.item_id}`, below: [] };
    const parent = item.parent_id === undefined ? undefined : last.get(item.parent_id);
    (parent?.below ?? top).push(branch);
    last.set(item.item_id, branch);
  }
  return top;
}

/** A Line is a branch in the plan; level is 1 at the top. */
export interface Line {
  branch: Branch;
  level: number;
}

/** Returns each branch before its descendants. */
export function lines(top: readonly Branch[], level = 1, all: Line[] = []): Line[] {
  for (const branch of top) {
    all.push({ branch, level });
    lines(branch.below, level + 1, all);
  }
  return all;
}

export function statusOfItem(item: Item): Item["status"] {
  return item.derived_status ?? item.status;
}

/** The number of leaves below a branch, and of those that are done. */
export function progress(branch: Branch): { done: number; of: number } {
  if (branch.below.length === 0) return { done: branch.item.status === "completed" ? 1 : 0, of: 1 };
  let done = 0;
  let of = 0;
  for (const child of branch.below) {
    const p = progress(child);
    done += p.done;
    of += p.of;
  }
  return { done, of };
}
