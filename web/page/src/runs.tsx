// Runs: the work on an item of a plan.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Counters, Ledger, Receipt, Run, TaskLedger } from "../../../schema/gen/protocol.ts";
import { status } from "./counts.ts";
import { FilterBar, filterOf } from "./filter.tsx";
import { Formatting, Prose } from "./formatted.tsx";
import { Paged } from "./paged.ts";
import { Act, Age, At, Bar, Empty, Fact, Facts, Id, Raw, State, Trouble, Waiting } from "./parts.tsx";
import { PromptPreview } from "./prompt.tsx";
import { Proof } from "./proof.tsx";
import { holds, link, route } from "./route.ts";
import { Rows } from "./rows.tsx";
import { Split } from "./split.tsx";
import { Block, Text } from "./text.tsx";
import { useThing } from "./thing.ts";
import { address, get, post } from "./wire.ts";
import { count, many } from "./words.ts";

const states = ["running", "blocked", "done", "failed"] as const;

export function Runs(): JSX.Element {
  const filter = filterOf(["state"]);
  const { state: word = "" } = filter.fields;
  const wanted = states.find((s) => s === word.toLowerCase());
  const list = useMemo(
    () => new Paged<Run>((cursor) => get("list_runs", "/api/runs", { state: wanted, limit: 100, cursor }), (r) => r.run_id, "top"),
    [wanted],
  );
  const { id } = route.value;
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
          keep={filter.words.length > 0 ? ({ thing: r }) => holds(filter.words, r.plan, r.item_id, r.run_id) : undefined}
          href={(row) => link({ view: "runs", id: row.id, filter: route.value.filter })}
          row={({ thing: r, left }) => (
            <>
              <span class="row-top">
                <span class="row-title">Item <Text of={r.item_id} /></span>
                <span class="row-age"><Age of={r.updated_at} /></span>
              </span>
              <span class="row-under">
                {left ? <span class="state">moved on</span> : <State of={r.state} note={r.reason} />}
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
  state: string;
  revision: number;
  updated_at: string;
}

async function readRun(id: string): Promise<Known> {
  const [ledger, snapshot, listed, receipts] = await Promise.all([
    get("get_ledger", address`/api/runs/${id}/ledger`),
    get("get_snapshot", address`/api/runs/${id}`),
    get("list_runs", "/api/runs", { run_id: id }),
    get("list_receipts", address`/api/runs/${id}/receipts`, { limit: 200 }),
  ]);
  const run = listed.items[0];
  return { ledger, run, receipts: receipts.items, state: run?.state ?? snapshot.status, revision: snapshot.revision, updated_at: snapshot.updated_at };
}

function RunPane({ id }: { id: string }): JSX.Element {
  const { value, fault, reload } = useThing(id, () => readRun(id), ["runs", "plans"]);
  const known = value.value;
  if (!known) return fault.value ? <Trouble fault={fault.value} again={reload} /> : <Waiting what="the run" />;
  const { ledger, run } = known;
  const progress = ledger.progress_ledger;
  const work = ledger.task_ledger;
  return (
    <article class="detail" aria-labelledby="detail-title">
      {fault.value && <Trouble fault={fault.value} again={reload} />}
      <header>
        <h2 id="detail-title" tabIndex={-1}>
          <Text of={progress?.current_item?.title ?? `Item ${work?.item_id ?? progress?.item_id ?? ""}`} />
        </h2>
        <p class="under">
          <State of={known.state} note={run?.reason} />
          <span>changed <Age of={known.updated_at} /></span>
          <Id of={id} />
        </p>
      </header>
      {ledger.fallback_reason && (
        <p class="hint wait">
          The plan cannot be read as it is (<Text of={ledger.fallback_detail ?? ledger.fallback_reason} />). What is shown of it is{" "}
          {ledger.ledger_as_of ? <>as of <At of={ledger.ledger_as_of} /></> : "the last that is known"}.
        </p>
      )}
      {work && <Open work={work} id={id} reload={reload} blocked={known.state === "blocked"} />}
      {progress && (
        <section>
          <h3>Progress of the plan</h3>
          <Bar done={progress.totals.completed} of={progress.totals.total} label={`${progress.totals.completed} of ${progress.totals.total} items are done in the file`} />
          <Facts>
            <Fact name="Done in the file">{count(progress.totals.completed)} of {count(progress.totals.total)}</Fact>
            <Fact name="Plan"><a href={link({ view: "plans", id: progress.plan, part: progress.item_id })}><Text of={progress.plan} />, item <Text of={progress.item_id} /></a></Fact>
            <Fact name="Item under way">{progress.active_item_id && <Text of={progress.active_item_id} />}</Fact>
          </Facts>
        </section>
      )}
      {work && <Work work={work} run={run} revision={known.revision} />}
      {run && <Proof run={run} receipts={known.receipts} />}
      {run && <Counted counters={run.counters} run={run} />}
      <PromptPreview run={id} />
      <p><a href={link({ view: "tasks", filter: `run:${id}` })}>Tasks of this run</a></p>
      <Raw of={known} at={address`/api/runs/${id}`} />
    </article>
  );
}

/** The reason of a block comes first. */
function Open({ work, id, reload, blocked }: { work: TaskLedger; id: string; reload: () => Promise<void>; blocked: boolean }): JSX.Element {
  const stalled = work.stalled;
  return (
    <>
      <Sayings title="Blockers" of={work.blockers} />
      <Sayings title="Required fixes" of={work.required_fixes} />
      {work.reviewer_issues.length > 0 && (
        <section>
          <h3>Findings of reviewers</h3>
          <ul class="sayings">
            {work.reviewer_issues.map((issue, i) => (
              <li key={i}>
                <span class="severity"><Text of={issue.severity} /></span> {issue.file && <code><Text of={issue.file} /></code>} <Text of={issue.message} />
                {issue.fix && <div class="faint">Fix: <Text of={issue.fix} /></div>}
              </li>
            ))}
          </ul>
        </section>
      )}
      {(stalled.flagged || work.review_loop.flagged || work.replan_hint) && (
        <section class="failure">
          <h3>{work.review_loop.flagged ? "It goes in circles" : stalled.flagged ? "It is stalled" : "Hint for a new plan"}</h3>
          {work.replan_hint && <Block of={work.replan_hint} label="Hint for a new plan" />}
        </section>
      )}
      <Replan id={id} reload={reload} blocked={blocked} />
    </>
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
          await post("replan", address`/api/runs/${id}/replan`, { summary: summary.value, ...(items.length > 0 ? { plan_items: items } : {}) }, key);
          // Text typed in the meantime was not sent.
          if (summary.value === sent[0] && steps.value === sent[1]) summary.value = steps.value = "";
          await reload();
        }}
      />
    </details>
  );
}

function Work({ work, run, revision }: { work: TaskLedger; run: Run | undefined; revision: number }): JSX.Element {
  return (
    <section>
      <h3>The work</h3>
      {(work.summary || work.reviewer_assessment) && <p class="buttons"><Formatting /></p>}
      {work.summary && <Prose of={work.summary} label="Summary" />}
      {work.reviewer_assessment && <Prose of={work.reviewer_assessment} label="Assessment of the reviewer" />}
      <Facts>
        <Fact name="Workers were at it">{many(work.attempts, "time")}</Fact>
        <Fact name="Reviews">{work.review_attempts.spec} of the spec, {work.review_attempts.quality} of the quality</Fact>
        <Fact name="Rejections">{work.rejections}</Fact>
        <Fact name="Without progress">{work.stalled.consecutive_non_progress} of {work.stalled.threshold}{work.stalled.flagged && ", stalled"}</Fact>
        <Fact name="Same findings again">{work.review_loop.count} of {work.review_loop.threshold}{work.review_loop.alternating && ", taking turns"}</Fact>
        <Fact name="Version of the plan">{work.plan_version}{work.plan_summary && <>: <Text of={work.plan_summary} /></>}</Fact>
        <Fact name="Steps">{work.plan_items.length > 0 && <ol class="plain">{work.plan_items.map((s, i) => <li key={i}><Text of={s} /></li>)}</ol>}</Fact>
        <Fact name="Commits">{work.git_range && <code><Text of={work.git_range} /></code>}</Fact>
        <Fact name="Files changed">{work.files_changed.length > 0 && <ul class="plain">{work.files_changed.map((f) => <li key={f}><code><Text of={f} /></code></li>)}</ul>}</Fact>
        <Fact name="Roles">
          {run && Object.keys(run.standing).length > 0 && <ul class="plain">{Object.entries(run.standing).map(([role, how]) => <li key={role}><Text of={role} />: <Text of={how} /></li>)}</ul>}
        </Fact>
        <Fact name="Revision of the facts">{revision}</Fact>
      </Facts>
    </section>
  );
}

function Counted({ counters, run }: { counters: Counters; run: Run }): JSX.Element {
  const { policy } = run;
  const rows: [string, number, number | undefined][] = [
    ...Object.entries(counters.invalid_results).map(([role, n]): [string, number, number | undefined] => [`Invalid results of ${role}`, n, policy.invalid_retries]),
    ["Failures of workers", counters.worker_failures, policy.worker_failures],
    ["Submissions with a failed check", counters.check_failures, policy.check_failures],
    ["Rejections by reviewers", counters.review_rejections, policy.review_rejections],
    ["Outcomes without progress", counters.stalled, policy.stalled_threshold],
    ["Same findings again", counters.review_loop, policy.review_loop_threshold],
  ];
  return (
    <section>
      <h3 id="counters-title">Counters</h3>
      <table aria-labelledby="counters-title">
        <thead><tr><th scope="col">What</th><th scope="col" class="number">So far</th><th scope="col" class="number">Limit</th></tr></thead>
        <tbody>
          {rows.map(([what, n, limit]) => (
            <tr key={what}><td><Text of={what} /></td><td class="number">{n}</td><td class="number">{limit ?? "–"}</td></tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
