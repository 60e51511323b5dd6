// The clock for ages. It ticks only while a component uses it.
import { signal } from "@preact/signals";

export const now = signal(Date.now());

const tick = 1000;
let timer: ReturnType<typeof setInterval> | undefined;

function wind(): void {
  clearInterval(timer);
  timer = undefined;
  if (document.hidden) return;
  now.value = Date.now();
  timer = setInterval(() => (now.value = Date.now()), tick);
}

export function runClock(): void {
  document.addEventListener("visibilitychange", wind);
  wind();
}
