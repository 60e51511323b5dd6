// What keeps lists and counts current. It is bundled and run by TestPureParts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, nothing, touches } from "../src/fold.ts";
import { Paged } from "../src/paged.ts";
import { lines, tree } from "../src/tree.ts";
import { inTurn } from "../src/turns.ts";

interface Thing {
  id: string;
  version: number;
}

function things(n: number): Thing[] {
  return Array.from({ length: n }, (_, i) => ({ id: String(i).padStart(5, "0"), version: 0 }));
}

/** A list of things in pages of 100, each of which comes when the gate lets it through. */
function supply(all: () => Thing[]) {
  const gate = { open: Promise.resolve(), asked: 0, fails: false };
  const list = new Paged<Thing>(
    async (cursor) => {
      gate.asked++;
      if (gate.fails) throw new Error("busy");
      const from = cursor === undefined ? 0 : all().findIndex((t) => t.id > cursor);
      const items = from < 0 ? [] : all().slice(from, from + 100).map((t) => ({ ...t }));
      const more = from >= 0 && from + 100 < all().length;
      await gate.open;
      return more ? { items, next_cursor: items.at(-1)?.id ?? "" } : { items };
    },
    (t) => t.id,
  );
  return { list, gate };
}

async function whole(list: Paged<Thing>): Promise<void> {
  while (!list.complete.value) await list.more();
}

function change(all: Thing[], id: string): void {
  for (const thing of all) if (thing.id === id) thing.version++;
}

function versionAt(list: Paged<Thing>, n: number): number | undefined {
  return list.rows.value[n]?.thing.version;
}

/** A promise, and what fulfils it. */
function held(): { until: Promise<void>; release: () => void } {
  let release = () => {};
  const until = new Promise<void>((done) => (release = done));
  return { until, release: () => release() };
}

/** Lets go on whatever waits for nothing else. */
async function settled(): Promise<void> {
  for (let n = 0; n < 50; n++) await Promise.resolve();
}

test("whoever scrolls while a list is read again gets what is seen then", async () => {
  const all = things(300);
  const { list, gate } = supply(() => all);
  await whole(list);
  const hold = held();
  gate.open = hold.until;
  const first = list.refresh(0, 10);
  change(all, "00150");
  const second = list.refresh(145, 155);
  hold.release();
  await Promise.all([first, second]);
  assert.equal(versionAt(list, 150), 1);
});

test("what became old while it was not looked at is read again when it is, and once", async () => {
  const all = things(300);
  const { list, gate } = supply(() => all);
  await whole(list);
  change(all, "00150");
  await list.refresh(0, 10);
  assert.equal(versionAt(list, 150), 0, "nobody looks at it");
  await list.look(145, 155);
  assert.equal(versionAt(list, 150), 1);
  const before = gate.asked;
  await list.look(146, 156);
  await list.look(0, 10);
  assert.equal(gate.asked, before, "nothing has changed since");
});

test("a change that comes while its page is read has the page read again", async () => {
  const all = things(50);
  const { list, gate } = supply(() => all);
  const hold = held();
  gate.open = hold.until;
  const first = list.more();
  await settled();
  assert.equal(gate.asked, 1, "the page is on its way, as it was");
  change(all, "00007");
  const second = list.refresh(0, 10);
  hold.release();
  await Promise.all([first, second]);
  assert.equal(versionAt(list, 7), 1);
});

test("rows that left do not hide where the others are read from", async () => {
  let all = things(400);
  const { list } = supply(() => all);
  await whole(list);
  all = all.slice(60);
  await list.refresh(0, 10);
  change(all, "00210");
  await list.refresh(205, 215);
  assert.equal(versionAt(list, 210), 1);
});

test("a list that is whole and could not be read again can be tried again", async () => {
  const all = things(3);
  const { list, gate } = supply(() => all);
  await whole(list);
  gate.fails = true;
  await list.refresh(0, 2);
  assert.match(list.fault.value?.message ?? "", /busy/);
  const asked = gate.asked;
  await list.look(0, 2);
  await list.look(0, 1);
  assert.equal(gate.asked, asked, "nobody has asked for another try");
  gate.fails = false;
  change(all, "00001");
  await list.refresh(0, 2);
  assert.equal(list.fault.value, undefined);
  assert.equal(versionAt(list, 1), 1);
});

test("rows that left can be dropped, and what stays is where it says", async () => {
  let all = things(250);
  const { list } = supply(() => all);
  await whole(list);
  all = all.filter((_, n) => n >= 120 || n % 2 === 1);
  await list.refresh(0, 249);
  const left = list.rows.value.filter((row) => row.left).length;
  assert.equal(left, 60);
  list.drop((row) => row.id === "00004");
  assert.equal(list.rows.value.length, 250 - 60 + 1);
  change(all, "00200");
  await list.refresh(0, 249);
  assert.equal(list.rows.value.find((row) => row.id === "00200")?.thing.version, 1);
  assert.ok(list.rows.value.find((row) => row.id === "00004")?.left);
  all.push({ id: "99999", version: 0 });
  await list.refresh(0, 249);
  assert.equal(list.rows.value.at(-1)?.id, "99999");
  assert.equal(new Set(list.rows.value.map((row) => row.id)).size, list.rows.value.length);
});

test("work that many ask for is done in turn, and ends", async () => {
  let running = 0;
  let most = 0;
  let begun = 0;
  let hold = held();
  const work = inTurn(async () => {
    begun++;
    most = Math.max(most, ++running);
    await hold.until;
    running--;
    if (begun === 1) throw new Error("lost");
  });
  const first = work();
  const later = Array.from({ length: 20 }, () => work());
  assert.equal(begun, 1);
  const before = hold;
  hold = held();
  before.release();
  await first;
  await settled();
  assert.equal(begun, 2, "all that came meanwhile are one more");
  const last = work();
  hold.release();
  await Promise.all([...later, last]);
  assert.equal(begun, 3);
  assert.equal(most, 1);
  await work();
  assert.equal(begun, 4);
});

test("what is held back for long is not counted for ever", () => {
  const change = nothing();
  for (let n = 0; n < 5000; n++) fold(change, { type: "attempt.finished", subject_id: `att_${n}`, data: { task_id: `tsk_${n}` } });
  assert.equal(change.events, 5000);
  assert.ok(change.subjects.size <= 1000);
  assert.ok(touches(change, ["tasks"], "tsk_7") && touches(change, [], "tsk_4999"));
});

test("a tree has its lines in the order of the plan", () => {
  const item = (item_id: string, parent_id?: string) => ({
    item_id, title: item_id, status: "pending" as const, optional: false, line: 1, level: 1, depends_on: [], parallel: false, requirements: [],
    files: [], details: [], ...(parent_id === undefined ? {} : { parent_id }),
  });
  const got = lines(tree([item("1"), item("1.1", "1"), item("1.1.1", "1.1"), item("2"), item("1.2", "1")]));
  assert.deepEqual(got.map((l) => [l.branch.item.item_id, l.level]), [["1", 1], ["1.1", 2], ["1.1.1", 3], ["1.2", 2], ["2", 1]]);
});
