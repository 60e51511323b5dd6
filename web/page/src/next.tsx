// From one question to the next.
import type { JSX } from "preact";
import { excerpt, firstLine } from "./marks.ts";
import { link, route } from "./route.ts";
import { Text } from "./text.tsx";
import { useThing } from "./thing.ts";
import { get } from "./wire.ts";

let wanted = "";

/** Whether a task was come to by the link to the next question. It is told once. */
export function cameHere(task: string): boolean {
  const here = wanted === task;
  if (here) wanted = "";
  return here;
}

/** Says that an answer was taken, and leads whoever gave it out of the inbox to the question that has waited longest. */
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
