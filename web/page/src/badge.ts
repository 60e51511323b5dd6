// Shows the number of waiting tasks in the title and icon of the tab.
import { effect } from "@preact/signals";
import { waiting } from "./inbox.ts";
import { route } from "./route.ts";
import { many } from "./words.ts";

const dot = `<circle cx='24' cy='8' r='8' fill='%23d9480f'/>`;

function picture(waits: boolean): string {
  return (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>" +
    "<path d='M5 7h18v20H5z' fill='none' stroke='%23708090' stroke-width='3'/><path d='M10 14h8M10 20h8' stroke='%23708090' stroke-width='3'/>" +
    (waits ? dot : "") +
    "</svg>"
  );
}

export function keepBadge(): void {
  effect(() => {
    const n = waiting.value;
    const view = route.value.view;
    document.title = (n > 0 ? `(${n}) ` : "") + `${view} – waybill`;
    document.querySelector("link[rel=icon]")?.setAttribute("href", picture(n > 0));
  });
}

/** Whether the user can be asked to allow notifications. */
export function canAsk(): boolean {
  return "Notification" in globalThis && Notification.permission === "default";
}

/** Shows a notification for new questions if allowed and the page is hidden. It has no text of a question. */
export function tellOfQuestions(): void {
  let before: number | undefined;
  effect(() => {
    const n = waiting.value;
    const more = before !== undefined && n > before;
    before = n;
    if (!more || !document.hidden || !("Notification" in globalThis) || Notification.permission !== "granted") return;
    new Notification("waybill", { body: many(n, "thing waits for you", "things wait for you"), tag: "waybill" });
  });
}
