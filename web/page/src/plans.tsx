// Plans: each file as a tree of items with its progress.
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { Item, Plan, PlanSummary, ReadyItems, Run, WaitingItem } from "../../../schema/gen/protocol.ts";
import { Act, At, Bar, Empty, Fact, Facts, Raw, Sign, State, stateWord, Trouble, Waiting } from "./parts.tsx";
import { go, link, route } from "./route.ts";
import { Split, useMoves } from "./split.tsx";
import { Block, Text } from "./text.tsx";
import { useThing } from "./thing.ts";
import { lines, statusOfItem, tree } from "./tree.ts";
import { TreeView } from "./treeview.tsx";
import { address, get, post } from "./wire.ts";
import { count, howFar, many } from "./words.ts";

export function Plans(): JSX.Element {
  const { id, at } = route.value;
  const { value, fault, reload } = useThing("plans", () => get("list_plans", "/api/plans", at), ["plans", "runs"]);
  const list = value.value;
  const box = useRef<HTMLDivElement>(null);
  const onMove = useMoves(box);
  return (
    <Split
      view="plans"
      title="Plans"
      id={id}
      filter=""
      list={
        <div class="rows" ref={box} onKeyDown={onMove}>
          {fault.value && <Trouble fault={fault.value} again={reload} />}
          {!list && !fault.value && <Waiting what="the plans" />}
          {list?.items.length === 0 && <Empty title="There is no plan here.">waybill reads tasks.md and its kin in the workspace.</Empty>}
          {list && list.items.length > 0 && (
            <ul class="sheet flow" aria-label="Plans">
              {list.items.map((p) => <li key={p.path} class="row"><PlanRow of={p} selected={id === p.plan} /></li>)}
            </ul>
          )}
          {list && list.problems.length > 0 && (
            <ul class="rows-end faint">{list.problems.map((p, i) => <li key={i}><Text of={p} /></li>)}</ul>
          )}
        </div>
      }
      detail={<PlanPane id={id} part={route.value.part} />}
      nothing={<Empty title="Choose a plan." />}
    />
  );
}

function PlanRow({ of: p, selected }: { of: PlanSummary; selected: boolean }): JSX.Element {
  const said = howFar(p.totals, p.runs);
  return (
    <a href={link({ view: "plans", id: p.plan })} aria-current={selected ? "true" : undefined}>
      <span class="row-top">
        <span class="row-title"><Text of={p.path} /></span>
        <span class="row-age">{count(p.totals.completed)}/{count(p.totals.total)}</span>
      </span>
      <span class="row-under">
        {p.error ? <span class="tone-bad">cannot be read: <Text of={p.error.message} /></span> : <Bar done={p.totals.completed} of={p.totals.total} label={said} />}
        {p.runs && <span>{said}</span>}
        {p.stale && !p.error && <span class="tone-wait">an older reading</span>}
        {p.diagnostics_count > 0 && <span>{many(p.diagnostics_count, "remark")}</span>}
      </span>
    </a>
  );
}

interface Read {
  plan: Plan;
  ready: ReadyItems | undefined;
  /** The newest run of each item. */
  runs: ReadonlyMap<string, Run>;
}

async function read(id: string, at: string): Promise<Read> {
  const [plan, ready, runs] = await Promise.all([
    get("get_plan", address`/api/plans/${id}`, at),
    get("ready_items", address`/api/plans/${id}/ready`, at, { limit: 500 }).catch(() => undefined),
    get("list_runs", "/api/runs", at, { plan: id, limit: 500 }).catch(() => undefined), // of a plan that cannot be read
  ]);
  const newest = new Map<string, Run>();
  for (const run of runs?.items ?? []) if ((newest.get(run.item_id)?.created_at ?? "") < run.created_at) newest.set(run.item_id, run);
  return { plan, ready, runs: newest };
}

function PlanPane({ id, part }: { id: string; part: string }): JSX.Element {
  const { at } = route.value;
  const { value, fault, reload } = useThing(id, () => read(id, at), ["plans", "runs"]);
  const got = value.value;
  const branches = useMemo(() => (got ? lines(tree(got.plan.items)) : []), [got]);
  if (!got) return fault.value ? <Trouble fault={fault.value} again={reload} /> : <Waiting what="the plan" />;
  const { plan, ready, runs } = got;
  const item = plan.items.find((i) => i.item_id === part);
  return (
    <article class="detail" aria-labelledby="detail-title">
      {fault.value && <Trouble fault={fault.value} again={reload} />}
      <header>
        <h2 id="detail-title" tabIndex={-1}><Text of={plan.path} /></h2>
        <p class="under">
          <span>{howFar(plan.totals, plan.runs)}</span>
          <span>{stateWord(plan.dialect)}</span>
        </p>
        <Bar done={plan.totals.completed} of={plan.totals.total} label={howFar(plan.totals, plan.runs)} />
      </header>
      {plan.runs_error && <p class="hint wait">This is what the file says. Its runs cannot be read: <Text of={plan.runs_error.message} /></p>}
      {plan.stale && (
        <p class="hint wait">
          The file cannot be read as it is ({plan.stale_reason ? stateWord(plan.stale_reason) : <Text of={plan.stale} />}). This is the last good reading
          {plan.as_of && <>, of <At of={plan.as_of} /></>}.
        </p>
      )}
      {part !== "" && (item ? <ItemPane key={part} plan={plan} item={item} waiting={ready?.waiting.find((w) => w.item_id === part)} ready={ready?.ready.includes(part) === true} reload={reload} /> : <Empty title="The plan no longer has this item." />)}
      <section>
        <h3>Items</h3>
        <TreeView of={branches} plan={id} part={part} ready={new Set(ready?.ready)} runs={runs} held={new Map(ready?.waiting.map((w) => [w.item_id, w.because.filter((b) => b.kind === "depends_on").flatMap((b) => b.item_id ?? [])]))} />
      </section>
      {plan.diagnostics.length > 0 && (
        <section>
          <h3>Diagnostics</h3>
          <ul class="sayings">
            {plan.diagnostics.slice(0, 200).map((d, i) => (
              <li key={i}>
                <span class="severity">{d.severity}</span> <span class="faint">line {d.line}</span> <Text of={d.message} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <Raw of={plan} at={address`/api/plans/${plan.plan}`} />
    </article>
  );
}

const settable = ["pending", "in_progress", "completed", "blocked", "skipped"] as const;

function ItemPane(p: { plan: Plan; item: Item; waiting: WaitingItem | undefined; ready: boolean; reload: () => Promise<void> }): JSX.Element {
  const { plan, item } = p;
  const where = address`/api/plans/${plan.plan}/items/${item.item_id}`;
  const { at } = route.value;
  const run = useThing(where, () => get("resume_run", where + "/run", at), ["runs"]);
  const found = run.value.value?.run;
  const list = (texts: readonly string[]) => texts.length > 0 && <ul class="plain">{texts.map((t, i) => <li key={i}><Text of={t} /></li>)}</ul>;
  return (
    <section class="item-pane" aria-labelledby="item-title">
      <h3 id="item-title"><Text of={`${item.item_id} ${item.title}`} /></h3>
      <Facts>
        <Fact name="Status"><State of={statusOfItem(item)} note={item.blocked_reason} /></Fact>
        <Fact name="Can be begun">{p.ready ? "now" : p.waiting && <Because of={p.waiting} plan={plan.plan} />}</Fact>
        <Fact name="Run">
          {found ? <><a href={link({ view: "runs", id: found.run_id })}>{stateWord(found.state)}{found.reason && <>: <Text of={found.reason} /></>}</a> <Sign of={found.proof.state} word /></> : run.fault.value?.status === 404 ? "none yet" : run.fault.value && <Text of={run.fault.value.message} />}
        </Fact>
        <Fact name="Line">{item.source && <><Text of={item.source} />, </>}{item.line}</Fact>
        <Fact name="Depends on">{item.depends_on.length > 0 && <Text of={item.depends_on.join(", ")} />}</Fact>
        <Fact name="Requirements">{list(item.requirements)}</Fact>
        <Fact name="Files">{list(item.files)}</Fact>
        <Fact name="Details">{list(item.details)}</Fact>
        <Fact name="Purpose">{item.purpose && <Text of={item.purpose} />}</Fact>
      </Facts>
      {item.prompt && <Block of={item.prompt} label="Prompt of the item" code />}
      <div class="buttons">
        {settable.filter((s) => s !== item.status && (!plan.marks || s === "pending" || s === "completed" || Object.values(plan.marks).includes(s))).map((s) => (
          <Act
            key={s}
            label={`Mark ${stateWord(s)}`}
            question={`This writes into ${plan.path}, and only the mark of this item. Go on?`}
            done={`The item is ${stateWord(s)}.`}
            run={async (key) => {
              await post("set_item_status", where + "/status", at, { status: s, line: item.line, expected_hash: plan.fingerprint.hash }, key);
              await p.reload();
            }}
          />
        ))}
        {run.fault.value?.status === 404 && (
          <Act
            label="Start a run"
            question="The next host that asks for work receives it. Start it?"
            done="The run has begun."
            run={async (key) => {
              const started = await post("init_run", where + "/run", at, {}, key);
              go({ view: "runs", id: started.run.run_id });
            }}
          />
        )}
      </div>
    </section>
  );
}

function Because({ of: w, plan }: { of: WaitingItem; plan: string }): JSX.Element {
  return (
    <ul class="plain">
      {w.because.map((b, i) => (
        <li key={i}>
          {b.kind === "depends_on" ? "not before" : stateWord(b.kind)}{" "}
          {b.item_id && <a href={link({ view: "plans", id: plan, part: b.item_id })}><Text of={b.item_id} /></a>}
        </li>
      ))}
    </ul>
  );
}
