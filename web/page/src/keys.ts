// Single keys as commands. They have no effect in a text field, or if they are switched off.
import { undo } from "./bulk.tsx";
import { helpOpen } from "./help.tsx";
import { pause, paused } from "./live.ts";
import { goNext } from "./next.tsx";
import { go, route } from "./route.ts";
import type { View } from "./route.ts";
import { shortcuts } from "./settings.ts";

const places: Record<string, View> = { i: "inbox", t: "tasks", r: "runs", p: "plans", n: "notices", c: "instructions", s: "status" };

/** Time after g in which the second letter counts. */
const together = 1500;
let leads = 0;

export function listenToKeys(): void {
  addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.isComposing || e.keyCode === 229 || e.ctrlKey || e.metaKey || e.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    if (e.key === "Escape") return leave(e);
    if (!shortcuts.value || typing(e.target)) return;
    if (command(e.key, e.target)) e.preventDefault();
  });
}

function typing(at: EventTarget | null): boolean {
  return at instanceof HTMLElement && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));
}

/** Leaves a field, or returns to the list. */
function leave(e: KeyboardEvent): void {
  if (typing(e.target)) {
    (e.target as HTMLElement).blur();
    return;
  }
  const { view, id, part, filter } = route.value;
  if (part !== "") go({ view, id, filter });
  else if (id !== "") go({ view, filter, ...(view === "inbox" ? { at: "" } : {}) });
}

/** Runs a command. Returns whether the key was one. */
function command(key: string, at: EventTarget | null): boolean {
  const second = Date.now() - leads < together;
  leads = 0;
  const place = second && Object.hasOwn(places, key) ? places[key] : undefined;
  if (place !== undefined) {
    go({ view: place, ...(place === "inbox" ? { at: "" } : {}) });
    return true;
  }
  switch (key) {
    case "g":
      leads = Date.now();
      return true;
    case "ArrowDown":
      return at === document.body && moved(1);
    case "ArrowUp":
      return at === document.body && moved(-1);
    case "j":
      return moved(1);
    case "k":
      return moved(-1);
    case "n":
      return goNext();
    case "z":
      return undo();
    case "r":
      return focused("reply");
    case "/":
      return focused("filter");
    case "?":
      helpOpen.value = true;
      return true;
    case ".":
      pause(!paused.value);
      return true;
  }
  return false;
}

function moved(by: number): boolean {
  dispatchEvent(new CustomEvent("waybill:move", { detail: by }));
  return true;
}

function focused(id: string): boolean {
  const field = document.getElementById(id);
  field?.focus();
  return field !== null;
}
