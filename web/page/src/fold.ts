// Maps events to outdated parts of the page. The page computes no state from events; it reads again.
import type { Event } from "../../../schema/gen/protocol.ts";

/** A Topic is a part of the page that may be outdated. */
export type Topic = "tasks" | "instructions" | "runs" | "plans" | "notices" | "counts" | "inbox";

/** A Change names the outdated parts. all means everything. */
export interface Change {
  all: boolean;
  topics: Set<Topic>;
  /** Tasks, runs, instructions and plans with events. */
  subjects: Set<string>;
  /** Number of events. */
  events: number;
}

export function nothing(): Change {
  return { all: false, topics: new Set(), subjects: new Set(), events: 0 };
}

const topicsOf: Record<string, readonly Topic[]> = {
  task: ["tasks", "counts", "inbox"],
  attempt: ["tasks", "counts", "inbox"],
  instruction: ["instructions", "counts", "inbox"],
  run: ["runs", "plans", "counts", "inbox"],
  ledger: ["plans", "runs"],
  notice: ["notices", "counts", "inbox"],
  breaker: ["tasks"],
  inbox: ["inbox"],
};

/** Largest number of separate subjects; beyond it everything counts as outdated. */
const mostSubjects = 1000;

function everything(change: Change): void {
  change.all = true;
  change.topics.clear();
  change.subjects.clear();
}

/** Adds an event. An unknown one, from a newer waybill, outdates everything. */
export function fold(change: Change, event: Pick<Event, "type" | "subject_id"> & { data?: unknown }): void {
  change.events++;
  if (change.all) return;
  const noun = event.type.split(".", 1)[0] ?? "";
  const topics = Object.hasOwn(topicsOf, noun) ? topicsOf[noun] : undefined;
  if (topics === undefined) {
    everything(change);
    return;
  }
  for (const topic of topics) change.topics.add(topic);
  change.subjects.add(event.subject_id);
  if (typeof event.data === "object" && event.data !== null) {
    for (const name of ["task_id", "run_id", "plan"]) {
      const id = (event.data as Record<string, unknown>)[name];
      if (typeof id === "string") change.subjects.add(id);
    }
  }
  if (change.subjects.size > mostSubjects) everything(change);
}

/** Whether a topic or the subject is outdated. */
export function touches(change: Change, topics: readonly Topic[], subject?: string): boolean {
  if (change.all) return true;
  if (subject !== undefined) return change.subjects.has(subject);
  return topics.some((topic) => change.topics.has(topic));
}
