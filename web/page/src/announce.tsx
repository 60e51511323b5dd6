// What changed is said to whoever cannot see it, once, and not more often than can be listened to.
import type { JSX } from "preact";
import { effect, signal } from "@preact/signals";
import { status, waiting } from "./counts.ts";
import { linkState } from "./live.ts";
import { many } from "./words.ts";

const said = signal("");
const apart = 1500;
let last = 0;
/** What is still to be said, by what it is about. */
const unsaid = new Map<string, string>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says a sentence. Of several in a moment about the same thing only the last is said. */
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
  // The same words again are only read out if they are not the same.
  said.value = said.value === words ? words + "\u00a0" : words;
}

/** Tells of new questions, and of a connection that broke or is there again. Banners tell the rest by themselves. */
export function announceAlong(): void {
  let before: number | undefined;
  effect(() => {
    const n = status.value === undefined ? undefined : waiting.value;
    if (before !== undefined && n !== undefined && n > before) announce(`${many(n - before, "new question")}. ${many(n, "task waits", "tasks wait")} for you.`, "questions");
    before = n;
  });
  let broken = false;
  effect(() => {
    const state = linkState.value;
    if (state === "reconnecting" && !broken) announce("The connection broke.", "link");
    // What is over before it was told is not worth telling.
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
