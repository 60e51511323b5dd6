// Foreign text with markup. It is shown as written until the user asks for formatting, because formatted text can
// hide the target of a link.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { signal, useSignal } from "@preact/signals";
import { Nodes } from "./nodes.tsx";
import type { Node } from "./nodes.tsx";
import { Block, Lines, Text } from "./text.tsx";
import { asFault, readMarkup } from "./wire.ts";

const kept = "waybill.formatted";

/** Whether text is formatted everywhere on the page. It lasts as long as the tab. */
const formatted = signal(sessionStorage.getItem(kept) === "yes");

function choose(on: boolean): void {
  formatted.value = on;
  try {
    sessionStorage.setItem(kept, on ? "yes" : "no");
  } catch {
    // without room it is not kept
  }
}

/** The switch for all text, shown once. */
export function Formatting(): JSX.Element {
  const choice = (on: boolean, word: string) => (
    <button type="button" aria-pressed={formatted.value === on} onClick={() => choose(on)}>{word}</button>
  );
  return (
    <span class="choices" role="group" aria-label="How texts are shown">
      {choice(false, "As written")}
      {choice(true, "Formatted")}
    </span>
  );
}

/** Longest text whose markup the server parses. */
const most = 64 * 1024;

/** Answer of the server for a text: nodes, or a reason. */
type Markup = { nodes: readonly Node[] } | { why: string; again: boolean };

const tooLong: Markup = { why: "It has more than 64 KiB, so it is shown as it was written.", again: false };
const tooMuch: Markup = { why: "It has too much markup, so it is shown as it was written.", again: false };

/** Last answers, so that a view does not ask again. */
const known = new Map<string, Markup>();
const mostKnown = 64;

async function markupOf(text: string): Promise<Markup> {
  if (text.length > most) return tooLong;
  const before = known.get(text);
  if (before) return before;
  try {
    const answer = (await readMarkup(text)) as { nodes?: unknown; plain?: unknown } | null;
    if (answer?.plain) return answer.plain === "too_long" ? tooLong : tooMuch;
    const nodes: Markup = { nodes: Array.isArray(answer?.nodes) ? answer.nodes : [] };
    for (const oldest of known.keys()) {
      if (known.size < mostKnown) break;
      known.delete(oldest);
    }
    known.set(text, nodes);
    return nodes;
  } catch (thrown) {
    const fault = asFault(thrown);
    return fault.status === 413 ? tooLong : { why: `It cannot be formatted: ${fault.message}.`, again: true };
  }
}

/** Text in a frame, formatted on request. */
export function Prose({ of, label, code }: { of: string; label: string; code?: boolean }): JSX.Element {
  const got = useSignal<{ of: string; markup: Markup } | undefined>(undefined);
  const asked = useSignal(0);
  const wanted = formatted.value && of.trim() !== "";
  useEffect(() => {
    if (!wanted) return;
    let current = true;
    void markupOf(of).then((markup) => {
      if (current) got.value = { of, markup };
    });
    return () => {
      current = false;
    };
  }, [of, wanted, asked.value]);
  const markup = wanted && got.value?.of === of ? got.value.markup : undefined;
  if (!markup) return <Block of={of} label={label} code={code} />;
  if ("nodes" in markup) return <Block of={of} label={label}><Nodes of={markup.nodes} /></Block>;
  return (
    <Block of={of} label={label} code={code}>
      <p class="faint">
        <Text of={markup.why} /> {markup.again && <button type="button" onClick={() => asked.value++}>Try again</button>}
      </p>
      <Lines of={of} />
    </Block>
  );
}
