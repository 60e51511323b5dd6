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

/** Fulfilled when the page has answered what waited for it: parsing many texts does not stop it for long. */
let turn: Promise<unknown> = Promise.resolve();

function nextTurn(): Promise<unknown> {
  turn = turn.then(() => new Promise((done) => setTimeout(done)));
  return turn;
}

/** Text in a frame, formatted on request. */
export function Prose({ of, label, code }: { of: string; label: string; code?: boolean }): JSX.Element {
  const got = useSignal<{ of: string; markdown: Markdown } | undefined>(undefined);
  const wanted = formatted.value && of.trim() !== "";
  useEffect(() => {
    if (!wanted) return;
    let current = true;
    void nextTurn().then(() => {
      if (current) got.value = { of, markdown: parse(of) };
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
