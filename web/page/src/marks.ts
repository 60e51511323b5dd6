// Foreign text may have characters that hide, reorder or imitate. They are shown as their numbers.

/** A Piece is unchanged text, or a character shown by its number. */
export type Piece = string | { code: string; name: string };

// Controls but tab and newline; soft hyphen; joiners; fillers; direction marks, embeddings and isolates; line
// separators; invisible operators; interlinear marks; tags; the variation selectors that no font needs; half of a pair.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;

const names: Record<number, string> = {
  0x09: "tab",
  0x0d: "carriage return",
  0x1b: "escape",
  0xad: "soft hyphen",
  0x61c: "Arabic letter mark",
  0x200b: "zero-width space",
  0x200c: "zero-width non-joiner",
  0x200d: "zero-width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x2028: "line separator",
  0x2029: "paragraph separator",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "end of embedding",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first-strong isolate",
  0x2069: "end of isolate",
  0xfeff: "zero-width no-break space",
};

/** Splits a text at characters that would be invisible. */
export function pieces(text: string): Piece[] {
  if (text.search(hidden) < 0) return text === "" ? [] : [text];
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(hidden)) {
    const char = match[0];
    if (joinsPictures(text, match.index, char) || endsLine(text, match.index, char)) continue;
    if (match.index > from) found.push(text.slice(from, match.index));
    found.push(named(char));
    from = match.index + char.length;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

/** The same as a string, for titles and labels. */
export function visible(text: string): string {
  return pieces(text)
    .map((piece) => (typeof piece === "string" ? piece : `‹${piece.code}›`))
    .join("");
}

function named(char: string): Piece {
  const number = char.codePointAt(0) ?? 0;
  const code = "U+" + number.toString(16).toUpperCase().padStart(4, "0");
  const name = names[number] ?? (number >= 0xe0000 ? "tag" : number < 0xa0 ? "control" : number >= 0xd800 && number < 0xe000 ? "half of a pair" : "invisible");
  return { code, name };
}

/** A joiner between two emoji makes one emoji. */
function joinsPictures(text: string, at: number, char: string): boolean {
  if (char !== "\u200d") return false;
  return /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?$/u.test(text.slice(Math.max(0, at - 6), at)) && /^\p{Extended_Pictographic}/u.test(text.slice(at + 1, at + 3));
}

/** A carriage return before a newline is a line end. */
function endsLine(text: string, at: number, char: string): boolean {
  return char === "\r" && text[at + 1] === "\n";
}

/** The first line with text, cut to a number of characters. */
export function firstLine(text: string, most: number): string {
  const line = text.slice(0, most * 8).split("\n").find((l) => l.trim() !== "") ?? "";
  return cut(line.trim(), most);
}

/** The beginning of a text on one line, without the marks of Markdown. */
export function plain(text: string, most: number): string {
  const words = text
    .slice(0, most * 6)
    .replace(/^ {0,3}(?:```.*|~~~.*|[-=*_]{3,} *)$/gm, "")
    .replace(/^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)/gm, "")
    .replace(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, "$1")
    .replace(/(\*\*|__|~~|`+)(?=\S)(.*?\S)\1/g, "$2")
    .replace(/(^|[\s(])([*_])(?=\S)([^*_\n]*\S)\2(?=$|[\s.,;:!?)])/g, "$1$3");
  return excerpt(words, most);
}

/** A text beside its title: nothing if it only repeats the title, and without the title before it. */
export function titled(text: string, title: string): string {
  const [words, first] = [plain(text, 240), plain(title, 240)];
  if (first === "" || !words.startsWith(first.replace(/…$/, ""))) return words;
  return words.slice(first.replace(/…$/, "").length).replace(/^[\s:.–…-]+/, "");
}

/** The beginning of a text on one line. */
export function excerpt(text: string, most: number): string {
  return cut(text.slice(0, most * 4).replace(/\s+/g, " ").trim(), most);
}

/** Cuts between characters. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text[most - 1] ?? "") ? most - 1 : most;
  return text.slice(0, end) + "…";
}
