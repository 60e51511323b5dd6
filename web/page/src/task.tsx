// One task: its question, attempts, output and actions.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Reply, Task, TaskDetail } from "../../../schema/gen/protocol.ts";
import { announce } from "./announce.tsx";
import { Formatting, Prose } from "./formatted.tsx";
import { Act, Age, At, Fact, Facts, Id, Raw, State, stateWord, Trouble, Waiting } from "./parts.tsx";
import { firstLine, visible } from "./marks.ts";
import { cameHere } from "./next.tsx";
import { ReplyBox } from "./reply.tsx";
import { link, route } from "./route.ts";
import { Block, Text } from "./text.tsx";
import { useThing } from "./thing.ts";
import { modelName, Timeline } from "./timeline.tsx";
import { address, get, post } from "./wire.ts";
import { bytes, instant } from "./words.ts";

/** Number of attempts for the timeline. */
const mostAttempts = 200;

export function taskName(task: Pick<Task, "description" | "prompt" | "task_id">): string {
  return firstLine(task.description ?? "", 200) || firstLine(task.prompt, 200) || task.task_id;
}

export function TaskPane({ id }: { id: string }): JSX.Element {
  const { at } = route.value;
  const read = () => get("get_task", address`/api/tasks/${id}`, at);
  const { value, fault, reload } = useThing(id, read, ["tasks"], id);
  if (value.value) {
    return (
      <>
        {fault.value && <Trouble fault={fault.value} again={reload} />}
        <Shown detail={value.value} reload={reload} />
      </>
    );
  }
  return fault.value ? <Trouble fault={fault.value} again={reload} /> : <Waiting what="the task" />;
}

function Shown({ detail, reload }: { detail: TaskDetail; reload: () => Promise<void> }): JSX.Element {
  const { task, replies } = detail;
  const title = useRef<HTMLHeadingElement>(null);
  const lastStatus = useRef({ id: task.task_id, status: task.status });
  useEffect(() => {
    const before = lastStatus.current;
    if (before.id === task.task_id && before.status !== task.status) announce(`The task is ${stateWord(task.status)} now.`);
    lastStatus.current = { id: task.task_id, status: task.status };
  }, [task.task_id, task.status]);
  useEffect(() => {
    // The link that led here is gone, and with it the focus.
    if (cameHere(task.task_id) && document.activeElement === document.body) title.current?.focus();
  }, [task.task_id]);
  const waits = task.status === "AWAITING_RESPONSE";
  return (
    <article class="detail" aria-labelledby="detail-title">
      <header>
        <h2 id="detail-title" ref={title} tabIndex={-1}>
          <Text of={taskName(task)} />
        </h2>
        <p class="under">
          <State of={task.status} note={task.reason} />
          <span>
            {waits ? "since " : "changed "}
            <Age of={task.updated_at} />
          </span>
          <Formatting />
        </p>
      </header>
      {waits && (
        <section class="question" aria-labelledby="question-title">
          <h3 id="question-title">The question</h3>
          <Prose of={task.question ?? task.output ?? ""} label="The question" />
        </section>
      )}
      <ReplyBox key={task.task_id} detail={detail} reload={reload} leave={() => title.current?.focus()} />
      <Failure task={task} />
      <Attempts task={task} />
      {replies.length > 0 && <Replies replies={replies} total={detail.replies_total} />}
      {task.output !== undefined && task.output !== task.question && (
        <section>
          <h3>Output</h3>
          <Prose of={task.output} label="Output" code />
        </section>
      )}
      <section>
        <h3>
          Prompt <span class="faint">{bytes(task.prompt_bytes)}{task.retry_context && ", a retry"}</span>
        </h3>
        <Prose of={task.prompt} label="Prompt" code />
      </section>
      <About task={task} />
      <Actions task={task} reload={reload} />
      <Raw of={detail} at={address`/api/tasks/${task.task_id}`} />
    </article>
  );
}

function Failure({ task }: { task: Task }): JSX.Element | null {
  if (!task.error || task.status === "COMPLETE" || task.status === "AWAITING_RESPONSE") return null;
  return (
    <section class="failure">
      <h3>What went wrong</h3>
      <Block of={task.error.message} label="What went wrong" code />
      <p class="faint">
        {[task.error.class, task.error.name && visible(task.error.name), task.error.http_status && `HTTP ${task.error.http_status}`].filter(Boolean).join(" · ")}
      </p>
    </section>
  );
}

function Attempts({ task }: { task: Task }): JSX.Element | null {
  const { at } = route.value;
  const read = () => get("get_timeline", address`/api/tasks/${task.task_id}/timeline`, at, { max_lines: mostAttempts });
  const { value, fault, reload } = useThing(task.task_id, read, ["tasks"], task.task_id);
  return (
    <>
      {fault.value && <Trouble fault={fault.value} again={reload} />}
      {value.value && <Timeline attempts={value.value.attempts} total={value.value.total} />}
    </>
  );
}

function Replies({ replies, total }: { replies: readonly Reply[]; total: number }): JSX.Element {
  return (
    <section>
      <h3>
        Answers{" "}
        {total > replies.length && <span class="faint">the last {replies.length} of {total}</span>}
      </h3>
      <ol class="replies">
        {replies.map((r) => (
          <li key={r.number}>
            <p class="faint">
              {r.by_time ? "Time, with the default" : r.by ? <Text of={r.by} /> : "somebody"}, <time dateTime={r.at} title={r.at}>{instant(r.at)}</time>
            </p>
            {r.question && <blockquote><Text of={firstLine(r.question, 300)} /></blockquote>}
            <Prose of={r.reply} label={`Answer ${r.number}`} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function About({ task }: { task: Task }): JSX.Element {
  return (
    <section>
      <h3>About it</h3>
      <Facts>
        <Fact name="Task"><Id of={task.task_id} /></Fact>
        <Fact name="Created"><At of={task.created_at} /></Fact>
        <Fact name={task.status === "AWAITING_RESPONSE" ? "Asked" : "Ended"}>{task.completed_at && <At of={task.completed_at} />}</Fact>
        <Fact name="Model">{task.model && <Text of={modelName(task.model)} />}</Fact>
        <Fact name="Session">{task.session_id && <Id of={task.session_id} />}</Fact>
        <Fact name="Requested by session">
          {task.parent_session_id && <a href={link({ view: "tasks", filter: `session:${task.parent_session_id}` })}><Text of={task.parent_session_id} /></a>}
        </Fact>
        <Fact name="Run">{task.run_id && <a href={link({ view: "runs", id: task.run_id })}><Text of={task.run_id} /></a>}</Fact>
        <Fact name="Role">{task.role}</Fact>
        <Fact name="Not before">{task.not_before && <At of={task.not_before} />}</Fact>
        <Fact name="Asked to end">{task.cancel_requested_at && <At of={task.cancel_requested_at} />}</Fact>
        <Fact name="Waits for">
          {task.waiting_for && task.waiting_for.length > 0 && (
            <ul class="plain">
              {task.waiting_for.map((w, i) => (
                <li key={i}>
                  {w.task_id ? <a href={link({ view: "tasks", id: w.task_id })}><Text of={w.task_id} /></a> : stateWord(w.kind)}
                  {w.status && <> <State of={w.status} /></>}
                  {w.until && <> until <At of={w.until} /></>}
                </li>
              ))}
            </ul>
          )}
        </Fact>
      </Facts>
    </section>
  );
}

function Actions({ task, reload }: { task: Task; reload: () => Promise<void> }): JSX.Element | null {
  const ended = task.status === "ERROR" || task.status === "CANCELLED" || task.status === "BLOCKED";
  const { at } = route.value;
  const act = async (method: "retry_task" | "cancel_task", verb: string, key: string) => {
    await post(method, address`/api/tasks/${task.task_id}` + verb, at, {}, key);
    await reload();
  };
  if (task.status === "COMPLETE" || (task.cancel_requested_at && !ended)) return null;
  return (
    <section class="buttons" aria-label="Actions">
      {ended && <Act label="Retry" done="The task is queued again." run={(key) => act("retry_task", "/retry", key)} />}
      {task.status !== "ERROR" && task.status !== "CANCELLED" && (
        <Act
          label="Cancel the task"
          danger
          done="The task is cancelled, or its worker was asked to stop."
          question={task.status === "RUNNING" ? "Its worker will be asked to stop. Cancel it?" : "It will not run. Cancel it?"}
          run={(key) => act("cancel_task", "/cancel", key)}
        />
      )}
    </section>
  );
}
