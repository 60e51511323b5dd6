// Draws Markdown for a test, in the page under its policy, and returns what it cost.
//
// The parser looks at the clock at each step, and gives up when its time is over. Longest is the time between two looks.
import { render } from "preact";
import { parse } from "../src/markdown.ts";
import { Nodes } from "../src/nodes.tsx";

const clock = performance.now.bind(performance);

function measure(text: string) {
  const begun = clock();
  let longest = 0;
  let last = begun;
  Object.defineProperty(performance, "now", {
    configurable: true,
    value: () => {
      const now = clock();
      longest = Math.max(longest, now - last);
      return (last = now);
    },
  });
  const markdown = parse(text);
  performance.now();
  Reflect.deleteProperty(performance, "now");
  const ms = last - begun;
  const place = document.createElement("div");
  document.body.append(place);
  if ("tokens" in markdown) render(<Nodes of={markdown.tokens} />, place);
  const all = [...place.querySelectorAll("*")];
  const links = [...place.querySelectorAll("a")].map((a) => (a.querySelector("a") ? "a link in a link" : a.protocol));
  let deepest = 0;
  for (const one of all) {
    let depth = 0;
    for (let at: Element | null = one; at !== place; at = at?.parentElement ?? place) depth++;
    deepest = Math.max(deepest, depth);
  }
  render(null, place);
  place.remove();
  return { ms, longest, elements: all.length, deepest, protocols: [...new Set(links)] };
}

(globalThis as unknown as { measure: typeof measure }).measure = measure;
