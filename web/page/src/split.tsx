// A list and what is selected in it, side by side; on a narrow page one of the two.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { link } from "./route.ts";
import type { View } from "./route.ts";

interface Props {
  view: View;
  title: string;
  /** What is selected; "" for nothing. */
  id: string;
  filter: string;
  head?: ComponentChildren;
  list: ComponentChildren;
  detail: ComponentChildren;
  nothing: ComponentChildren;
}

/**
 * Whoever opens something, or goes back, is brought along if the focus would be lost: on a narrow page the row that was
 * chosen is not there any more, and then the details are not.
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

/** Whether nothing has the focus that can be seen. */
function lost(): boolean {
  const at = document.activeElement;
  return at === null || at === document.body || !at.checkVisibility();
}

/** Gives the focus to the title of what is shown, once it is there, unless it is taken elsewhere before. */
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
