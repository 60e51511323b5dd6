// The items of a plan, one per line. Only lines near the visible part of a long plan exist.
import type { JSX } from "preact";
import type { Run } from "../../../schema/gen/protocol.ts";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Sign, State } from "./parts.tsx";
import { link } from "./route.ts";
import { Text } from "./text.tsx";
import { progress, statusOfItem } from "./tree.ts";
import type { Line } from "./tree.ts";

/** Props shared by all lines. */
interface About {
  plan: string;
  /** The selected item. */
  part: string;
  ready: ReadonlySet<string>;
  /** The newest run of each item, and the items that hold an item. */
  runs: ReadonlyMap<string, Run>;
  held: ReadonlyMap<string, readonly string[]>;
  total: number;
}

/** Lines per group. */
const together = 50;

export function TreeView({ of, ...about }: { of: readonly Line[] } & Omit<About, "total">): JSX.Element {
  const parts: JSX.Element[] = [];
  for (let from = 0; from < of.length; from += together) {
    parts.push(<Part key={from} of={of.slice(from, from + together)} from={from} {...about} total={of.length} />);
  }
  return <div class="tree">{parts}</div>;
}

/** A group of lines. Far from the visible part, it is only empty space. */
function Part({ of, from, ...about }: { of: readonly Line[]; from: number } & About): JSX.Element {
  const box = useRef<HTMLUListElement>(null);
  const near = useSignal(from === 0);
  const height = useRef(0);
  useLayoutEffect(() => {
    const list = box.current;
    if (!list) return undefined;
    const look = ([entry]: IntersectionObserverEntry[]) => {
      // The focused line stays.
      const stays = entry?.isIntersecting === true || list.contains(document.activeElement);
      if (near.value && !stays) height.current = list.offsetHeight;
      near.value = stays;
    };
    const margin: IntersectionObserverInit & { scrollMargin: string } = { rootMargin: "50%", scrollMargin: "50%" };
    const watching = new IntersectionObserver(look, margin);
    watching.observe(list);
    return () => watching.disconnect();
  }, []);
  if (!near.value) return <ul ref={box} style={{ height: height.current > 0 ? `${height.current}px` : `${of.length * 1.75}rem` }} />;
  return <ul ref={box}>{of.map((line, i) => <ItemLine key={line.branch.key} of={line} at={from + i + 1} {...about} />)}</ul>;
}

function ItemLine({ of: { branch, level }, at, plan, part, ready, runs, held, total }: { of: Line; at: number } & About): JSX.Element {
  const { item } = branch;
  const p = progress(branch);
  const run = runs.get(item.item_id);
  const before = held.get(item.item_id) ?? [];
  return (
    <li class={`item tone-of-${statusOfItem(item)}`} style={{ paddingLeft: `${Math.min(level - 1, 8) * 1.4}rem` }} aria-level={level} aria-posinset={at} aria-setsize={total}>
      <State of={statusOfItem(item)} />
      <a href={link({ view: "plans", id: plan, part: item.item_id })} aria-current={item.item_id === part ? "true" : undefined}>
        <span class="item-id"><Text of={item.item_id} /></span> <Text of={item.title} />
      </a>
      {run && <a href={link({ view: "runs", id: run.run_id })}>{run.state === "done" || run.proof.state === "refuted" ? <Sign of={run.proof.state} word /> : <State of={run.state} />}</a>}
      {before.length > 0 && <span class="tag">after <Text of={before.join(", ")} /></span>}
      {ready.has(item.item_id) && <span class="tag">ready</span>}
      {item.optional && <span class="tag">optional</span>}
      {branch.below.length > 0 && <span class="faint">{p.done}/{p.of}</span>}
    </li>
  );
}
