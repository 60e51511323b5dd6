// Settings of the user. None is secret, so they outlive the tab.
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

function kept(name: string): string {
  try {
    return localStorage.getItem("waybill." + name) ?? "";
  } catch {
    return ""; // storage may be forbidden; then settings last only for the page
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem("waybill." + name, value);
  } catch {
    // see kept
  }
}

const chosen = kept("theme");
export const theme = signal<Theme>(chosen === "light" || chosen === "dark" ? chosen : "system");
/** Whether single letters are commands. */
export const shortcuts = signal(kept("shortcuts") !== "off");
/** The name for answers; "" for none. */
export const me = signal(kept("name"));

export function chooseTheme(to: Theme): void {
  theme.value = to;
  keep("theme", to);
  document.documentElement.dataset["theme"] = to;
}

export function chooseShortcuts(on: boolean): void {
  shortcuts.value = on;
  keep("shortcuts", on ? "on" : "off");
}

export function chooseName(name: string): void {
  me.value = name;
  keep("name", name);
}
