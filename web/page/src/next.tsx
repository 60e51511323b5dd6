// Leads from one question to the next.
import type { JSX } from "preact";
import { excerpt, firstLine } from "./marks.ts";
import { link, route } from "./route.ts";
import { Text } from "./text.tsx";
import { useThing } from "./thing.ts";
import { get } from "./wire.ts";

let wanted = "";

/** Whether the link to the next question led to a task. It is true once. */
export function cameHere(task: string): boolean {
  const here = wanted === task;
  if (here) wanted = "";
  return here;
}

/** Confirms an answer, and links to the oldest waiting question. */
export function Answered({ task }: { task: string }): JSX.Element {
  const { view, filter } = route.value;
  const { value } = useThing("next", () => get("list_awaiting", "/api/awaiting", { limit: 2 }), ["awaiting"]);
  const next = value.value?.items.find((w) => w.task_id !== task);
  return (
    <p class="next">
      Your answer was taken.{" "}
      {next && view === "inbox" && (
        <a href={link({ view, id: next.task_id, filter })} onClick={() => (wanted = next.task_id)}>
          Next question: <Text of={firstLine(next.description ?? "", 160) || excerpt(next.question, 160) || next.task_id} />
        </a>
      )}
    </p>
  );
}
