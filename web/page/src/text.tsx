// Text that others have written. It is never markup: the only way onto the page is a text node.
import { Fragment } from "preact";
import type { ComponentChildren, JSX } from "preact";
import { useSignal } from "@preact/signals";
import { pieces } from "./marks.ts";
import { bytes } from "./words.ts";

/** Text in a line, with what hides in it shown. Its direction is its own and turns nothing around it. */
export function Text({ of }: { of: string | undefined }): JSX.Element {
  return <bdi>{of === undefined ? "" : shown(of)}</bdi>;
}

function shown(text: string) {
  return pieces(text).map((piece, i) =>
    typeof piece === "string" ? (
      <Fragment key={i}>{piece}</Fragment>
    ) : (
      <span key={i} class="mark" title={piece.name}>
        {piece.code}
      </span>
    ),
  );
}

/** How much of a long text is shown at first, and how much more with each step. */
const step = 32 * 1024;

interface BlockProps {
  of: string;
  label?: string;
  code?: boolean;
  /** What stands in the frame instead of the lines. */
  children?: ComponentChildren;
}

/** Text in lines, as it was written, in a frame that scrolls. */
export function Block({ of, label, code, children }: BlockProps): JSX.Element {
  return (
    <div class={code ? "block code" : "block"} role="group" aria-label={label} tabIndex={0}>
      {children ?? <Lines of={of} />}
    </div>
  );
}

/** Lines as they were written. Of a long text the beginning, until more is asked for. */
export function Lines({ of }: { of: string }): JSX.Element {
  const most = useSignal(step);
  const all = of.length <= most.value;
  return (
    <>
      <div class="prose" dir="auto">
        {shown(all ? of : of.slice(0, most.value))}
      </div>
      {!all && (
        <button type="button" onClick={() => (most.value += step * 4)}>
          Show more ({bytes(of.length - most.value)} left)
        </button>
      )}
    </>
  );
}
