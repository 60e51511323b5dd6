// Foreign text with markup. It is shown as written until the user asks for formatting, because formatted text can
// hide the target of a link.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { signal, useSignal } from "@preact/signals";
import { parse } from "./markdown.ts";
import type { Markdown } from "./markdown.ts";
import { Nodes } from "./nodes.tsx";
import { Block, Lines, Text } from "./text.tsx";

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

/** The time for all texts that wait together, such as those of a view. The page answers after each of them. */
const allMs = 2000;
let waiting = 0;
let left = allMs;
let turn: Promise<unknown> = Promise.resolve();

/** Calls parse with the time that is left, when the page has answered what waited for it. */
function inTurn(parse: (ms: number) => void): void {
  if (waiting++ === 0) left = allMs;
  turn = turn.then(() => new Promise((done) => setTimeout(done)));
  void turn.then(() => {
    waiting--;
    const begun = performance.now();
    parse(left);
    left = Math.max(0, left - (performance.now() - begun));
  });
}

/** Text in a frame, formatted on request. */
export function Prose({ of, label, code }: { of: string; label: string; code?: boolean }): JSX.Element {
  const got = useSignal<{ of: string; markdown: Markdown } | undefined>(undefined);
  const wanted = formatted.value && of.trim() !== "";
  useEffect(() => {
    if (!wanted) return;
    let current = true;
    inTurn((ms) => {
      if (current) got.value = { of, markdown: parse(of, ms) };
    });
    return () => {
      current = false;
    };
  }, [of, wanted]);
  const markdown = wanted && got.value?.of === of ? got.value.markdown : undefined;
  if (!markdown) return <Block of={of} label={label} code={code} />;
  if ("tokens" in markdown) return <Block of={of} label={label}><Nodes of={markdown.tokens} /></Block>;
  return (
    <Block of={of} label={label} code={code}>
      <p class="faint"><Text of={markdown.why} /></p>
      <Lines of={of} />
    </Block>
  );
}
