// Foreign text. It is never markup: it reaches the page only as text nodes.
import { Fragment } from "preact";
import type { ComponentChildren, JSX } from "preact";
import { useSignal } from "@preact/signals";
import { pieces } from "./marks.ts";
import { bytes } from "./words.ts";

/** Text within a line, with invisible characters shown. Its direction affects nothing around it. */
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

/** Size of the first part of a long text, and of each further part. */
const step = 32 * 1024;

interface BlockProps {
  of: string;
  label?: string;
  code?: boolean;
  /** Content of the frame instead of the lines. */
  children?: ComponentChildren;
}

/** Text with its lines, in a frame that scrolls. */
export function Block({ of, label, code, children }: BlockProps): JSX.Element {
  return (
    <div class={code ? "block code" : "block"} role="group" aria-label={label} tabIndex={0}>
      {children ?? <Lines of={of} />}
    </div>
  );
}

/** The lines of a text. A long text shows its beginning until more is asked for. */
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
