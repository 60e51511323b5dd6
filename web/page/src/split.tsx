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

export function Split(p: Props): JSX.Element {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    if (pane.current) pane.current.scrollTop = 0;
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
      <section class="detail-pane" aria-label="Details" ref={pane}>
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
