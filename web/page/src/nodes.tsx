// Draws parsed Markdown. There is no HTML string: tokens of known types become elements, everything else becomes text.
import type { ComponentChildren, JSX } from "preact";
import type { MarkedToken, Token, Tokens } from "marked";
import { Text } from "./text.tsx";
import { visible } from "./marks.ts";

/** Below this depth tokens are shown as written. */
const deepest = 64;

/** Where a token is: how deep, and whether in a link, which cannot contain another. */
interface Place {
  depth: number;
  linked: boolean;
}

export function Nodes({ of }: { of: readonly Token[] }): JSX.Element {
  return <div class="nodes" dir="auto">{drawn(of, { depth: 0, linked: false })}</div>;
}

function drawn(tokens: readonly Token[], at: Place): ComponentChildren {
  const all: ComponentChildren[] = [];
  let words = "";
  const flush = () => {
    if (words !== "") all.push(<Text key={all.length} of={words} />);
    words = "";
  };
  for (const token of tokens) {
    // Adjacent text is one text, so that its direction is that of all of it.
    const more = wordsOf(token as MarkedToken);
    if (more !== undefined) {
      words += more;
      continue;
    }
    flush();
    all.push(<One key={all.length} token={token as MarkedToken} at={at} />);
  }
  flush();
  return all;
}

/** The text of a token that is nothing but text. */
function wordsOf(token: MarkedToken): string | undefined {
  switch (token.type) {
    case "text":
      return token.tokens ? undefined : unescaped(token.raw);
    case "escape":
      return token.text;
    case "html":
      return token.block ? undefined : token.raw;
    default:
      return undefined;
  }
}

function One({ token, at }: { token: MarkedToken; at: Place }): JSX.Element | null {
  if (at.depth >= deepest) return <Text of={token.raw} />;
  const below = { depth: at.depth + 1, linked: at.linked };
  switch (token.type) {
    case "text":
      return <>{drawn(token.tokens ?? [], at)}</>;
    case "paragraph":
      return <p>{drawn(token.tokens, below)}</p>;
    case "heading":
      // Headings in a text are below those of the page and not in its outline.
      return <p class={`heading heading-${token.depth}`}>{drawn(token.tokens, below)}</p>;
    case "em":
      return <em>{drawn(token.tokens, below)}</em>;
    case "strong":
      return <strong>{drawn(token.tokens, below)}</strong>;
    case "del":
      return <s>{drawn(token.tokens, below)}</s>;
    case "codespan":
      return <code><Text of={token.text} /></code>;
    case "code":
      return <pre tabIndex={0}><code><Text of={withoutLastNewline(token.text)} /></code></pre>;
    case "html":
      return <p class="prose"><Text of={withoutLastNewline(token.text)} /></p>;
    case "blockquote":
      return <blockquote>{drawn(token.tokens, below)}</blockquote>;
    case "list": {
      const items = token.items.map((item, i) => <li key={i}>{drawn(item.tokens, below)}</li>);
      return token.ordered ? <ol start={token.start === "" ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "checkbox":
      return <span class="box">{token.checked ? "[x] " : "[ ] "}</span>;
    case "link":
    case "image":
      return <Link token={token} at={below} />;
    case "hr":
      return <hr />;
    case "br":
      return <br />;
    case "table":
      return (
        <div class="scroll" tabIndex={0}>
          <table>
            <tbody>
              <Row cells={token.header} at={below} />
              {token.rows.map((cells, i) => <Row key={i} cells={cells} at={below} />)}
            </tbody>
          </table>
        </div>
      );
    case "space":
    case "def":
      return null;
    default:
      return <Text of={token.raw} />;
  }
}

function withoutLastNewline(text: string): string {
  return text.replace(/\n$/, "");
}

function Row({ cells, at }: { cells: readonly Tokens.TableCell[]; at: Place }): JSX.Element {
  return (
    <tr>
      {cells.map((cell, i) => {
        const inner = drawn(cell.tokens, at);
        // A screen reader needs a text in each heading.
        return cell.header && cell.text.trim() !== "" ? <th key={i} scope="col">{inner}</th> : <td key={i}>{inner}</td>;
      })}
    </tr>
  );
}

const schemes = new Set(["http:", "https:", "mailto:"]);
const longestURL = 2 << 10;

/** The address of a link, or undefined if it is not allowed. The query of a mailbox would be hidden: other receivers, or a whole letter. */
export function followable(written: string): URL | undefined {
  if (written.length > longestURL || !/^(https?:\/\/[^/]|mailto:.)/i.test(written)) return undefined;
  try {
    const parsed = new URL(written);
    if (parsed.protocol === "mailto:" && parsed.search + parsed.hash !== "") return undefined;
    return schemes.has(parsed.protocol) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** A link shows its target. A picture becomes a link, because loading it would reveal that the text was read. */
function Link({ token, at }: { token: Tokens.Link | Tokens.Image; at: Place }): JSX.Element {
  const inner = drawn(token.tokens, { ...at, linked: true });
  if (at.linked) return <>{inner}</>;
  const written = "autolink" in token && token.autolink ? token.href : unescaped(token.href);
  const to = followable(written);
  const label = token.type === "image" ? "picture: " : "";
  if (!to) {
    return (
      <span class="dead-link">
        {label}
        {inner}
        {written !== "" && written !== unescaped(token.text) && <> (<Text of={written} />)</>}
      </span>
    );
  }
  return (
    <a href={to.href} title={visible(to.href)} target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer">
      {label}
      {inner} <span class="host">({visible(to.host || to.pathname)})</span>
    </a>
  );
}

/** Named characters that people write. Others stay as written. */
const named: Record<string, string> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", ndash: "–", mdash: "—", larr: "←", rarr: "→", times: "×",
};

/** Resolves character references, once: what comes out is not resolved again. */
function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,6}));/g, (written, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(named, name) ? (named[name] as string) : written;
    const code = decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal);
    return code === 0 || code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
  });
}
