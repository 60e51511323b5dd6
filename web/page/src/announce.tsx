// Announces changes to screen readers, once and not too often.
import type { JSX } from "preact";
import { effect, signal } from "@preact/signals";
import { inbox, waiting } from "./inbox.ts";
import { linkState } from "./live.ts";
import { many } from "./words.ts";

const said = signal("");
const apart = 1500;
let last = 0;
/** Pending sentences by subject. */
const unsaid = new Map<string, string>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Announces a sentence. Of several about one subject in a short time, only the last is announced. */
export function announce(sentence: string, about = ""): void {
  unsaid.delete(about);
  unsaid.set(about, sentence);
  timer ??= setTimeout(say, Math.max(0, last + apart - Date.now()));
}

function say(): void {
  timer = undefined;
  if (unsaid.size === 0) return;
  last = Date.now();
  const words = [...unsaid.values()].join(" ");
  unsaid.clear();
  // A screen reader repeats a sentence only if its text differs.
  said.value = said.value === words ? words + "\u00a0" : words;
}

/** Announces new questions, and a lost or restored connection. Banners announce themselves. */
export function announceAlong(): void {
  let before: number | undefined;
  effect(() => {
    const n = inbox.value === undefined ? undefined : waiting.value;
    if (before !== undefined && n !== undefined && n > before) announce(`${many(n - before, "new entry", "new entries")}. ${many(n, "thing waits", "things wait")} for you.`, "questions");
    before = n;
  });
  let broken = false;
  effect(() => {
    const state = linkState.value;
    if (state === "reconnecting" && !broken) announce("The connection broke.", "link");
    // A change that is already over is not announced.
    if (state === "live" && broken && !unsaid.delete("link")) announce("The page is up to date again.", "link");
    if (state !== "connecting") broken = state !== "live";
  });
}

export function Announcer(): JSX.Element {
  return (
    <p class="unseen" role="status" aria-live="polite">
      {said.value}
    </p>
  );
}
