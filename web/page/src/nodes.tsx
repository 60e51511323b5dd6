// Draws parsed markup: a tree of nodes in JSON. An unknown kind is drawn as its text. There is no HTML string.
import type { ComponentChildren, JSX } from "preact";
import { Text } from "./text.tsx";
import { visible } from "./marks.ts";

/** A Node comes from the server and is not trusted. */
export interface Node {
  kind: string;
  text?: string;
  /** of a link or a picture */
  url?: string;
  /** of a heading, from 1 */
  level?: number;
  /** of a list: whether it is numbered, and from where */
  ordered?: boolean;
  start?: number;
  /** of an item with a box */
  checked?: boolean;
  /** of a cell: whether it is of the head of its table */
  header?: boolean;
  children?: Node[];
}

/** Below this depth only text is drawn. */
const deepest = 64;

export function Nodes({ of }: { of: readonly Node[] }): JSX.Element {
  return <div class="nodes" dir="auto">{drawn(of, 0)}</div>;
}

function drawn(nodes: unknown, depth: number): ComponentChildren {
  if (!Array.isArray(nodes)) return null;
  return nodes.map((node, i) => (isNode(node) ? <One key={i} node={node} depth={depth} /> : null));
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).kind === "string";
}

function One({ node, depth }: { node: Node; depth: number }): JSX.Element {
  const inner = () => (depth < deepest ? drawn(node.children, depth + 1) : <Text of={plain(node)} />);
  switch (node.kind) {
    case "text":
      return <Text of={string(node.text)} />;
    case "paragraph":
      return <p>{inner()}</p>;
    case "heading": {
      // Headings in a text are below those of the page and not in its outline.
      const level = Math.min(6, Math.max(1, Math.trunc(Number(node.level)) || 1));
      return <p class={`heading heading-${level}`}>{inner()}</p>;
    }
    case "emphasis":
      return <em>{inner()}</em>;
    case "strong":
      return <strong>{inner()}</strong>;
    case "strikethrough":
      return <s>{inner()}</s>;
    case "code":
      return <code><Text of={string(node.text)} /></code>;
    case "code_block":
      return <pre tabIndex={0}><code><Text of={string(node.text)} /></code></pre>;
    case "plain":
      return <p class="prose"><Text of={string(node.text)} /></p>;
    case "quote":
      return <blockquote>{inner()}</blockquote>;
    case "list":
      return node.ordered === true ? <ol start={Number.isInteger(node.start) ? node.start : 1}>{inner()}</ol> : <ul>{inner()}</ul>;
    case "item":
      return (
        <li>
          {typeof node.checked === "boolean" && <span class="box">{node.checked ? "[x] " : "[ ] "}</span>}
          {inner()}
        </li>
      );
    case "link":
    case "image":
      return <Link node={node}>{inner()}</Link>;
    case "rule":
      return <hr />;
    case "break":
      return <br />;
    case "table":
      return <div class="scroll" tabIndex={0}><table><tbody>{inner()}</tbody></table></div>;
    case "row":
      return <tr>{inner()}</tr>;
    case "cell":
      // A screen reader needs a text in each heading.
      return node.header === true && plain(node).trim() !== "" ? <th scope="col">{inner()}</th> : <td>{inner()}</td>;
    default:
      return <Text of={plain(node)} />;
  }
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The text of a node and its descendants. */
function plain(node: Node): string {
  const parts: string[] = [];
  const rest: unknown[] = [node];
  while (rest.length > 0) {
    const one = rest.pop();
    if (!isNode(one)) continue;
    parts.push(string(one.text));
    if (Array.isArray(one.children)) for (let i = one.children.length - 1; i >= 0; i--) rest.push(one.children[i]);
  }
  return parts.join("");
}

const schemes = new Set(["http:", "https:", "mailto:"]);

/** The address of a link, or "" if it is not allowed. */
export function followable(url: unknown): string {
  const written = string(url);
  if (!/^(https?:\/\/|mailto:)/i.test(written)) return "";
  try {
    const parsed = new URL(written);
    return schemes.has(parsed.protocol) ? parsed.href : "";
  } catch {
    return "";
  }
}

/** A link shows its target. A picture becomes a link, because loading it would reveal that the text was read. */
function Link({ node, children }: { node: Node; children: ComponentChildren }): JSX.Element {
  const to = followable(node.url);
  const label = node.kind === "image" ? "picture: " : "";
  if (to === "") {
    return (
      <span class="dead-link">
        {label}
        {children} (<Text of={string(node.url)} />)
      </span>
    );
  }
  const parsed = new URL(to);
  return (
    <a href={to} title={visible(to)} target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer">
      {label}
      {children} <span class="host">({visible(parsed.host || parsed.pathname)})</span>
    </a>
  );
}
