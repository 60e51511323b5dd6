// The home of the page: the inbox of all workspaces, grouped by what is to be done.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { signal, useSignal } from "@preact/signals";
import { announce } from "./announce.tsx";
import { Bulk } from "./bulk.tsx";
import { FilterBar, filterOf } from "./filter.tsx";
import { Prose } from "./formatted.tsx";
import { atOf, carryOut, inbox, inboxFault, keyOf, kinds, nameOf, readInbox, routeOf } from "./inbox.ts";
import type { Entry, Kind } from "./inbox.ts";
import { InstructionPane } from "./instructions.tsx";
import { plain, titled } from "./marks.ts";
import { Act, Age, Copyable, Empty, Sign, Trouble, Waiting } from "./parts.tsx";
import { go, holds, link, narrow, replace, route } from "./route.ts";
import { RunPane } from "./runs.tsx";
import { Split, useMoves } from "./split.tsx";
import { TaskPane } from "./task.tsx";
import { Text } from "./text.tsx";
import { postLooked } from "./wire.ts";
import { many } from "./words.ts";

const groups: Record<Kind, string> = {
  question: "Questions", refuted: "Refuted", blocked: "Blocked", failed_task: "Failed", failed_instruction: "Not acknowledged", reported: "Reported",
  unreadable: "Unreadable workspaces", gone: "Workspaces that are gone", proven: "Proven", said: "Only said to be done",
};

/** Rows of a group that are shown at first. */
const most = 50;

/** Time after a movement or a key in which a person may be about to press in the list. */
const restless = 10_000;

/** A Row is an entry in the list. left means that it no longer waits. */
interface Row {
  entry: Entry;
  left: boolean;
}

/** The entry that is open, which stays open after it has left the list. */
const opened = signal<Entry | undefined>(undefined);

export function Home(): JSX.Element {
  const { id, filter, at } = route.value;
  const { words } = filterOf([]);
  const box = useRef<HTMLDivElement>(null);
  const rows = useRows(box);
  const onMove = useMoves(box);
  const matching = rows.filter(({ entry: e }) => holds(words, e.title, e.text, e.workspace, e.plan, e.id));
  const first = useRef(true);
  useLayoutEffect(() => {
    const e = rows[0]?.entry;
    if (!first.current || e === undefined) return;
    first.current = false;
    // The first entry is open where there is room for it beside the list.
    if (id === "" && filter === "" && !narrow()) replace({ view: "inbox", id: routeOf(e), at: atOf(e) });
  });
  const found = rows.find(({ entry: e }) => routeOf(e) === id && atOf(e) === at)?.entry;
  if (found !== undefined) opened.value = found;
  const chosen = opened.value !== undefined && routeOf(opened.value) === id ? opened.value : undefined;
  const all = inbox.value;
  const more = (all?.entries.filter((e) => !rows.some((row) => !row.left && keyOf(row.entry) === keyOf(e))) ?? []).length;
  const places = new Set(all?.entries.map((e) => e.workspace_id)).size > 1 || all?.entries.some((e) => atOf(e) !== "") === true;
  return (
    <Split
      view="inbox"
      title="Inbox"
      id={id}
      filter={filter}
      at={at}
      head={<FilterBar example="words" />}
      list={
        <div class="rows" ref={box} tabIndex={-1} onKeyDown={onMove}>
          {inboxFault.value && <Trouble fault={inboxFault.value} again={readInbox} />}
          {!all && !inboxFault.value && <Waiting what="the inbox" />}
          {more > 0 && (
            <p class="newer">
              <button type="button" onClick={() => dispatchEvent(new Event("waybill:tidy"))}>Show {many(more, "new one", "new ones")}</button>
            </p>
          )}
          {kinds.map((kind) => {
            const of = matching.filter(({ entry }) => entry.kind === kind);
            return of.length > 0 && <Group key={kind} kind={kind} rows={of} places={places} />;
          })}
          {all && matching.length === 0 && more === 0 && (
            words.length > 0 ? <Empty title="Nothing matches." /> : <Empty title="Nothing waits for you.">Questions of agents, and work that needs you, appear here.</Empty>
          )}
          {all && <p class="rows-end faint">{many(all.waiting, "thing waits", "things wait")} for you.</p>}
          {all?.cut && <p class="rows-end faint">There is more than this list can show.</p>}
          {all !== undefined && all.gone.length > 0 && <p class="rows-end faint">{many(all.gone.length, "workspace folder is", "workspace folders are")} gone, and nothing waits there.</p>}
        </div>
      }
      detail={<Pane key={at + id} id={id} entry={chosen} />}
      nothing={<Empty title={all && all.waiting > 0 ? "Choose an entry." : "Nothing waits for you."}>With <kbd>j</kbd> and <kbd>k</kbd> you move, with <kbd>Enter</kbd> you open, with <kbd>r</kbd> you answer.</Empty>}
    />
  );
}

/** The rows of the list. While it is in use, none moves: what left stays, and what came waits. */
function useRows(box: { current: HTMLElement | null }): readonly Row[] {
  const kept = useSignal<readonly Row[]>([]);
  const used = useRef(0);
  const now = inbox.value?.entries;
  const take = (force: boolean) => {
    const entries = inbox.peek()?.entries;
    if (entries === undefined) return;
    const fresh = new Map(entries.map((e) => [keyOf(e), e]));
    if (!force && !document.hidden && kept.peek().length > 0 && Date.now() - used.current < restless) {
      kept.value = kept.peek().map(({ entry }) => ({ entry: fresh.get(keyOf(entry)) ?? entry, left: !fresh.has(keyOf(entry)) }));
      return;
    }
    // The entry that is open stays, and so does the one with the focus.
    const focused = box.current?.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : undefined;
    const stays = kept.peek().filter(({ entry: e }) => !force && !fresh.has(keyOf(e)) && (routeOf(e) === route.peek().id || hrefOf(e) === focused));
    kept.value = [...entries.map((entry) => ({ entry, left: false })), ...stays.map((row) => ({ ...row, left: true }))];
  };
  useLayoutEffect(() => take(false), [now]);
  useEffect(() => {
    const tidy = () => {
      used.current = 0;
      take(false);
    };
    const clear = () => take(true);
    const move = () => (used.current = Date.now());
    const list = box.current;
    list?.addEventListener("pointermove", move);
    list?.addEventListener("keydown", move);
    list?.addEventListener("pointerleave", tidy);
    document.addEventListener("visibilitychange", tidy);
    addEventListener("waybill:tidy", clear);
    return () => {
      list?.removeEventListener("pointermove", move);
      list?.removeEventListener("keydown", move);
      list?.removeEventListener("pointerleave", tidy);
      document.removeEventListener("visibilitychange", tidy);
      removeEventListener("waybill:tidy", clear);
    };
  }, []);
  return kept.value;
}

function hrefOf(e: Entry): string {
  return link({ view: "inbox", id: routeOf(e), at: atOf(e), filter: route.value.filter });
}

function Group({ kind, rows, places }: { kind: Kind; rows: readonly Row[]; places: boolean }): JSX.Element {
  const whole = useSignal(false);
  const there = rows.filter((row) => !row.left).map((row) => row.entry);
  const shown = whole.value ? rows : rows.slice(0, most);
  return (
    <section class="group" aria-label={groups[kind]}>
      <div class="group-head">
        <h2><Sign of={kind} /> {groups[kind]} <span class="count">{there.length}</span></h2>
        {kind === "failed_task" && there.length > 1 && <Bulk verb="retry" entries={there} label={`Retry all ${there.length}`} />}
        {(kind === "failed_instruction" || kind === "reported") && there.length > 1 && <Bulk verb="dismiss" entries={there} label={`Dismiss all ${there.length}`} />}
        {(kind === "proven" || (kind === "said" && !inbox.value?.entries.some((e) => e.kind === "proven"))) && <Seen />}
      </div>
      <ul aria-label={groups[kind]}>
        {shown.map((row) => <RowOf key={keyOf(row.entry)} row={row} places={places} />)}
      </ul>
      {rows.length > shown.length && <p class="rows-end"><button type="button" class="quiet" onClick={() => (whole.value = true)}>Show all {rows.length}</button></p>}
    </section>
  );
}

/** Ends the list of what has ended: it is listed since the last look. */
function Seen(): JSX.Element {
  return (
    <Act
      label="Mark as seen"
      done="The list begins anew."
      run={async () => {
        await postLooked(inbox.peek()?.read_at ?? "");
        await readInbox();
      }}
    />
  );
}

function RowOf({ row: { entry: e, left }, places }: { row: Row; places: boolean }): JSX.Element {
  const { id, at } = route.value;
  const ended = e.kind === "proven" || e.kind === "said";
  const under = ended ? (e.plan ?? "") : titled(e.text, e.title);
  return (
    <li class={left ? "row left" : "row"}>
      <a href={hrefOf(e)} aria-current={routeOf(e) === id && atOf(e) === at ? "true" : undefined}>
        <span class="row-top">
          <span class="row-title"><Text of={plain(e.title, 160)} /></span>
          <span class="row-age">{left ? "done" : e.since && <Age of={e.since} />}</span>
        </span>
        <span class="row-under">
          {places && <span class="place" title={e.workspace}><Text of={nameOf(e.workspace)} /></span>}
          <Text of={under} />
        </span>
      </a>
    </li>
  );
}

/** The details of an entry: the task, run or instruction in its workspace, or the text of the entry itself. */
function Pane({ id, entry: e }: { id: string; entry: Entry | undefined }): JSX.Element {
  const kind = id.slice(0, 4);
  return (
    <>
      {e && <Lead of={e} />}
      {kind === "tsk_" ? <TaskPane id={id} /> : kind === "run_" ? <RunPane id={id} /> : kind === "ins_" ? <InstructionPane id={id} /> : e ? <Saying of={e} /> : inbox.value && <Empty title="This no longer waits." />}
    </>
  );
}

/** Says in which workspace an entry is, why it waits, and what moves it on. */
function Lead({ of: e }: { of: Entry }): JSX.Element {
  const dismiss = async (key: string) => {
    await carryOut("dismiss", e, key);
    announce("It is dismissed.");
    go({ view: "inbox", filter: route.value.filter, at: "" });
    await readInbox();
  };
  const terminal = e.command !== undefined && e.actions.length === 0;
  return (
    <div class="lead">
      <p class="under">
        <Sign of={e.kind} word />
        <span title={e.workspace}><Text of={nameOf(e.workspace)} /></span>
        {e.plan && <Text of={e.plan} />}
        {e.actions.includes("dismiss") && <Act label="Dismiss" done="It is dismissed." run={dismiss} />}
      </p>
      {terminal && <p>At a terminal: <Copyable of={e.command ?? ""} /></p>}
    </div>
  );
}

function Saying({ of: e }: { of: Entry }): JSX.Element {
  return (
    <article class="detail" aria-labelledby="detail-title">
      <h2 id="detail-title" tabIndex={-1}><Text of={plain(e.title, 200)} /></h2>
      <Prose of={e.text} label="What is reported" />
    </article>
  );
}
