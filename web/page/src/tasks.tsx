// The list of all tasks.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Task } from "../../../schema/gen/protocol.ts";
import { status } from "./counts.ts";
import { FilterBar, filterOf } from "./filter.tsx";
import { cut } from "./marks.ts";
import { Paged } from "./paged.ts";
import type { Page } from "./paged.ts";
import { Age, Empty, State, stateWord } from "./parts.tsx";
import { holds, link, route } from "./route.ts";
import { Rows } from "./rows.tsx";
import { Split } from "./split.tsx";
import { taskName, TaskPane } from "./task.tsx";
import { Text } from "./text.tsx";
import { modelName } from "./timeline.tsx";
import { address, Fault, get } from "./wire.ts";

/** Rows per page, and rows per page during a search. */
const page = 100;

/** A list keeps only what a row shows, so that it can have a hundred thousand tasks. */
function slim(t: Task): Task {
  const { output: _output, user_reply: _reply, ...rest } = t;
  return { ...rest, prompt: cut(t.prompt, 200), ...(t.question === undefined ? {} : { question: cut(t.question, 200) }) };
}

const statuses = ["AWAITING_RESPONSE", "RUNNING", "QUEUED", "BLOCKED", "ERROR", "COMPLETE", "CANCELLED"] as const;
type Status = (typeof statuses)[number];

/** Other words for the states of the wire, such as failed and waiting. */
const alsoCalled: Record<string, Status> = {
  waiting: "AWAITING_RESPONSE", awaiting: "AWAITING_RESPONSE", failed: "ERROR", done: "COMPLETE", completed: "COMPLETE", canceled: "CANCELLED",
};

export function statusOf(word: string): Status | undefined {
  const lower = word.toLowerCase();
  if (Object.hasOwn(alsoCalled, lower)) return alsoCalled[lower];
  return statuses.find((s) => s.toLowerCase() === lower);
}

const fields = ["status", "run", "session", "task"] as const;

/** A whole task id needs no list. */
async function alone(task_id: string, at: string): Promise<Page<Task>> {
  try {
    return { items: [slim((await get("get_task", address`/api/tasks/${task_id}`, at)).task)] };
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.status === 404) return { items: [] };
    throw thrown;
  }
}

const wholeId = /^tsk_[0-9a-f-]{36}$/;

export function Tasks(): JSX.Element {
  const filter = filterOf(fields);
  const { status: word = "", run: run_id, session: parent_session_id, task } = filter.fields;
  const { id, at } = route.value;
  const wanted = statusOf(word);
  const searching = filter.words.length > 0 || task !== undefined;
  const limit = searching ? 500 : page;
  const only = task !== undefined && wholeId.test(task) ? task : undefined;
  const list = useMemo(
    () =>
      new Paged<Task>(
        async (cursor) => {
          if (only !== undefined) return alone(only, at);
          const got = await get("list_tasks", "/api/tasks", at, { status: wanted, run_id, parent_session_id, order: "newest", limit, cursor });
          return { ...got, items: got.items.map(slim) };
        },
        (t) => t.task_id,
        "top",
      ),
    [at, wanted, run_id, parent_session_id, limit, only],
  );
  const counts = status.value?.counts.tasks ?? {};
  return (
    <Split
      view="tasks"
      title="Tasks"
      id={id}
      filter={route.value.filter}
      head={
        <FilterBar
          example="status:error run:run_… words"
          field="status"
          chosen={wanted ?? word}
          choices={statuses.map((s) => ({ value: s.toLowerCase(), label: stateWord(s), count: counts[s] }))}
        />
      }
      list={
        <Rows
          list={list}
          label="Tasks"
          noun="tasks"
          topics={["tasks"]}
          selected={id}
          keep={searching ? ({ thing: t }) => (task === undefined || t.task_id.includes(task)) && (only === undefined || wanted === undefined || t.status === wanted) && holds(filter.words, t.description, t.prompt, t.task_id) : undefined}
          href={(row) => link({ view: "tasks", id: row.id, filter: route.value.filter })}
          row={({ thing: t, left }) => (
            <>
              <span class="row-top">
                <span class="row-title"><Text of={taskName(t)} /></span>
                <span class="row-age"><Age of={t.updated_at} /></span>
              </span>
              <span class="row-under">
                {left ? <span class="state">moved on</span> : <State of={t.status} note={t.reason} />}
                {t.attempt_number !== undefined && t.attempt_number > 1 && <span>attempt {t.attempt_number}</span>}
                <Text of={modelName(t.model)} />
              </span>
            </>
          )}
          empty={
            word !== "" && wanted === undefined ? (
              <Empty title={`There is no status “${word}”.`} />
            ) : (
              <Empty title={route.value.filter === "" ? "There are no tasks yet." : "No task matches."}>
                {route.value.filter === "" ? "A host creates them with create_task." : undefined}
              </Empty>
            )
          }
        />
      }
      detail={<TaskPane id={id} />}
      nothing={<Empty title="Choose a task." />}
    />
  );
}
