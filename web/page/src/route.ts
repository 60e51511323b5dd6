// The fragment of the URL has the view, the selection and the filter, so that links and the history work. The server
// never sees it.
import { signal } from "@preact/signals";

export const views = ["inbox", "tasks", "runs", "plans", "instructions", "notices", "status"] as const;
export type View = (typeof views)[number];

/** A Route is a place on the page. part is the item of a plan; at is the id of another workspace, or "". */
export interface Route {
  view: View;
  id: string;
  part: string;
  filter: string;
  at: string;
}

const home: Route = { view: "inbox", id: "", part: "", filter: "", at: "" };

/** Reads a fragment. An unreadable one leads to the inbox. */
export function parse(fragment: string): Route {
  const [path = "", search = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").map(decoded);
  const view = views.find((v) => v === parts[0]);
  if (view === undefined) return { ...home };
  const query = new URLSearchParams(search);
  return { view, id: parts[1] ?? "", part: parts[2] ?? "", filter: query.get("q") ?? "", at: query.get("w") ?? "" };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

export const route = signal<Route>(home);

/** Writes a fragment that parse reads back. It stays in the workspace that is shown, unless another is given. */
export function link(to: Partial<Route> & { view: View }): string {
  const parts = [to.view, to.id ?? "", to.part ?? ""];
  while (parts.at(-1) === "") parts.pop();
  const query = new URLSearchParams();
  if (to.filter) query.set("q", to.filter);
  const at = to.at ?? route.value.at;
  if (at !== "") query.set("w", at);
  return "#/" + parts.map(encodeURIComponent).join("/") + (query.size > 0 ? `?${query.toString()}` : "");
}

/** Keeps route equal to the URL. */
export function followURL(): void {
  const read = () => (route.value = parse(location.hash));
  addEventListener("hashchange", read);
  read();
}

/** Changes the place without an entry in the history. */
export function replace(to: Partial<Route> & { view: View }): void {
  history.replaceState(null, "", link(to));
  route.value = { ...home, ...to };
}

/** Whether the page shows a list or the details, and not both. */
export function narrow(): boolean {
  return matchMedia("(max-width: 52rem)").matches;
}

export function go(to: Partial<Route> & { view: View }): void {
  location.hash = link(to);
}

/** Changes the filter without an entry in the history for each key. */
export function filterBy(filter: string): void {
  history.replaceState(null, "", link({ ...route.value, filter }));
  route.value = { ...route.value, filter };
}

/** A Filter is a parsed line such as `status:error run:run_1 deploy`. */
export interface Filter {
  fields: Record<string, string>;
  words: string[];
}

/** Reads a filter. A field outside names is a word. */
export function parseFilter(line: string, names: readonly string[]): Filter {
  const filter: Filter = { fields: {}, words: [] };
  for (const word of line.split(/\s+/).filter((w) => w !== "")) {
    const colon = word.indexOf(":");
    const name = word.slice(0, Math.max(0, colon)).toLowerCase();
    if (names.includes(name)) {
      if (colon < word.length - 1) filter.fields[name] = word.slice(colon + 1);
    } else {
      filter.words.push(word.toLowerCase());
    }
  }
  return filter;
}

/** Returns a line with another value for a field, or without it. */
export function withField(line: string, name: string, value: string): string {
  const rest = line.split(/\s+/).filter((w) => w !== "" && !w.toLowerCase().startsWith(name + ":"));
  if (value !== "") rest.unshift(`${name}:${value}`);
  return rest.join(" ");
}

/** Whether the texts contain all words. */
export function holds(words: readonly string[], ...texts: (string | undefined)[]): boolean {
  if (words.length === 0) return true;
  const all = texts.join("\n").toLowerCase();
  return words.every((word) => all.includes(word));
}
