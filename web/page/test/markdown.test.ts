// Markdown as it is drawn. It is bundled and run by TestPureParts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { VNode } from "preact";
import { parse } from "../src/markdown.ts";
import { followable, Nodes } from "../src/nodes.tsx";

/** What the clock shows. It stands still, so that a busy machine does not end the parsing of a text. */
let now = () => 0;
Object.defineProperty(performance, "now", { value: () => now() });

/** What a text is drawn as, without the attributes that every element of its kind has. */
function drawn(written: string): string {
  const markdown = parse(written);
  return "why" in markdown ? markdown.why : inside(Nodes({ of: markdown.tokens }).props.children);
}

function inside(what: unknown): string {
  if (Array.isArray(what)) return what.map(inside).join("");
  if (typeof what !== "object" || what === null) return typeof what === "string" ? what : "";
  const { type, props } = what as VNode<Record<string, unknown>>;
  if (typeof type === "function") return inside((type as (props: unknown) => unknown)(props));
  const inner = inside(props.children);
  if (["bdi", "tbody", "div", "span"].includes(type)) return inner;
  const attributes = ["class", "start", "href"].filter((name) => props[name] !== undefined).map((name) => ` ${name}=${String(props[name])}`);
  return `<${type}${attributes.join("")}>${inner}</${type}>`;
}

function each(cases: Record<string, string>): void {
  for (const [written, want] of Object.entries(cases)) assert.equal(drawn(written), want, JSON.stringify(written));
}

test("every kind of markup", () => {
  each({
    "": "",
    "one\ntwo\n\nthree": "<p>one\ntwo</p><p>three</p>",
    "one  \ntwo\\\nthree\r\n": "<p>one<br></br>two<br></br>three</p>",
    "# One *two* #\nThree\n---": "<p class=heading heading-1>One <em>two</em></p><p class=heading heading-2>Three</p>",
    "*a* **b** ~~c~~ `` d ` ``": "<p><em>a</em> <strong>b</strong> <s>c</s> <code>d `</code></p>",
    "```go\na < b\n\n\tc\n```\n\n    d\n    e\n": "<pre><code>a < b\n\n\tc</code></pre><pre><code>d\ne</code></pre>",
    "> a\n> > b": "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>",
    "- a\n- b\n  - c": "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>",
    "0. a\n1. b": "<ol start=0><li>a</li><li>b</li></ol>",
    "7) a\n\n8) b": "<ol start=7><li><p>a</p></li><li><p>b</p></li></ol>",
    "- [ ] a\n- [x] b": "<ul><li>[ ] a</li><li>[x] b</li></ul>",
    "- [x] a\n\n  b": "<ul><li><p>[x] a</p><p>b</p></li></ul>",
    "a\n\n***\n\nb": "<p>a</p><hr></hr><p>b</p>",
    "| a | |\n|--|:-:|\n| *c* | d\\|e |\n| f": "<table><tr><th>a</th><td></td></tr><tr><td><em>c</em></td><td>d|e</td></tr><tr><td>f</td><td></td></tr></table>",
    "[a\n\n![b\n\n]": "<p>[a</p><p>![b</p><p>]</p>",
    "\\*a\\* &lt;b&gt; &#x202e; &#65; &amp;lt; \\&amp; &#38;lt; &nosuch; & ; \\a": "<p>*a* <b> U+202E A &lt; &amp; &lt; &nosuch; & ; \\a</p>",
  });
});

test("only links to the web and to mailboxes are kept, and the target of every other link is seen", () => {
  const long = "https://b.example/" + "c".repeat(2100);
  const link = (to: string, label: string) => `<a href=${to}>${label} (${new URL(to).host || to.slice("mailto:".length)})</a>`;
  const cases: Record<string, string> = {
    "[a](https://b.example/c?d=e&amp;f#g 'title')": link("https://b.example/c?d=e&f#g", "a"),
    "[a](<HTTP://b.example/ä ö>)": link("http://b.example/%C3%A4%20%C3%B6", "a"),
    "[*a* b][1]\n\n[1]: https://c.example/": link("https://c.example/", "<em>a</em> b"),
    "![a](https://b.example/c.png)": link("https://b.example/c.png", "picture: a"),
    "[![a](https://b.example/c.png)](https://d.example/)": link("https://d.example/", "a"),
    "[a <https://b.example> c](https://d.example/)": link("https://d.example/", "a https://b.example c"),
    "https://b.example/c, and www.d.example.": link("https://b.example/c", "https://b.example/c") + ", and " + link("http://www.d.example/", "www.d.example") + ".",
    "<mailto:b@c.example> e@f.example": link("mailto:b@c.example", "mailto:b@c.example") + " " + link("mailto:e@f.example", "e@f.example"),
    "[a](javascript:broken=1) ![b](javascript:c)": "a (javascript:broken=1) picture: b (javascript:c)",
    "[a](JaVaScRiPt&colon;broken=1)": "a (JaVaScRiPt&colon;broken=1)",
    "[a](&#106;avascript:b) [c](data:text/html,d)": "a (javascript:b) c (data:text/html,d)",
    "[a](vbscript:b) [c](file:///d) [e](//f.example)": "a (vbscript:b) c (file:///d) e (//f.example)",
    "[a](docs/a.md) [docs/b.md](docs/b.md) [c]()": "a (docs/a.md) docs/b.md c",
    "[a](https:b) [c](http:///d) [e](mailto:) [f](http://[)": "a (https:b) c (http:///d) e (mailto:) f (http://[)",
    "[d](https://e.example/\u0001f) \u202eg": `[d](${link("https://e.example/%01f", "https://e.example/U+0001f")}) U+202Eg`,
    "[a](mailto:b@c.example?bcc=d@e.example&body=f) [g](mailto:h@i.example#j)": "a (mailto:b@c.example?bcc=d@e.example&body=f) g (mailto:h@i.example#j)",
    "<javascript:broken=1> ftp://a.example": "javascript:broken=1 ftp://a.example",
    [`[a](${long})`]: `a (${long})`,
  };
  for (const [written, want] of Object.entries(cases)) cases[written] = `<p>${want}</p>`;
  each(cases);
  for (const bad of [" javascript:x", "java\nscript:x", "/api/tasks", "#/inbox", "blob:https://a", "", "https:///a", "https:\\\\a"]) assert.equal(followable(bad), undefined, bad);
  assert.equal(followable("https://known.example@other.example/")?.host, "other.example");
});

test("tags are text, and nothing in a block of them is markup", () => {
  each({
    "a <b onclick='*x*'>*c*</b> d": "<p>a <b onclick='*x*'><em>c</em></b> d</p>",
    "a <!-- *b* &amp; --> c": "<p>a <!-- *b* &amp; --> c</p>",
    "<script>\n*a* &amp; [b](http://c)\n</script>\n": "<p class=prose><script>\n*a* &amp; [b](http://c)\n</script></p>",
    "<div>\n*a*\n\n*b*": "<p class=prose><div>\n*a*</p><p><em>b</em></p>",
    "<!-- a\n\nb -->\nc": "<p class=prose><!-- a\n\nb --></p><p>c</p>",
  });
});

const tooLong = "It has more than 64 KiB, so it is shown as it was written.";
const tooMuch = "It has too much markup, so it is shown as it was written.";

test("a text that costs too much stays as it was written", () => {
  for (const written of [
    "*a*\n\n".repeat(13_000), "-\n".repeat(32_000), "> ".repeat(30_000), "\0".repeat(30_000), "- [ ] a\n".repeat(8000) + "*b* ".repeat(200),
    "|a".repeat(2000) + "\n" + "|-".repeat(2000) + "\n" + "b\n".repeat(2000), `[a]: docs/${"c".repeat(30_000)}\n\n` + "[a]\n\n".repeat(1000),
  ]) assert.ok(drawn(written) === tooMuch, written.slice(0, 20));
  assert.equal(drawn("ü".repeat(33_000)), tooLong);
  assert.ok(drawn("a *b* cdefghijklmn\n\n".repeat(3276)).includes("<em>"), "a text with much in it is read");
  assert.equal(drawn("a".repeat(65_536)).length, 65_536 + "<p></p>".length);
});

test("a text that takes too long stays as it was written", () => {
  const written = "*a* ".repeat(200);
  assert.notEqual(drawn(written), tooMuch);
  let ms = 0;
  now = () => (ms += 2);
  assert.equal(drawn(written), tooMuch);
  now = () => 0;
});

test("a long list went on when the time was over", () => {
  for (const written of ["-\n".repeat(2000), "- a\n".repeat(2000), "- a\n" + "  b\n".repeat(2000), "- a\n" + "b\n".repeat(2000)]) {
    let looks = 0;
    now = () => (++looks < 100 ? 0 : 1000);
    assert.equal(drawn(written), tooMuch);
    assert.equal(looks, 100, JSON.stringify(written.slice(0, 10)));
  }
  now = () => 0;
});

test("a text of many has the time that the others left", () => {
  const written = "*a* ".repeat(200);
  let ms = 0;
  now = () => ++ms;
  assert.ok("tokens" in parse("*a*", 10));
  assert.deepEqual(parse(written, 10), { why: "The texts here have too much markup together, so this one is shown as it was written." });
  now = () => 0;
});

test("a long block has no inline markup", () => {
  const long = "*a* ".repeat(1100).trim();
  assert.ok(drawn("*a* ".repeat(1000)).includes("<em>"));
  assert.equal(drawn(`${long}\n\n# ${long}\n\n*b*`), `<p>${long}</p><p class=heading heading-1>${long}</p><p><em>b</em></p>`);
});

test("what nests deeply is shown as it was written", () => {
  for (const mark of ["> ", "- ", "1. ", "> - ", "* [a](b"]) assert.match(drawn(mark.repeat(40) + "bottom"), /bottom/);
  const deep = drawn("*a **b ".repeat(100) + "bottom" + "** c*".repeat(100));
  assert.equal(deep.match(/<(em|strong)>/g)?.length, 63);
  assert.match(deep, /\*a \*\*b bottom\*\* c\*/);
  assert.ok(drawn("- ".repeat(17) + "a").startsWith("<p>- - "));
});
