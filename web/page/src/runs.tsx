// Runs: the work on an item of a plan, told from what was asked to what is next.
import { Fragment } from "preact";
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Event, Explanation, Item, Ledger, Receipt, Run, Task, TaskLedger } from "../../../schema/gen/protocol.ts";
import { status } from "./counts.ts";
import { FilterBar, filterOf } from "./filter.tsx";
import { Formatting, Prose } from "./formatted.tsx";
import { plain } from "./marks.ts";
import { Paged } from "./paged.ts";
import { Act, Age, At, Copyable, Empty, Fact, Facts, Id, Raw, Sign, State, stateWord, Trouble, Waiting } from "./parts.tsx";
import { holds, link, route } from "./route.ts";
import { Rows } from "./rows.tsx";
import { Split } from "./split.tsx";
import { Block, Text } from "./text.tsx";
import { useThing } from "./thing.ts";
import { titleOf } from "./titles.ts";
import { address, get, post } from "./wire.ts";
import { duration } from "./words.ts";

const states = ["running", "blocked", "done", "failed"] as const;

export function Runs(): JSX.Element {
  const filter = filterOf(["state"]);
  const { state: word = "" } = filter.fields;
  const { id, at } = route.value;
  const wanted = states.find((s) => s === word.toLowerCase());
  const list = useMemo(
    () => new Paged<Run>((cursor) => get("list_runs", "/api/runs", at, { state: wanted, limit: 100, cursor }), (r) => r.run_id, "top"),
    [at, wanted],
  );
  const counts = status.value?.counts.runs ?? {};
  return (
    <Split
      view="runs"
      title="Runs"
      id={id}
      filter={route.value.filter}
      head={
        <FilterBar
          example="state:blocked words of plan or item"
          field="state"
          chosen={wanted ?? word}
          choices={states.map((s) => ({ value: s, label: s, count: counts[s] }))}
        />
      }
      list={
        <Rows
          list={list}
          label="Runs"
          noun="runs"
          topics={["runs"]}
          selected={id}
          keep={filter.words.length > 0 ? ({ thing: r }) => holds(filter.words, r.plan, r.item_id, r.run_id, titleOf(r.plan, r.item_id)) : undefined}
          href={(row) => link({ view: "runs", id: row.id, filter: route.value.filter })}
          row={({ thing: r, left }) => (
            <>
              <span class="row-top">
                <span class="row-title"><Text of={`${r.item_id} ${titleOf(r.plan, r.item_id)}`} /></span>
                <span class="row-age"><Age of={r.updated_at} /></span>
              </span>
              <span class="row-under">
                {left ? <span class="state">moved on</span> : <State of={r.state} note={r.reason} />}
                {r.state === "done" || r.proof.state === "refuted" ? <Sign of={r.proof.state} word /> : null}
                <Text of={r.plan} />
              </span>
            </>
          )}
          empty={<Empty title={route.value.filter === "" ? "No run has begun." : "No run matches."}>A run begins with init_run, or with an item of a plan.</Empty>}
        />
      }
      detail={<RunPane id={id} />}
      nothing={<Empty title="Choose a run." />}
    />
  );
}

interface Known {
  ledger: Ledger;
  /** The run; absent if its plan is not known. */
  run: Run | undefined;
  receipts: Receipt[];
  tasks: Task[];
  events: Event[];
  /** Whether there is more than was read. */
  cut: boolean;
  why: Explanation | undefined;
  state: string;
  updated_at: string;
}

/** Largest number of pages of each kind that a story has. */
const mostPages = 10;

/** Reads page after page, up to a bound. */
async function pages<T>(read: (cursor: string | undefined) => Promise<{ items: T[]; next_cursor?: string }>): Promise<{ items: T[]; cut: boolean }> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (let n = 0; n < mostPages; n++) {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  return { items, cut: cursor !== undefined };
}

async function readRun(id: string, at: string): Promise<Known> {
  const [ledger, snapshot, listed, receipts, tasks, log, why] = await Promise.all([
    get("get_ledger", address`/api/runs/${id}/ledger`, at),
    get("get_snapshot", address`/api/runs/${id}`, at),
    get("list_runs", "/api/runs", at, { run_id: id }),
    pages((cursor) => get("list_receipts", address`/api/runs/${id}/receipts`, at, { limit: 200, cursor })),
    pages((cursor) => get("list_tasks", "/api/tasks", at, { run_id: id, order: "newest", limit: 200, cursor })),
    pages(async (cursor = "0") => {
      const log = await get("events_since", "/api/log", at, { subject_id: id, cursor, limit: 500 });
      return { items: log.events, ...(log.more ? { next_cursor: log.cursor } : {}) };
    }).catch(() => undefined), // of an old run it may be gone
    get("explain", "/api/explain", at, { subject_id: id }).catch(() => undefined),
  ]);
  const run = listed.items[0];
  return {
    ledger, run, receipts: receipts.items, tasks: tasks.items, events: log?.items ?? [], why,
    cut: receipts.cut || tasks.cut || log?.cut === true,
    state: run?.state ?? snapshot.status, updated_at: snapshot.updated_at,
  };
}

export function RunPane({ id }: { id: string }): JSX.Element {
  const { at } = route.value;
  const { value, fault, reload } = useThing(id, () => readRun(id, at), ["runs", "plans", "tasks"]);
  const known = value.value;
  if (!known) return fault.value ? <Trouble fault={fault.value} again={reload} /> : <Waiting what="the run" />;
  const { ledger, run } = known;
  const progress = ledger.progress_ledger;
  const work = ledger.task_ledger;
  const item = progress?.current_item;
  return (
    <article class="detail" aria-labelledby="detail-title">
      {fault.value && <Trouble fault={fault.value} again={reload} />}
      <header>
        <h2 id="detail-title" tabIndex={-1}>
          <Text of={`${work?.item_id ?? progress?.item_id ?? ""} ${item?.title ?? ""}`} />
        </h2>
        <p class="under">
          <State of={known.state} note={run?.reason} />
          {run && <Sign of={run.proof.state} word />}
          <span>changed <Age of={known.updated_at} /></span>
          {progress && <a href={link({ view: "plans", id: progress.plan, part: progress.item_id })}><Text of={progress.plan} /></a>}
          <Formatting />
        </p>
      </header>
      {ledger.fallback_reason && (
        <p class="hint wait">
          The plan cannot be read as it is (<Text of={ledger.fallback_detail ?? ledger.fallback_reason} />). What is shown of it is{" "}
          {ledger.ledger_as_of ? <>as of <At of={ledger.ledger_as_of} /></> : "the last that is known"}.
        </p>
      )}
      {known.state !== "done" && <Next known={known} id={id} reload={reload} />}
      <Story known={known} item={item} />
      {known.state === "done" && <Next known={known} id={id} reload={reload} />}
      {work && <Work work={work} id={id} />}
      <Raw of={known} at={address`/api/runs/${id}`} />
    </article>
  );
}

/** Why the run is as it is, and what moves it on. */
function Next({ known, id, reload }: { known: Known; id: string; reload: () => Promise<void> }): JSX.Element | null {
  const { why, state, ledger } = known;
  const { at } = route.value;
  const blocked = state === "blocked";
  return (
    <section class={blocked ? "failure" : ""}>
      <h3>{state === "done" ? "How it stands" : "What is next"}</h3>
      <ul class="sayings">{why?.because.map((b, i) => <li key={i}><Text of={b.text} /></li>)}</ul>
      {state !== "done" && why && why.next.length > 0 && (
        <ul class="next-steps">
          {why.next.filter((n) => n.by.includes("person")).map((n, i) => (
            <li key={i}>
              <Text of={n.text} />
              {n.command && <div><Copyable of={n.command.map(shell).join(" ")} /></div>}
            </li>
          ))}
        </ul>
      )}
      {blocked && (
        <p class="buttons">
          <Act
            label="Unblock"
            question="The run goes on from where it stopped, with the same plan. Do this when you have mended what stopped it."
            done="The run goes on."
            run={async (key) => {
              await post("unblock_run", address`/api/runs/${id}/unblock`, at, {}, key);
              await reload();
            }}
          />
        </p>
      )}
      {ledger.task_ledger && <Replan id={id} reload={reload} blocked={blocked} />}
    </section>
  );
}

function shell(word: string): string {
  return /^[\w@%+=:,./…-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

interface Step {
  at: string;
  node: JSX.Element;
}

/** What happened, in its order: what was asked, each attempt with what it said, each receipt, each review. */
function Story({ known: { tasks, receipts, events, cut, ledger }, item }: { known: Known; item: Item | undefined }): JSX.Element {
  const work = ledger.task_ledger;
  const last = events.findLast((e) => String(e.data["role"] ?? "").includes("review"));
  const steps: Step[] = [
    ...tasks.map((t) => ({ at: t.started_at ?? t.created_at, node: <Attempted of={t} /> })),
    ...receipts.map((r) => ({ at: r.at, node: <Check of={r} /> })),
    ...events.flatMap((e) => {
      const node = <Happened of={e} work={e === last ? work : undefined} />;
      return Object.hasOwn(verbs, e.type) ? [{ at: e.at, node }] : [];
    }),
  ].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return (
    <section>
      <h3>The story</h3>
      {cut && <p class="hint wait">The story is too long for the page: some of its steps are left out.</p>}
      <ol class="story">
        <Told at={events.find((e) => e.type === "run.started")?.at} title="What was asked">
          <p><Text of={item?.title ?? "The item is not in the plan any more."} /></p>
          {item && item.details.length > 0 && <ul class="plain faint">{item.details.map((d, i) => <li key={i}><Text of={d} /></li>)}</ul>}
          {item?.prompt && <Prose of={item.prompt} label="Prompt of the item" />}
        </Told>
        {steps.map(({ node }, i) => <Fragment key={i}>{node}</Fragment>)}
      </ol>
    </section>
  );
}

/** One step of a story. */
function Told({ at, title, children }: { at: string | undefined; title: ComponentChildren; children?: ComponentChildren }): JSX.Element {
  return (
    <li>
      <p class="told"><strong>{title}</strong>{at !== undefined && <span class="faint"><At of={at} /></span>}</p>
      {children}
    </li>
  );
}

function Attempted({ of: t }: { of: Task }): JSX.Element {
  return (
    <Told at={t.started_at ?? t.created_at} title={<><a href={link({ view: "tasks", id: t.task_id })}><Text of={t.role ?? plain(t.description ?? t.prompt, 80)} /></a> <State of={t.status} note={t.reason} /></>}>
      {t.error && <Block of={t.error.message} label="What went wrong" code />}
      {t.question !== undefined && <Prose of={t.question} label="Its question" />}
      {t.output !== undefined && t.output !== t.question && <Prose of={t.output} label="What it said" />}
    </Told>
  );
}

const outcomes: Record<string, string> = { green: "proven", red: "refuted", protected: "refuted", untrusted: "untrusted" };

function Check({ of: r }: { of: Receipt }): JSX.Element {
  const how = r.reason ?? (r.exit_code === undefined ? "" : `exit status ${r.exit_code}`);
  return (
    <Told at={r.at} title={<><Sign of={outcomes[r.outcome] ?? r.outcome} /> <Text of={r.check} />: {r.outcome}{how && <> (<Text of={how} />)</>}</>}>
      {r.command && <p><code>$ <Text of={r.command} /></code> <span class="faint">in {duration(r.duration_ms ?? 0)}</span></p>}
      {r.output && (
        <details open={r.outcome !== "green"}>
          <summary>Its output</summary>
          <Block of={r.output} label={`Output of ${r.check}`} code />
        </details>
      )}
    </Told>
  );
}

const verbs: Record<string, string> = { "run.outcome": "reported", "run.replanned": "A new plan was recorded", "run.unblocked": "A person unblocked it", "run.superseded": "A newer run took its place" };

/** An event of the run. The findings of the newest review are known; of older ones only the verdict. */
function Happened({ of: e, work }: { of: Event; work: TaskLedger | undefined }): JSX.Element {
  const said = (name: string): string => (typeof e.data[name] === "string" || typeof e.data[name] === "number" ? String(e.data[name]) : "");
  const verdict = said("verdict");
  const tone = { pass: "said", gaps: "reported", error: "failed_task", invalid: "unreadable" }[verdict] ?? "failed_task"; // no report proves anything
  const title = e.type === "run.outcome" ? <><Sign of={tone} /> <Text of={said("role") || "An agent"} /> {verdict ? <>reported <Text of={verdict} /></> : "was lost"}</> : verbs[e.type];
  return (
    <Told at={e.at} title={title}>
      {said("rule") && <p class="faint">{stateWord(said("rule"))}{said("limit") && `: ${said("count")} of ${said("limit")}`}</p>}
      {work && (
        <>
          {work.reviewer_assessment && <Prose of={work.reviewer_assessment} label="Assessment of the reviewer" />}
          <ul class="sayings">
            {work.reviewer_issues.map((issue, i) => (
              <li key={i}>
                <span class="severity"><Text of={issue.severity} /></span> {issue.file && <code><Text of={issue.file} /></code>} <Text of={issue.message} />
                {issue.fix && <div class="faint">Fix: <Text of={issue.fix} /></div>}
              </li>
            ))}
          </ul>
          <Sayings title="Required fixes" of={work.required_fixes} />
        </>
      )}
      {said("next_action") && <p class="faint">Then: {stateWord(said("next_action"))}</p>}
    </Told>
  );
}

function Sayings({ title, of }: { title: string; of: readonly string[] }): JSX.Element | null {
  if (of.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="sayings">{of.map((s, i) => <li key={i}><Text of={s} /></li>)}</ul>
    </section>
  );
}

/** The form stays while it has text, so that no text vanishes after a change by another person. */
function Replan({ id, reload, blocked }: { id: string; reload: () => Promise<void>; blocked: boolean }): JSX.Element | null {
  const { at } = route.value;
  const summary = useSignal("");
  const steps = useSignal("");
  const items = steps.value.split("\n").map((s) => s.trim()).filter((s) => s !== "");
  if (!blocked && summary.value.trim() === "" && items.length === 0) return null;
  return (
    <details class="replan">
      <summary>Replan</summary>
      {!blocked && <p class="hint wait" role="status">The run is no longer blocked. Your text is kept until you leave this run.</p>}
      <p class="faint">Only different steps end the block: describe what to do differently, then the remaining steps, one on each line.</p>
      <label>
        What is to be done differently
        <textarea rows={2} value={summary.value} onInput={(e) => (summary.value = e.currentTarget.value)} />
      </label>
      <label>
        Steps
        <textarea rows={4} value={steps.value} onInput={(e) => (steps.value = e.currentTarget.value)} />
      </label>
      <Act
        label="Record the new plan"
        done="The new plan is recorded."
        disabled={summary.value.trim() === ""}
        what={JSON.stringify([summary.value, items])}
        run={async (key) => {
          const sent = [summary.value, steps.value];
          await post("replan", address`/api/runs/${id}/replan`, at, { summary: summary.value, ...(items.length > 0 ? { plan_items: items } : {}) }, key);
          // Text typed in the meantime was not sent.
          if (summary.value === sent[0] && steps.value === sent[1]) summary.value = steps.value = "";
          await reload();
        }}
      />
    </details>
  );
}

/** What the newest reports say about the work. */
function Work({ work, id }: { work: TaskLedger; id: string }): JSX.Element {
  return (
    <section>
      <h3>The work</h3>
      {work.summary && <Prose of={work.summary} label="Summary" />}
      <Sayings title="Blockers" of={work.blockers} />
      {work.replan_hint && <Block of={work.replan_hint} label="Hint for a new plan" />}
      <Facts>
        <Fact name="Steps">{work.plan_items.length > 0 && <ol class="plain">{work.plan_items.map((s, i) => <li key={i}><Text of={s} /></li>)}</ol>}</Fact>
        <Fact name="Commits">{work.git_range && <code><Text of={work.git_range} /></code>}</Fact>
        <Fact name="Files changed">{work.files_changed.length > 0 && <ul class="plain">{work.files_changed.map((f) => <li key={f}><code><Text of={f} /></code></li>)}</ul>}</Fact>
        <Fact name="Run"><Id of={id} /></Fact>
      </Facts>
      <p><a href={link({ view: "tasks", filter: `run:${id}` })}>Tasks of this run</a></p>
    </section>
  );
}
