// Leads from one question to the next.
import type { JSX } from "preact";
import { atOf, inbox } from "./inbox.ts";
import type { Entry } from "./inbox.ts";
import { plain } from "./marks.ts";
import { go, link, route } from "./route.ts";
import { Text } from "./text.tsx";

let wanted = "";

/** Whether the link to the next question led to a task. It is true once. */
export function cameHere(task: string): boolean {
  const here = wanted === task;
  if (here) wanted = "";
  return here;
}

/** The question that has waited longest, other than one. */
function nextTo(task: string): Entry | undefined {
  return inbox.value?.entries.find((e) => e.kind === "question" && e.id !== task);
}

/** Goes to the next question. Returns whether there is one. */
export function goNext(): boolean {
  const next = nextTo(route.value.id);
  if (next?.id === undefined) return false;
  wanted = next.id;
  go({ view: "inbox", id: next.id, at: atOf(next) });
  return true;
}

/** Confirms an answer, and links to the oldest waiting question. */
export function Answered({ task }: { task: string }): JSX.Element {
  const { view, filter } = route.value;
  const next = nextTo(task);
  return (
    <p class="next">
      Your answer was taken.{" "}
      {next && view === "inbox" && (
        <a href={link({ view, id: next.id ?? "", filter, at: atOf(next) })} onClick={() => (wanted = next.id ?? "")}>
          Next question: <Text of={plain(next.title, 160)} /> <kbd>n</kbd>
        </a>
      )}
    </p>
  );
}
