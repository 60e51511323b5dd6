// The state of waybill: its workspace, its counts, and its problems.
import type { JSX } from "preact";
import { readStatus, status, statusFault } from "./counts.ts";
import { Copyable, Empty, Fact, Facts, Raw, stateWord, Trouble, Waiting } from "./parts.tsx";
import { whereIs, withoutIds } from "./notices.tsx";
import { link } from "./route.ts";
import { Text } from "./text.tsx";
import { bytes, count, duration } from "./words.ts";

export function Overview(): JSX.Element {
  const s = status.value;
  return (
    <section class="single detail" aria-labelledby="detail-title">
      <h1 id="detail-title" tabIndex={-1}>Status</h1>
      {statusFault.value && <Trouble fault={statusFault.value} again={readStatus} />}
      {!s && !statusFault.value && <Waiting what="the status" />}
      {s && (
        <>
          {!s.well ? (
            <section class="failure">
              <h2>What is wrong</h2>
              <ul class="sayings">{s.attention.map((c, i) => <li key={i}><Text of={withoutIds(c.text)} />{c.ids[0] && whereIs(c.ids[0]) && <>{" "}<a href={whereIs(c.ids[0])}>{c.ids.length > 1 ? "look at the first" : "look at it"}</a></>}{c.command && <div>At a terminal: <Copyable of={c.command.join(" ")} /></div>}</li>)}</ul>
              <p>The <a href={link({ view: "inbox", at: "" })}>inbox</a> has what only you can move on. At a terminal, <code>waybill doctor</code> examines the rest.</p>
            </section>
          ) : (
            <Empty title="Everything is as it should be." />
          )}
          <section>
            <h2>Totals</h2>
            <Counts name="Tasks" of={s.counts.tasks} to={(word) => link({ view: "tasks", filter: `status:${word.toLowerCase()}` })} />
            <Counts name="Instructions" of={s.counts.instructions} to={(word) => link({ view: "instructions", filter: `state:${word}` })} />
            <Counts name="Runs" of={s.counts.runs} to={() => link({ view: "runs" })} />
          </section>
          <section>
            <h2>This process</h2>
            <Facts>
              <Fact name="Version"><Text of={s.version} /></Fact>
              <Fact name="Up for">{duration(s.uptime_ms)}</Fact>
              <Fact name="Workspace"><code><Text of={s.workspace.root} /></code></Fact>
              <Fact name="Store">{s.store.kind}, {bytes(s.store.size_bytes)}{s.store.mode === "read_only" && ", can only be read"}</Fact>
              <Fact name="Where it lies">{s.store.path && <code><Text of={s.store.path} /></code>}</Fact>
              <Fact name="Watches plans by">{s.watcher.mode}{s.watcher.reason && <>: <Text of={s.watcher.reason} /></>}</Fact>
              <Fact name="Settings">
                {s.settings.length > 0 && <ul class="plain">{s.settings.map((o) => <li key={o.name}><code><Text of={`${o.name} = ${JSON.stringify(o.value)}`} /></code> <span class="faint">from <Text of={o.origin} /></span></li>)}</ul>}
              </Fact>
            </Facts>
          </section>
        </>
      )}
      {s && <Raw of={s} at="/api/status" />}
    </section>
  );
}

function Counts({ name, of, to }: { name: string; of: Record<string, number>; to: (word: string) => string }): JSX.Element {
  const there = Object.entries(of).filter(([, n]) => n > 0);
  return (
    <p>
      <strong>{name}:</strong> {there.length === 0 && "none"}
      {there.map(([word, n], i) => (
        <span key={word}>{i > 0 && ", "}<a href={to(word)}>{count(n)} {stateWord(word)}</a></span>
      ))}
    </p>
  );
}
