// The titles of items, by their plan. A run has only the id of its item.
import { signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import { touches } from "./fold.ts";
import { watch } from "./live.ts";
import { route } from "./route.ts";
import { address, get } from "./wire.ts";

/** By the workspace and the plan. */
const known = new Map<string, Signal<ReadonlyMap<string, string>>>();

/** The title of an item, or "" until it is known. */
export function titleOf(plan: string, item: string): string {
  const { at } = route.value;
  const key = `${at} ${plan}`;
  let titles = known.get(key);
  if (titles === undefined) {
    titles = signal(new Map());
    known.set(key, titles);
    void read(at, plan, titles);
  }
  return titles.value.get(item) ?? "";
}

async function read(at: string, plan: string, into: Signal<ReadonlyMap<string, string>>): Promise<void> {
  const got = await get("get_plan", address`/api/plans/${plan}`, at).catch(() => undefined); // without it, the id must do
  if (got) into.value = new Map(got.items.map((i) => [i.item_id, i.title]));
}

watch((change) => {
  if (touches(change, ["plans"])) known.clear();
});
