// What needs no browser. It is bundled and run by TestPureParts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TaskDetail } from "../../../schema/gen/protocol.ts";
import { Answer } from "../src/answer.ts";
import { Drafts, noDraft, replyBytes, sends } from "../src/drafts.ts";
import type { Sent } from "../src/drafts.ts";
import { fold, nothing, touches } from "../src/fold.ts";
import { cut, excerpt, firstLine, pieces, plain, titled, visible } from "../src/marks.ts";
import { Paged } from "../src/paged.ts";
import { holds, link, parse, parseFilter, withField } from "../src/route.ts";
import { backoff, Reader } from "../src/sse.ts";
import { statusOf } from "../src/tasks.tsx";
import { progress, tree } from "../src/tree.ts";
import { address, codeIn, Fault, faultOf, get, post, withQuery } from "../src/wire.ts";
import { ago, agoSpoken, bytes, count, curl, duration, howFar, many } from "../src/words.ts";
import { repeated } from "../src/instructions.tsx";
import { whereIs } from "../src/notices.tsx";

test("what hides is shown, and what does not is left alone", () => {
  assert.deepEqual(pieces("plain"), ["plain"]);
  assert.deepEqual(pieces(""), []);
  assert.equal(visible("a\u202eb"), "a‹U+202E›b");
  assert.equal(visible("\u200b"), "‹U+200B›");
  assert.equal(visible("x\u{e0041}"), "x‹U+E0041›");
  assert.equal(visible("\u001b[31m"), "‹U+001B›[31m");
  assert.equal(visible("one\r\ntwo\ttabs\nlines"), "one\r\ntwo\ttabs\nlines");
  assert.equal(visible("one\rtwo"), "one‹U+000D›two");
  assert.equal(visible("half \ud83d pair"), "half ‹U+D83D› pair");
  assert.equal(visible("👩‍👩‍👧 and 👍🏽 and ❤️"), "👩‍👩‍👧 and 👍🏽 and ❤️", "a picture of several");
  assert.equal(visible("ad\u200dmin"), "ad‹U+200D›min", "the same joiner between letters");
  assert.equal(visible("שלום مرحبا 日本語 Ünï"), "שלום مرحبا 日本語 Ünï");
  const [first, mark] = pieces("a\u200eb");
  assert.equal(first, "a");
  assert.deepEqual(mark, { code: "U+200E", name: "left-to-right mark" });
});

test("no character that hides gets past, of all there are", () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    const char = String.fromCodePoint(code);
    if (!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(char) || char === "\n" || char === "\t") continue;
    if (/[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}\u{13430}-\u{1343f}]/u.test(char)) continue; // these are seen
    assert.notEqual(visible("a" + char + "b"), "a" + char + "b", code.toString(16));
  }
});

test("texts are cut between characters", () => {
  assert.equal(cut("abcdef", 3), "abc…");
  assert.equal(cut("ab👍", 3), "ab…");
  assert.equal(firstLine("\n\n  first \nsecond", 80), "first");
  assert.equal(excerpt("a\n b\t c", 80), "a b c");
});

test("how far a plan is by its file is told apart from what its runs approved", () => {
  const file = { completed: 3, total: 1006 };
  assert.equal(howFar(file, undefined), "3 of 1,006 done");
  assert.equal(howFar(file, { approved: 2, proven: 1, unapproved: 0 }), "3 of 1,006 in the file, 2 approved (1 proven)");
  assert.equal(howFar(file, { approved: 0, proven: 0, unapproved: 1 }), "3 of 1,006 in the file, 0 approved (0 proven), 1 not yet approved");
});

test("times are said in few words", () => {
  for (const [ms, want] of [[0, "0 ms"], [999, "999 ms"], [1500, "1.5 s"], [59_999, "59 s"], [60_000, "1 m"], [185_000, "3 m 5 s"], [3_600_000, "1 h"], [8_040_000, "2 h 14 m"], [273_600_000, "3 d 4 h"], [-5, "0 s"], [NaN, "unknown"]] as const) {
    assert.equal(duration(ms), want);
  }
  for (const [ms, want] of [[-10_000, "now"], [4000, "now"], [5000, "5 s"], [119_000, "1 m"], [7_200_000, "2 h"], [86_400_000, "1 d"], [NaN, "unknown"]] as const) {
    assert.equal(ago(ms), want);
  }
  assert.equal(agoSpoken(3_600_000), "1 hour ago");
  assert.equal(agoSpoken(120_000), "2 minutes ago");
  assert.equal(bytes(65_536), "64.0 KiB");
  assert.equal(count(100_000), "100,000");
  assert.equal(many(1, "task"), "1 task");
  assert.equal(many(0, "task"), "0 tasks");
});

test("a route is read as it was written", () => {
  for (const to of [
    { view: "inbox", id: "", part: "", filter: "", at: "" },
    { view: "tasks", id: "tsk_1", part: "", filter: "status:error two words", at: "" },
    { view: "plans", id: "specs/a b/täsks.md", part: "2.1", filter: "", at: "w-1" },
    { view: "runs", id: "<img src=x>", part: "%2f?#&", filter: "#?&=%", at: "&q=#?" },
  ] as const) {
    assert.deepEqual(parse(link(to)), to);
  }
  for (const odd of ["", "#", "#/nowhere", "#/tasks/%E0%A4%A", "#javascript:x", "#/__proto__/x", "#/constructor"]) {
    assert.ok(["inbox", "tasks"].includes(parse(odd).view), odd);
  }
});

test("a code is behind the # of an address, and nowhere else", () => {
  for (const at of ["http://127.0.0.1:1/#c=a%2Bb", "#c=a%2Bb"]) assert.equal(codeIn(at), "a+b");
  for (const at of ["", "#", "#c=", "http://127.0.0.1:1/?c=a", "http://127.0.0.1:1/#/inbox?c=a", "#cc=a", "#/c=a"]) assert.equal(codeIn(at), "");
});

test("a filter is fields and words", () => {
  assert.deepEqual(parseFilter(" Status:ERROR  run:run_1 two Words time:12:30 ", ["status", "run"]), {
    fields: { status: "ERROR", run: "run_1" }, words: ["two", "words", "time:12:30"],
  });
  assert.deepEqual(parseFilter("status:", ["status"]), { fields: {}, words: [] });
  assert.equal(withField("status:a words", "status", "b"), "status:b words");
  assert.equal(withField("status:a words", "status", ""), "words");
  assert.ok(holds(["one", "two"], "Two", "one"));
  assert.ok(!holds(["three"], "Two", undefined));
  assert.equal(statusOf("Failed"), "ERROR");
  assert.equal(statusOf("constructor"), undefined);
});

class Shelf {
  kept = new Map<string, string>();
  full = false;
  getItem(name: string) {
    return this.kept.get(name) ?? null;
  }
  setItem(name: string, value: string) {
    if (this.full) throw new Error("full");
    this.kept.set(name, value);
  }
  removeItem(name: string) {
    this.kept.delete(name);
  }
}

test("a draft is kept for its task with the question that it is for", () => {
  const shelf = new Shelf();
  const drafts = new Drafts(shelf);
  const draft = { text: "one", attempt: "att_1", question: "Which?", sent: { text: "on", attempt: "att_1", by: "Ada", key: "k" }, taken: "o" };
  assert.deepEqual(drafts.get("t"), noDraft);
  assert.ok(drafts.put("t", draft));
  assert.deepEqual(drafts.get("t"), draft);
  assert.deepEqual(drafts.get("u"), noDraft, "a draft is of one task");
  drafts.put("t", { ...draft, text: "" });
  assert.equal(drafts.get("t").sent?.key, "k", "of what was sent is not known whether it arrived, and it is forgotten");
  drafts.put("t", noDraft);
  assert.equal(shelf.kept.size, 0);
  for (const odd of ["no draft", "null", "7", "[]", '{"text":7}']) {
    shelf.kept.set("waybill.draft.t", odd);
    assert.deepEqual(drafts.get("t"), noDraft, odd);
  }
  shelf.kept.set("waybill.draft.t", '{"text":"old","key":"k","sent":{"text":"old"}}');
  assert.deepEqual(drafts.get("t"), { ...noDraft, text: "old", sent: undefined, taken: undefined });
  shelf.full = true;
  assert.equal(drafts.put("t", draft), false);
  assert.equal(replyBytes("ü👍"), 6);
});

/** How a task stands: which attempt asks, if one does, and what was answered to which. */
function standing(asks: string | undefined, ...answers: [attempt: string, reply: string, by?: string][]): TaskDetail {
  const replies = answers.map(([attempt_id, reply, by], i) => ({ number: i + 1, attempt_id, reply, by, at: "" }));
  const task = { task_id: "t", status: asks === undefined ? "QUEUED" : "AWAITING_RESPONSE", current_attempt_id: asks ?? "att_later", question: `What, ${asks}?` };
  return { task, replies } as unknown as TaskDetail;
}

/** An answer to a task that stands as the test says, and what was sent. */
function answering(now: TaskDetail, drafts = new Drafts(new Shelf())) {
  const sent: Sent[] = [];
  let n = 0;
  const server = { now, fails: undefined as Fault | undefined, looks: 0, sent, meanwhile: () => {} };
  const way = {
    look: () => {
      server.looks++;
      server.meanwhile();
      return Promise.resolve(server.now);
    },
    post: (s: Sent) => {
      sent.push(s);
      server.meanwhile();
      return server.fails ? Promise.reject(server.fails) : Promise.resolve({});
    },
  };
  const open = () => new Answer("t", server.now, drafts, way, () => `key-${++n}`);
  return { server, open, answer: open() };
}

const lost = new Fault("waybill does not answer", 0, "", "unknown");
const tooLate = new Fault("answered already", 409, "ALREADY_RESOLVED", "not_applied");

test("what is sent is what was there when it was sent, and what is typed behind it stays", async () => {
  const { answer, server } = answering(standing("att_1"));
  const keys = ["yes, but", "yes, but no"];
  server.meanwhile = () => answer.type(keys.shift() ?? "");
  answer.type("yes");
  assert.equal(await answer.send("Ada"), "taken");
  assert.deepEqual(server.sent, [{ text: "yes", attempt: "att_1", by: "Ada", key: "key-1" }]);
  assert.equal(answer.draft.value.text, "yes, but no");
  assert.equal(answer.draft.value.taken, "yes");
  assert.ok(answer.blocked.value, "it can be sent, and nobody asks");
  answer.learn(standing("att_2", ["att_1", "yes", "Ada"]));
  assert.ok(answer.strays.value, "what was typed to one question goes to the next");
});

test("a text goes to no other question than its own until somebody says so", async () => {
  const shelf = new Drafts(new Shelf());
  const { answer, server, open } = answering(standing("att_1"), shelf);
  answer.type("yes");
  server.now = standing("att_2", ["att_1", "no", "Bob"]);
  assert.equal(await answer.send(""), "changed");
  assert.equal(await answer.send(""), "changed", "a question was taken for read that was not on the page yet");
  answer.readdress();
  assert.equal(answer.draft.value.attempt, "att_1", "it was chosen for an answer before it was on the page");
  answer.learn(server.now);
  assert.equal(await answer.send(""), "blocked");
  assert.equal(answer.fate.value.reply?.by, "Bob");
  const later = open();
  assert.equal(later.draft.value.question, "What, att_1?");
  later.type("yes!");
  assert.equal(await later.send(""), "blocked", "to change a text is not to choose another question for it");
  later.readdress();
  assert.equal(await later.send(""), "taken");
  assert.deepEqual(server.sent.map((s) => [s.text, s.attempt]), [["yes!", "att_2"]]);
  later.learn(standing("att_3", ["att_1", "no"], ["att_2", "yes!"]));
  later.type("maybe");
  assert.ok(!later.blocked.value, "a text that is begun is for the question that is there");
});

test("an answer of which nobody knew is found again", async () => {
  const { answer, server, open } = answering(standing("att_1"));
  server.fails = lost;
  answer.type("yes");
  assert.equal(await answer.send("Ada"), "failed");
  assert.ok(!open().learn(standing(undefined, ["att_1", "yes", "Bob"])), "what somebody else has said is not ours");
  answer.type("yes");
  assert.equal(await answer.send("Bea"), "failed");
  assert.deepEqual(server.sent.map((s) => [s.key, s.by]), [["key-1", "Ada"], ["key-1", "Ada"]], "sent again, it is something else");
  assert.equal(server.looks, 1, "it was asked first whether the task waits: it may not, because of the answer itself");
  assert.ok(answer.learn(standing("att_2", ["att_1", "yes", "Ada"])));
  assert.equal(answer.draft.value.text, "");
  assert.equal(answer.waits.value, "att_2");
  server.fails = undefined;
  server.now = standing("att_2", ["att_1", "yes", "Ada"]);
  answer.type("yes");
  assert.equal(await answer.send("Ada"), "taken");
  assert.deepEqual(server.sent.at(-1), { text: "yes", attempt: "att_2", by: "Ada", key: "key-2" }, "the same word to another question has the same key");
});

test("the same word to another question is another answer, also while nothing is known of the first", async () => {
  const { answer, server } = answering(standing("att_1"));
  server.fails = lost;
  answer.type("yes");
  await answer.send("");
  server.fails = undefined;
  server.now = standing("att_2");
  answer.learn(server.now);
  assert.equal(await answer.send(""), "blocked");
  answer.readdress();
  assert.equal(await answer.send(""), "taken");
  assert.deepEqual(server.sent.map((s) => [s.attempt, s.key]), [["att_1", "key-1"], ["att_2", "key-2"]]);
});

test("an answer that turns out to have been taken is not said to have come too late", async () => {
  const { answer, server } = answering(standing("att_1"));
  server.fails = lost;
  answer.type("yes");
  await answer.send("");
  server.now = standing(undefined, ["att_1", "yes"]);
  server.fails = tooLate;
  assert.equal(await answer.send(""), "taken");
  assert.equal(answer.draft.value.text, "");
  assert.equal(answer.waits.value, undefined);
});

test("an answer that arrived late is ours, also when another was sent after it", async () => {
  const { answer, server } = answering(standing("att_1"));
  server.fails = lost;
  answer.type("yes");
  assert.equal(await answer.send("Ada"), "failed");
  answer.type("yes, all");
  server.fails = tooLate;
  server.meanwhile = () => {
    if (server.sent.length > 1) server.now = standing(undefined, ["att_1", "yes", "Ada"]);
  };
  assert.equal(await answer.send("Ada"), "taken");
  assert.deepEqual(server.sent.map((s) => s.key), ["key-1", "key-2"]);
  assert.equal(answer.draft.value.text, "yes, all");
  assert.equal(answer.draft.value.taken, "yes");
  assert.equal(answer.draft.value.sent, undefined);
});

test("an answer that was refused is not taken for ours because somebody said the same", async () => {
  const { answer, server } = answering(standing("att_1"));
  answer.type("yes");
  server.fails = tooLate;
  server.meanwhile = () => {
    if (server.sent.length > 0) server.now = standing(undefined, ["att_1", "yes"]);
  };
  assert.equal(await answer.send(""), "late");
  assert.equal(answer.draft.value.text, "yes");
  assert.equal(answer.draft.value.sent, undefined);
});

test("two at once send once", async () => {
  const { answer, server } = answering(standing("att_1"));
  answer.type("yes");
  const both = await Promise.all([answer.send(""), answer.send("")]);
  assert.deepEqual(both, ["taken", "blocked"]);
  assert.equal(server.sent.length, 1);
});

test("Enter sends, and never while something is composed", () => {
  const press = { key: "Enter", shiftKey: false, altKey: false, isComposing: false, keyCode: 13 };
  assert.ok(sends(press));
  assert.ok(!sends({ ...press, shiftKey: true }));
  assert.ok(!sends({ ...press, isComposing: true }));
  assert.ok(!sends({ ...press, keyCode: 229 }), "a browser for which composing is over already");
  assert.ok(!sends({ ...press, key: "a" }));
});

test("events say what is old", () => {
  const change = nothing();
  fold(change, { type: "attempt.finished", subject_id: "att_1", data: { task_id: "tsk_1", run_id: "run_1", n: 3 } });
  assert.ok(touches(change, ["tasks"]));
  assert.ok(!touches(change, ["plans"]));
  assert.ok(touches(change, ["tasks"], "tsk_1"));
  assert.ok(!touches(change, ["tasks"], "tsk_2"));
  assert.ok(touches(change, [], "run_1"));
  fold(change, { type: "ledger.changed", subject_id: "tasks.md" });
  assert.ok(touches(change, ["plans"]));
  fold(change, { type: "constructor.called", subject_id: "x", data: null });
  assert.ok(touches(change, ["notices"]), "what is not known makes everything old");
  assert.equal(change.events, 3);
});

test("a stream is read however it is cut", () => {
  const text = ': alive\n\nretry: 50\nid: 7\nevent: ready\ndata: {}\n\nid: 8\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata\n\nid: 9\n\n';
  const whole = new Reader().push(text);
  assert.deepEqual(whole, [
    { id: "7", event: "ready", data: "{}" },
    { id: "8", event: "message", data: '{"a":\n1}' },
    { id: "8", event: "message", data: "" },
  ]);
  for (let size = 1; size < 9; size++) {
    const reader = new Reader();
    const got = [];
    for (let at = 0; at < text.length; at += size) got.push(...reader.push(text.slice(at, at + size)));
    assert.deepEqual(got, whole, `in pieces of ${size}`);
    assert.equal(reader.retry, 50);
  }
  assert.throws(() => {
    const reader = new Reader();
    for (;;) reader.push("x".repeat(1 << 20));
  });
});

test("waiting doubles, up to half a minute", () => {
  assert.equal(backoff(0, 1000, 0.5), 1000);
  assert.equal(backoff(3, 1000, 0.5), 8000);
  assert.equal(backoff(1e6, 1000, 0.5), 30_000);
  assert.ok(backoff(0, 1000, 0) < backoff(0, 1000, 0.99));
});

/** A list that pages are taken from, as a server would. */
function source(ids: () => string[], size: number) {
  let asked = 0;
  const list = new Paged<string>(
    (cursor) => {
      asked++;
      const all = ids();
      const from = cursor === undefined ? 0 : all.findIndex((id) => id > cursor);
      const items = from < 0 ? [] : all.slice(from, from + size);
      const more = from >= 0 && from + size < all.length;
      return Promise.resolve(more ? { items, next_cursor: items.at(-1) ?? "" } : { items });
    },
    (id) => id,
  );
  const shown = () => list.rows.value.map((row) => (row.left ? `(${row.id})` : row.id)).join(" ");
  return { list, shown, asked: () => asked };
}

test("a list is read page by page, and grows at its end", async () => {
  const all = ["a", "b", "c", "d", "e"];
  const { list, shown } = source(() => all, 2);
  const first = list.more();
  assert.ok(list.loading.value, "who looks before it has begun would ask again");
  await first;
  assert.ok(!list.loading.value);
  assert.equal(shown(), "a b");
  assert.ok(!list.complete.value);
  await Promise.all([list.more(), list.more()]);
  assert.equal(shown(), "a b c d e", "two that ask at once get a page each");
  assert.ok(list.complete.value);
  await list.more();
  all.push("f", "g", "h");
  await list.refresh(0, 0);
  assert.equal(shown(), "a b c d e f");
  assert.ok(!list.complete.value, "there is more than a page");
  await list.more();
  assert.equal(shown(), "a b c d e f g h");
});

test("what leaves a list stays in its place until it is read anew", async () => {
  let all = ["a", "b", "c", "d", "e"];
  const { list, shown } = source(() => all, 2);
  await list.more();
  await list.more();
  all = ["b", "d", "e"];
  await list.refresh(0, 1);
  assert.equal(shown(), "(a) b (c) d", "the first page reaches behind c, and has it no more");
  await list.more();
  assert.equal(shown(), "(a) b (c) d e");
  all = ["a", "b", "d", "e"];
  await list.refresh(0, 0);
  assert.equal(shown(), "a b (c) d e", "one that came back is where it was");
  await list.restart();
  assert.equal(shown(), "a b");
});

test("what comes into the midst of a list stands at its end, and takes the place of nothing", async () => {
  let all = ["a", "c", "e", "g", "i"];
  const { list, shown } = source(() => all, 2);
  await list.more();
  await list.more();
  all = ["a", "b", "c", "e", "g", "i"];
  await list.refresh(0, 0);
  assert.equal(shown(), "a c e g b", "c is on the next page, and has not left");
  all = ["a", "b", "e", "g", "i"];
  await list.refresh(0, 3);
  assert.equal(shown(), "a (c) e g b");
  await list.more();
  assert.equal(shown(), "a (c) e g b i");
  assert.ok(list.complete.value);
});

test("the last page of a list that is not complete goes on behind what it has", async () => {
  let all = ["a", "b", "c", "d", "e"];
  const { list, shown } = source(() => all, 2);
  await list.more();
  all = ["a", "aa", "ab", "ac", "b", "c", "d", "e"];
  await list.refresh(0, 1);
  assert.equal(shown(), "a b aa ab ac c", "b is looked for on the pages that follow");
  await list.more();
  assert.equal(shown(), "a b aa ab ac c d e");
  assert.ok(list.complete.value);
});

/** A list that pages are taken from as of one whose newest things come first. */
function growing(ids: () => string[], size: number) {
  let asked = 0;
  const list = new Paged<string>(
    (cursor) => {
      asked++;
      const all = ids();
      const from = cursor === undefined ? 0 : all.findIndex((id) => id < cursor);
      const items = from < 0 ? [] : all.slice(from, from + size);
      return Promise.resolve(from >= 0 && from + size < all.length ? { items, next_cursor: items.at(-1) ?? "" } : { items });
    },
    (id) => id,
    "top",
  );
  const shown = () => list.rows.value.map((row) => (row.left ? `(${row.id})` : row.id)).join(" ");
  return { list, shown, asked: () => asked };
}

test("what comes into the midst of a list that grows at its top is kept back as well", async () => {
  let all = ["g", "e", "c", "a"];
  const { list, shown } = growing(() => all, 2);
  await list.more();
  await list.more();
  all = ["g", "f", "e", "d", "c", "a"];
  await list.refresh(0, 3);
  assert.equal(shown(), "g e c a");
  assert.equal(list.newer.value, 2);
  all = ["g", "f", "d", "c", "a"];
  await list.refresh(0, 3);
  assert.equal(shown(), "g (e) c a", "e left behind a page of new things");
  await list.restart();
  assert.equal(shown(), "g f");
});

test("however many new things come at the top, what is seen is kept up to date", async () => {
  const name = (n: number) => String(n).padStart(4, "0");
  let all = ["0003", "0002", "0001"];
  const { list, shown, asked } = growing(() => all, 2);
  await list.more();
  await list.more();
  const burst = Array.from({ length: 70 }, (_, i) => name(4 + i)).reverse();
  all = [...burst, "0003", "0001"];
  await list.refresh(0, 2);
  assert.equal(shown(), "0003 0002 0001", "so many pages are not read at once");
  assert.equal(asked(), 2 + 20);
  await list.refresh(0, 2);
  assert.equal(shown(), "0003 (0002) 0001");
  assert.equal(list.newer.value, 70);
  const before = asked();
  all = ["9999", ...burst, "0001"];
  await list.refresh(0, 2);
  assert.equal(shown(), "(0003) (0002) 0001");
  assert.equal(list.newer.value, 71);
  assert.ok(asked() - before <= 3, "the way was found before");
});

test("a list that grows at its top keeps new things back", async () => {
  let all = ["c", "b", "a"];
  const { list, shown } = growing(() => all, 2);
  await list.more();
  await list.more();
  assert.equal(shown(), "c b a");
  all = ["d", "c", "b", "a"];
  await list.refresh(2, 2);
  assert.equal(shown(), "c b a");
  assert.equal(list.newer.value, 1);
  all = ["f", "e", "d", "c", "b", "a"];
  await list.refresh(0, 0);
  assert.equal(shown(), "c b a", "a page of new things alone says nothing of the others");
  assert.equal(list.newer.value, 3);
  await list.more();
  assert.equal(shown(), "c b a");
  await list.restart();
  assert.equal(shown(), "f e");
  assert.equal(list.newer.value, 0);
});

test("a list that fails says so and goes on", async () => {
  let fails = true;
  const list = new Paged<string>(() => (fails ? Promise.reject(new Error("no")) : Promise.resolve({ items: ["a"] })), (id) => id);
  await list.more();
  assert.match(list.fault.value?.message ?? "", /no/);
  assert.ok(!list.ready.value);
  fails = false;
  await list.more();
  assert.equal(list.fault.value, undefined);
  assert.equal(list.rows.value.length, 1);
});

test("a refusal is read in either form", () => {
  const data = { code: "ALREADY_RESOLVED", outcome: "not_applied", hint: "read it again", details: { status: "QUEUED" }, retry_after_ms: 5 };
  for (const body of [{ error: { code: 4090, message: "too late", data } }, { message: "too late", ...data }, { code: 4090, message: "too late", data }]) {
    const fault = faultOf(409, body);
    assert.equal(fault.message, "too late");
    assert.equal(fault.code, "ALREADY_RESOLVED");
    assert.equal(fault.details["status"], "QUEUED");
    assert.equal(fault.retryAfter, 5);
  }
  for (const odd of [undefined, null, "text", 7, [], { error: null }]) assert.match(faultOf(502, odd).message, /502/);
});

test("what is in an address is escaped", () => {
  assert.equal(address`/api/plans/${"a/../b?c#d"}/items/${"2.1"}`, "/api/plans/a%2F..%2Fb%3Fc%23d/items/2.1");
  assert.equal(withQuery("/x", { a: "1&2", b: undefined, c: ["d", "e"], f: "" }), "/x?a=1%262&c=d&c=e");
});

test("an id of dots leads nowhere", async () => {
  for (const id of [".", ".."]) {
    const asked = get("get_task", address`/api/tasks/${id}`, "");
    await assert.rejects(asked, /only dots/);
    await assert.rejects(post("reply", address`/api/tasks/${id}/reply`, "", {}), /only dots/);
  }
  for (const id of ["...", "a.b", "%2e%2e", "../x"]) {
    assert.equal(new URL(address`/api/tasks/${id}/reply`, "http://h").pathname, `/api/tasks/${encodeURIComponent(id)}/reply`);
  }
});

test("a plan is a tree", () => {
  const item = (item_id: string, status: "pending" | "completed", parent_id?: string) => ({
    item_id, title: item_id, status, optional: false, line: 1, level: 1, depends_on: [], parallel: false, requirements: [], files: [], details: [],
    ...(parent_id === undefined ? {} : { parent_id }),
  });
  const top = tree([item("1", "pending"), item("1.1", "completed", "1"), item("1.2", "pending", "1"), item("2", "completed"), item("9", "pending", "gone")]);
  assert.deepEqual(top.map((b) => [b.item.item_id, b.below.length, progress(b)]), [
    ["1", 2, { done: 1, of: 2 }], ["2", 0, { done: 1, of: 1 }], ["9", 0, { done: 0, of: 1 }],
  ]);
});

test("a list shows the words of a text, and none twice", () => {
  assert.equal(plain("## **Which** `key`?\n\n- [ ] the _small_ one\n> or [the big one](https://x.example/y)\n```go\nx := a*b*c\n```", 200), "Which key? the small one or the big one x := a*b*c");
  assert.equal(plain("snake_case_name and 2 * 3 * 4", 99), "snake_case_name and 2 * 3 * 4");
  assert.equal(plain("*".repeat(5000), 10).length <= 11, true);
  assert.equal(titled("Which key?", "Which key?"), "");
  assert.equal(titled("**Which key?** The small one fits.", "Which key?"), "The small one fits.");
  assert.equal(titled("By colour?", "2.1 Sort"), "By colour?");
});

test("an instruction is queued again as it was", () => {
  const got = repeated({
    instruction_id: "ins_1", session_id: "s", content: "c", state: "failed", tracked: true, priority: true, sends: 3, sends_max: 3,
    ack_on: { event_type: "done" }, created_at: "",
  });
  assert.deepEqual(got, { content: "c", session_id: "s", priority: true, max_retries: 2, ack_on: { event_type: "done" } });
  assert.equal(whereIs("tsk_1"), "#/tasks/tsk_1");
  assert.equal(whereIs("plan.md"), undefined);
});

test("a command that is copied does what it says, whatever a plan is called", () => {
  const command = curl("http://127.0.0.1:1" + address`/api/plans/${"it's; $(id) `id` \n.md"}`);
  assert.equal(command, `curl -H "Authorization: Bearer $token" 'http://127.0.0.1:1/api/plans/it%27s%3B%20%24(id)%20%60id%60%20%0A.md'`);
});
