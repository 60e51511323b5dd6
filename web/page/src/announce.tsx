// What changed is said to whoever cannot see it, once, and not more often than can be listened to.
import type { JSX } from "preact";
import { signal } from "@preact/signals";

const said = signal("");
const apart = 1500;
let last = 0;
let waiting: ReturnType<typeof setTimeout> | undefined;

/** Says a sentence. Of several in a moment only the last is said. */
export function announce(sentence: string): void {
  clearTimeout(waiting);
  const wait = Math.max(0, last + apart - Date.now());
  const say = () => {
    last = Date.now();
    // The same sentence again is only read out if it is not the same.
    said.value = said.value === sentence ? sentence + "\u00a0" : sentence;
  };
  if (wait === 0) say();
  else waiting = setTimeout(say, wait);
}

export function Announcer(): JSX.Element {
  return (
    <p class="unseen" role="status" aria-live="polite">
      {said.value}
    </p>
  );
}
