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

/** A link to the question that has waited longest, for whoever has answered one out of the inbox. */
export function NextQuestion({ after }: { after: string }): JSX.Element | null {
  const { value } = useThing("next", () => get("list_awaiting", "/api/awaiting", { limit: 2 }), ["awaiting"]);
  const next = value.value?.items.find((w) => w.task_id !== after);
  if (!next || route.value.view !== "inbox") return null;
  const name = firstLine(next.description ?? "", 160) || excerpt(next.question, 160) || next.task_id;
  return (
    <p class="next">
      <a href={link({ view: "inbox", id: next.task_id })} onClick={() => (wanted = next.task_id)}>
        Next question: <Text of={name} />
      </a>
    </p>
  );
}
