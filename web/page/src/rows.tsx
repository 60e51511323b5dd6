// Lists of any length: only visible rows exist, and further rows are read when they come near.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Topic } from "./fold.ts";
import { touches } from "./fold.ts";
import { watch } from "./live.ts";
import type { Paged, Row } from "./paged.ts";
import { Trouble, Waiting } from "./parts.tsx";
import { count, many } from "./words.ts";

interface Props<T> {
  list: Paged<T>;
  /** Name of the list for screen readers. */
  label: string;
  noun: string;
  topics: readonly Topic[];
  /** Filter of the list. */
  keep?: ((row: Row<T>) => boolean) | undefined;
  selected?: string | undefined;
  href: (row: Row<T>) => string;
  row: (row: Row<T>) => ComponentChildren;
  empty: ComponentChildren;
}

/** Extra rows above and below the visible ones. */
const spare = 6;

/** Number of entries to search before the user is asked whether to continue. */
const mostLooked = 2000;

/** Time after a movement during which a pointer over the list may be about to press. */
const restless = 10_000;

/** Row height in pixels, which depends on the font size of the user. */
function rowHeight(): number {
  return 4.25 * parseFloat(getComputedStyle(document.documentElement).fontSize);
}

export function Rows<T>(p: Props<T>): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const seen = useSignal({ top: 0, height: 800 });
  const active = useSignal("");
  const looked = useSignal(mostLooked);
  const height = rowHeight();
  const rows = p.keep ? p.list.rows.value.filter(p.keep) : p.list.rows.value;

  const from = Math.max(0, Math.floor(seen.value.top / height) - spare);
  const to = Math.min(rows.length, Math.ceil((seen.value.top + seen.value.height) / height) + spare);
  const near = to >= rows.length - spare;
  // A search without a match does not read the whole list.
  const enough = p.keep !== undefined && p.list.rows.value.length >= looked.value;
  const { complete, loading, fault, ready } = p.list;

  // At once, because the user waits for the first rows.
  useLayoutEffect(() => {
    if (near && !enough && !complete.value && !loading.value && !fault.value) void p.list.more();
  });
  useEffect(() => {
    looked.value = mostLooked;
  }, [p.list]);
  useLayoutEffect(() => measure(box.current, seen), []);
  /** Position of the visible rows. */
  const range = (): [number, number] => {
    const at = (n: number) => Math.max(0, p.keep ? p.list.rows.value.indexOf(rows[n] as Row<T>) : n);
    return [at(from), at(Math.max(from, to - 1))];
  };
  const latest = useRef(range);
  latest.current = range;
  useEffect(() => watch((change) => void (touches(change, p.topics) && p.list.refresh(...latest.current()))), [p.list]);
  // The new rows in sight may be outdated.
  useEffect(() => void p.list.look(...range()));
  const again = () => (ready.value ? p.list.refresh(...range()) : p.list.more());

  const left = p.list.rows.value.filter((row) => row.left);
  const hand = useTidy(box, left.length > 0, (inHand, top) => {
    const inSight = new Set(inHand ? rows.slice(from, to) : []);
    const stays = (row: Row<T>) => row.id === p.selected || row.id === active.value || inSight.has(row);
    const gone = rows.slice(0, Math.floor(top / height)).filter((row) => row.left && !stays(row)).length;
    p.list.drop(stays);
    return gone * height;
  });

  const move = (by: number) => {
    const focused = rows.findIndex((row) => row.id === active.value);
    const start = focused >= 0 ? focused : rows.findIndex((row) => row.id === p.selected);
    focusRow(Math.min(rows.length - 1, Math.max(0, start + by)));
  };
  const focusRow = (n: number) => {
    const row = rows[n];
    if (!row || !box.current) return;
    reveal(box.current, n * height, height);
    active.value = row.id;
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-row="${n}"] a`)?.focus({ preventScroll: true }));
  };
  useEffect(() => {
    const onReturn = (e: Event) => focusRow(rows.findIndex((row) => row.id === (e as CustomEvent<string>).detail));
    addEventListener("waybill:return", onReturn);
    return () => removeEventListener("waybill:return", onReturn);
  });
  useEffect(() => {
    const onMove = (e: Event) => move((e as CustomEvent<number>).detail);
    addEventListener("waybill:move", onMove);
    return () => removeEventListener("waybill:move", onMove);
  });

  const there = left.length === 0 ? rows.length : rows.filter((row) => !row.left).length;
  const shown = new Set<number>();
  for (let n = from; n < to; n++) shown.add(n);
  // The focused row stays, so that the focus is not lost.
  const focused = rows.findIndex((row) => row.id === active.value);
  if (focused >= 0) shown.add(focused);

  return (
    <div
      class="rows"
      aria-busy={loading.value}
      ref={box}
      tabIndex={-1}
      {...hand}
      onKeyDown={(e) => {
        const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -rows.length, End: rows.length }[e.key];
        if (by === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
        e.preventDefault();
        move(by);
      }}
    >
      {fault.value && <Trouble fault={fault.value} again={again} />}
      {!ready.value && !fault.value && <Waiting what={p.noun} />}
      {ready.value && complete.value && rows.length === 0 && p.empty}
      {p.list.newer.value > 0 && (
        <p class="newer">
          <button type="button" onClick={() => void p.list.restart()}>Show {many(p.list.newer.value, "new one", "new ones")}</button>
        </p>
      )}
      {rows.length > 0 && (
        <ul class="sheet" aria-label={p.label} style={{ height: `${rows.length * height}px` }}>
          {[...shown].sort((a, b) => a - b).map((n) => {
            const row = rows[n];
            if (!row) return null;
            return (
              <li
                key={row.id}
                data-row={n}
                class={row.left ? "row left" : "row"}
                style={{ top: `${n * height}px`, height: `${height}px` }}
                aria-setsize={complete.value ? rows.length : -1}
                aria-posinset={n + 1}
              >
                <a
                  href={p.href(row)}
                  aria-current={row.id === p.selected ? "true" : undefined}
                  onFocus={() => (active.value = row.id)}
                  onBlur={() => (active.value = "")}
                >
                  {p.row(row)}
                </a>
              </li>
            );
          })}
        </ul>
      )}
      {ready.value && (
        <p class="rows-end faint">
          {loading.value && !complete.value ? "Reading more…" : many(there, p.noun.replace(/s$/, "")) + (complete.value ? "" : enough ? ` among the first ${count(p.list.rows.value.length)}` : " so far")}
          {enough && !complete.value && (
            <button type="button" class="quiet" onClick={() => (looked.value = 2 * p.list.rows.value.length)}>
              Look further
            </button>
          )}
          {left.length > 0 && (
            <button type="button" class="quiet" onClick={() => void p.list.restart()}>
              Clear those that left
            </button>
          )}
        </p>
      )}
    </div>
  );
}

/**
 * Drops rows that left: all of them if the list is not in use, and only rows out of sight otherwise. drop gets that
 * fact and the scroll position, and returns the height removed above, so that visible rows stay in place.
 */
function useTidy(box: { current: HTMLElement | null }, some: boolean, drop: (inHand: boolean, top: number) => number): { onPointerMove: () => void; onPointerLeave: () => void } {
  const pointed = useRef(0);
  const tidy = () => {
    if (!box.current || !some) return;
    const above = drop(held(box.current, pointed.current), box.current.scrollTop);
    if (above > 0) box.current.scrollTop -= above;
  };
  useEffect(tidy);
  useEffect(() => {
    document.addEventListener("visibilitychange", tidy);
    return () => document.removeEventListener("visibilitychange", tidy);
  });
  return { onPointerMove: () => (pointed.current = Date.now()), onPointerLeave: tidy };
}

/** Whether the list is in use: it has the focus, or a pointer moved over it just now. */
function held(box: HTMLElement, pointed: number): boolean {
  if (document.hidden) return false;
  return box.contains(document.activeElement) || (box.matches(":hover") && Date.now() - pointed < restless);
}

function reveal(box: HTMLElement, top: number, height: number): void {
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
}

/** Reports the visible part of a box, until the returned function is called. */
function measure(box: HTMLElement | null, seen: { value: { top: number; height: number } }): (() => void) | undefined {
  if (!box) return undefined;
  const look = () => {
    const { top, height } = seen.value;
    if (top !== box.scrollTop || height !== box.clientHeight) seen.value = { top: box.scrollTop, height: box.clientHeight };
  };
  const sized = new ResizeObserver(look);
  sized.observe(box);
  box.addEventListener("scroll", look, { passive: true });
  look();
  return () => {
    sized.disconnect();
    box.removeEventListener("scroll", look);
  };
}

