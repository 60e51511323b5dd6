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
  useEffect(() => {
    if (pane.current) pane.current.scrollTop = 0;
    const left = before.current;
    before.current = p.id;
    if (left === p.id || !lost()) return undefined;
    if (p.id !== "") return pane.current ? focusTitle(pane.current) : undefined;
    focusLink(link({ view: p.view, id: left, filter: p.filter }));
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
