// Actions about many entries at once, which can be taken back until they begin.
import type { JSX } from "preact";
import { signal } from "@preact/signals";
import { announce } from "./announce.tsx";
import { carryOut, readInbox } from "./inbox.ts";
import type { Entry, Verb } from "./inbox.ts";
import { asFault, newKey } from "./wire.ts";
import { many } from "./words.ts";

/** Time in which the action can be taken back. */
const grace = 6000;
/** Number of requests at a time. */
const atOnce = 4;

/** A Job is an action about entries, each with the key of its change. */
interface Job {
  verb: Verb;
  left: { entry: Entry; key: string }[];
  done: number;
  state: "waits" | "runs" | "over";
  why: string;
}

const job = signal<Job | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

/** A button that begins an action about entries. */
export function Bulk({ verb, entries, label }: { verb: Verb; entries: readonly Entry[]; label: string }): JSX.Element {
  const begin = () => {
    if (job.value !== undefined && job.value.state !== "over") return;
    job.value = { verb, left: entries.map((entry) => ({ entry, key: newKey() })), done: 0, state: "waits", why: "" };
    announce(`${told(job.value)} Press z to take it back.`);
    timer = setTimeout(() => void run(), grace);
  };
  return <button type="button" class="quiet" aria-disabled={job.value !== undefined && job.value.state !== "over"} onClick={begin}>{label}</button>;
}

const words = { retry: ["will be retried", "are being retried", "retried"], dismiss: ["will be dismissed", "are being dismissed", "dismissed"] } as const;

function told({ verb, left, done, state, why }: Job): string {
  const [soon, now, over] = words[verb];
  if (state === "waits") return `${many(left.length, "entry", "entries")} ${soon}.`;
  if (state === "runs") return `${many(left.length, "entry", "entries")} ${now}.`;
  return `${done} ${over}${left.length > 0 ? `, ${left.length} not: ${why}` : ""}.`;
}

/** Takes the action back, if it has not begun. Returns whether it did. */
export function undo(): boolean {
  if (job.value?.state !== "waits") return false;
  clearTimeout(timer);
  job.value = undefined;
  announce("Taken back: nothing was done.");
  return true;
}

async function run(): Promise<void> {
  clearTimeout(timer);
  const mine = job.value;
  if (mine === undefined) return;
  job.value = { ...mine, state: "runs", why: "" };
  const failed: Job["left"] = [];
  const queue = [...mine.left];
  let why = "";
  const worker = async () => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
      try {
        await carryOut(mine.verb, one.entry, one.key);
      } catch (thrown) {
        failed.push(one);
        why = asFault(thrown).message;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  job.value = { ...mine, state: "over", left: failed, done: mine.done + mine.left.length - failed.length, why };
  announce(told(job.value));
  await readInbox();
}

/** Shows the action, with what can be done about it. */
export function BulkBar(): JSX.Element | null {
  const now = job.value;
  if (now === undefined) return null;
  const { state, left } = now;
  return (
    <div class="bulk" role="group" aria-label="Action about many entries">
      <span>{told(now)}</span>
      {state === "waits" && <button type="button" onClick={undo}>Undo <kbd>z</kbd></button>}
      {state === "waits" && <button type="button" onClick={() => void run()}>Now</button>}
      {state === "over" && left.length > 0 && <button type="button" onClick={() => void run()}>Try again</button>}
      {state === "over" && <button type="button" onClick={() => (job.value = undefined)}>Close</button>}
    </div>
  );
}
