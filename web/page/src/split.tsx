// A list and its selection, side by side; a narrow page shows one of them.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { link } from "./route.ts";
import type { View } from "./route.ts";

interface Props {
  view: View;
  title: string;
  /** The selection; "" for none. */
  id: string;
  filter: string;
  at?: string;
  head?: ComponentChildren;
  list: ComponentChildren;
  detail: ComponentChildren;
  nothing: ComponentChildren;
}

/**
 * The focus follows the user who opens an entry or goes back, because a narrow page hides the list or the details.
 */
export function Split(p: Props): JSX.Element {
  const pane = useRef<HTMLElement>(null);
  const before = useRef(p.id);
  const place = useRef(p.at);
  useEffect(() => {
    if (pane.current) pane.current.scrollTop = 0;
    const [left, was] = [before.current, place.current];
    [before.current, place.current] = [p.id, p.at];
    if (left === p.id || !lost()) return undefined;
    if (p.id !== "") return pane.current ? focusTitle(pane.current) : undefined;
    focusLink(link({ view: p.view, id: left, filter: p.filter, at: was }));
    dispatchEvent(new CustomEvent("waybill:return", { detail: left }));
    return undefined;
  }, [p.id]);
  return (
    <div class={p.id === "" ? "split" : "split has-detail"}>
      <section class="list-pane" aria-label={p.title}>
        <div class="list-head">
          <h1>{p.title}</h1>
          {p.head}
        </div>
        {p.list}
      </section>
      <section class="detail-pane" aria-label="Details" tabIndex={-1} ref={pane}>
        {p.id !== "" && (
          <p class="back">
            <a href={link({ view: p.view, filter: p.filter })}>← {p.title}</a>
          </p>
        )}
        {p.id === "" ? <div class="nothing">{p.nothing}</div> : p.detail}
      </section>
    </div>
  );
}

/** Lets keys move the focus between the rows of a list that is wholly there. */
export function useMoves(box: { current: HTMLElement | null }): (e: KeyboardEvent) => void {
  useEffect(() => {
    const move = (e: Event) => {
      const links = [...(box.current?.querySelectorAll<HTMLElement>(".row > a") ?? [])];
      const focused = links.findIndex((a) => a === document.activeElement);
      const from = focused >= 0 ? focused : links.findIndex((a) => a.getAttribute("aria-current") === "true");
      links[Math.min(links.length - 1, Math.max(0, from + (e as CustomEvent<number>).detail))]?.focus();
    };
    addEventListener("waybill:move", move);
    return () => removeEventListener("waybill:move", move);
  }, []);
  return (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[e.key];
    if (by === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    dispatchEvent(new CustomEvent("waybill:move", { detail: by }));
  };
}

/** Whether no visible element has the focus. */
function lost(): boolean {
  const at = document.activeElement;
  return at === null || at === document.body || !at.checkVisibility();
}

/** Moves the focus to the title of the details as soon as it exists, unless the user moves it first. */
function focusTitle(pane: HTMLElement): () => void {
  pane.focus({ preventScroll: true });
  const look = () => {
    const title = pane.querySelector<HTMLElement>("#detail-title");
    if (!title) return;
    if (document.activeElement === pane) title.focus({ preventScroll: true });
    watching.disconnect();
  };
  const watching = new MutationObserver(look);
  watching.observe(pane, { childList: true, subtree: true });
  look();
  return () => watching.disconnect();
}

function focusLink(href: string): void {
  const links = [...document.querySelectorAll<HTMLElement>(".list-pane a")];
  links.find((a) => a.getAttribute("href") === href)?.focus();
}
