// The event log as an iterator.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../src/index.js";
import { World, failure, patience } from "./world.js";

async function take(feed: AsyncGenerator<Event, void, void>, count: number): Promise<Event[]> {
  const events: Event[] = [];
  while (events.length < count) {
    const { value, done } = await feed.next();
    if (done) assert.fail(`the feed ended after ${events.length} events`);
    events.push(value);
  }
  return events;
}

test("a feed that nobody reads holds nothing up and misses nothing", patience, async (t) => {
  const client = new World(t).client();
  const feed = client.events({ cursor: "0" });
  await take(feed, 0);
  await Promise.all(Array.from({ length: 600 }, (_, i) => client.call("queue_instruction", { content: `${i}` })));
  const events = await take(feed, 600);
  assert.deepEqual(events.map((event) => event.seq), events.map((_, i) => i + 1));
});

test("a feed waits for what comes, and only for what it wants", patience, async (t) => {
  const client = new World(t).client();
  const feed = client.events({ cursor: "0", types: ["task.created"] });
  const first = feed.next();
  await client.call("queue_instruction", { content: "not this" });
  const { task } = await client.call("create_task", { prompt: "this" });
  assert.equal((await first).value?.subject_id, task.task_id);
});

test("without a cursor a feed begins where the log is", patience, async (t) => {
  const client = new World(t).client();
  await client.call("queue_instruction", { content: "before" });
  const feed = client.events();
  const { task } = await client.call("create_task", { prompt: "behind" });
  assert.deepEqual((await take(feed, 1)).map((event) => event.subject_id), [task.task_id]);
});

test("a feed ends with its signal, with the client, and with a cursor that leads nowhere", patience, async (t) => {
  const client = new World(t).client();
  const stop = new AbortController();
  const stopped = client.events({ cursor: "0", signal: stop.signal }).next();
  const waiting = client.events({ cursor: "0" }).next();
  await client.call("ping");
  stop.abort();
  assert.equal((await stopped).done, true);
  assert.equal((await failure(client.events({ cursor: "nonsense" }).next())).code, "INVALID_PARAMS");
  await client.close();
  assert.equal((await waiting).done, true);
  assert.equal((await client.events().next()).done, true);
});
