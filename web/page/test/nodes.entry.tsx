// Draws nodes for a test, in the page under its policy.
import { render } from "preact";
import { Nodes } from "../src/nodes.tsx";
import type { Node } from "../src/nodes.tsx";

(globalThis as unknown as { draw: (nodes: Node[]) => string }).draw = (nodes) => {
  const place = document.createElement("div");
  document.body.append(place);
  render(<Nodes of={nodes} />, place);
  const drawn = place.innerHTML;
  place.remove();
  return drawn;
};
