// What an event says is old. The page never computes a state from events: it reads again what they are about.
import type { Event } from "../../../schema/gen/protocol.ts";

/** A Topic is something that the page shows and that may be old. */
export type Topic = "awaiting" | "tasks" | "instructions" | "runs" | "plans" | "notices" | "counts";

/** A Change is what became old since it was read. All of it, if all is set. */
export interface Change {
  all: boolean;
  topics: Set<Topic>;
  /** Tasks, runs, instructions and plans that something happened to. */
  subjects: Set<string>;
  /** How many events this is about. */
  events: number;
}

export function nothing(): Change {
  return { all: false, topics: new Set(), subjects: new Set(), events: 0 };
}

const topicsOf: Record<string, readonly Topic[]> = {
  task: ["tasks", "awaiting", "counts"],
  attempt: ["tasks", "awaiting", "counts"],
  instruction: ["instructions", "counts"],
  run: ["runs", "plans", "counts"],
  ledger: ["plans", "runs"],
  notice: ["notices", "counts"],
  breaker: ["tasks"],
};

/** So many subjects are told apart. Who held back more, for an hour perhaps, has more to read than is worth choosing from. */
const mostSubjects = 1000;

function everything(change: Change): void {
  change.all = true;
  change.topics.clear();
  change.subjects.clear();
}

/** Adds an event. What is not known makes everything old: a newer waybill may tell more than this page knows. */
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

/** Whether something is old that one of the topics or the subject is about. */
export function touches(change: Change, topics: readonly Topic[], subject?: string): boolean {
  if (change.all) return true;
  if (subject !== undefined) return change.subjects.has(subject);
  return topics.some((topic) => change.topics.has(topic));
}
