// Parses untrusted text as GitHub's Markdown, with the lexer of marked and within limits.
//
// The lexer never makes HTML. Some texts cost it the square of their length or more, so there are limits: every step
// of the lexer, item, cell and invisible character takes from a budget, which also bounds the elements on the page;
// time ends what repeats a few expensive steps; and a long block has no inline markup, so that no step takes long.
import { Lexer, Tokenizer } from "marked";
import type { Links, Token, Tokens } from "marked";
import { pieces } from "./marks.ts";

/** Longest text that is parsed, in bytes. */
const most = 64 << 10;
/** Longest block with inline markup. Finding the end of an emphasis or a link can take quadratic time. */
const mostInline = 4 << 10;
/** Longest time of parsing, during which the page does not answer. The step at which it is over still ends. */
const mostMs = 500;
/** Budget of a text, and what a token takes of it. */
const budget = 1 << 20;
const tokenCost = 48;

/** More marks of lists and quotes at the start of a line than this are text. */
const crowded = /^(?:[ \t]*(?:[-+*>]|\d{1,9}[.)])){17}/;

/** A parsed text, or the reason why it is shown as written. */
export type Markdown = { tokens: readonly Token[] } | { why: string };

/** Parses a text, in at most ms milliseconds. */
export function parse(text: string, ms = mostMs): Markdown {
  if (new TextEncoder().encode(text).length > most) return { why: "It has more than 64 KiB, so it is shown as it was written." };
  try {
    const tokenizer = new Limited(Math.min(ms, mostMs));
    tokenizer.spend(tokenCost * pieces(text).length); // an invisible character becomes an element of its own
    return { tokens: new BlockLimited({ gfm: true, tokenizer }).lex(text) };
  } catch {
    // The budget, the time or the stack is used up.
    return { why: ms < mostMs ? "The texts here have too much markup together, so this one is shown as it was written." : "It has too much markup, so it is shown as it was written." };
  }
}

class BlockLimited extends Lexer {
  constructor(options: { gfm: boolean; tokenizer: Limited }) {
    super(options);
    options.tokenizer.watchLists();
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (src.length <= mostInline) return super.inlineTokens(src, tokens);
    tokens.push({ type: "escape", raw: src, text: src });
    return tokens;
  }
}

class Limited extends Tokenizer {
  private left = budget;
  private readonly end: number;

  constructor(ms: number) {
    super();
    this.end = performance.now() + ms;
  }

  spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0 || performance.now() > this.end) throw new RangeError("too much markup");
  }

  /** The lexer looks for a space before every block. */
  override space(src: string): Tokens.Space | undefined {
    this.spend(tokenCost);
    return super.space(src);
  }

  /** The lexer looks for an escape before every other inline token. */
  override escape(src: string): Tokens.Escape | undefined {
    this.spend(tokenCost);
    return super.escape(src);
  }

  /** A list is read in one call, however long it is. For each of its lines the lexer asks for this rule, and no other does. */
  watchLists(): void {
    const { leadingSpaceTab } = this.rules.other;
    const other: typeof this.rules.other = Object.create(this.rules.other, {
      leadingSpaceTab: {
        get: () => {
          this.spend(1);
          return leadingSpaceTab;
        },
      },
    });
    this.rules = { ...this.rules, other };
  }

  override list(src: string): Tokens.List | undefined {
    const list = crowded.test(src) ? undefined : super.list(src);
    this.spend(tokenCost * (list?.items.length ?? 0));
    return list;
  }

  /** The head sets the width of every row, so a few characters can create very many cells. */
  override table(src: string): Tokens.Table | undefined {
    const [, head, , rows = ""] = this.rules.block.table.exec(src) ?? [];
    if (head !== undefined) this.spend(tokenCost * head.split("|").length * (rows.split("\n").length + 1));
    return super.table(src);
  }

  /** Many links can refer to one long address. */
  override reflink(src: string, links: Links): Tokens.Link | Tokens.Image | Tokens.Text | undefined {
    const link = super.reflink(src, links);
    if (link && "href" in link) this.spend(link.href.length);
    return link;
  }
}
