// Instructions: their sends and their outcome.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Instruction } from "../../../schema/gen/protocol.ts";
import { status } from "./counts.ts";
import { FilterBar, filterOf } from "./filter.tsx";
import { Formatting, Prose } from "./formatted.tsx";
import { cut, firstLine } from "./marks.ts";
import { Paged } from "./paged.ts";
import { Act, Age, At, Empty, Fact, Facts, Id, Raw, State, Trouble, Waiting } from "./parts.tsx";
import { holds, link, route } from "./route.ts";
import { Rows } from "./rows.tsx";
import { Split } from "./split.tsx";
import { Text } from "./text.tsx";
import { useThing } from "./thing.ts";
import { address, get, post } from "./wire.ts";

const states = ["armed", "queued", "sent", "delivered", "acknowledged", "failed", "cancelled"] as const;
const fields = ["state", "session"] as const;
const page = 100;

export function Instructions(): JSX.Element {
  const filter = filterOf(fields);
  const { state: word = "", session: session_id } = filter.fields;
  const { id, at } = route.value;
  const wanted = states.find((s) => s === word.toLowerCase());
  const list = useMemo(
    () =>
      new Paged<Instruction>(
        async (cursor) => {
          const got = await get("list_instructions", "/api/instructions", at, { state: wanted, session_id, limit: page, cursor });
          return { ...got, items: got.items.map((i) => ({ ...i, content: cut(i.content, 400) })) };
        },
        (i) => i.instruction_id,
      ),
    [at, wanted, session_id],
  );
  const counts = status.value?.counts.instructions ?? {};
  return (
    <Split
      view="instructions"
      title="Instructions"
      id={id}
      filter={route.value.filter}
      head={
        <FilterBar
          example="state:failed session:… words"
          field="state"
          chosen={wanted ?? word}
          choices={states.map((s) => ({ value: s, label: s, count: counts[s] }))}
        />
      }
      list={
        <Rows
          list={list}
          label="Instructions"
          noun="instructions"
          topics={["instructions"]}
          selected={id}
          keep={filter.words.length > 0 ? ({ thing: i }) => holds(filter.words, i.content, i.session_id, i.instruction_id) : undefined}
          href={(row) => link({ view: "instructions", id: row.id, filter: route.value.filter })}
          row={({ thing: i, left }) => (
            <>
              <span class="row-top">
                <span class="row-title"><Text of={firstLine(i.content, 160)} /></span>
                <span class="row-age"><Age of={i.created_at} /></span>
              </span>
              <span class="row-under">
                {left ? <span class="state">moved on</span> : <State of={i.state} />}
                <span>{sendsOf(i)}</span>
                <Text of={i.session_id} />
              </span>
            </>
          )}
          empty={<Empty title={route.value.filter === "" ? "There are no instructions." : "No instruction matches."} />}
        />
      }
      detail={<InstructionPane id={id} />}
      nothing={<Empty title="Choose an instruction." />}
    />
  );
}

function sendsOf(i: Instruction): string {
  return i.tracked ? `sent ${i.sends} of ${i.sends_max}` : "not tracked";
}

export function InstructionPane({ id }: { id: string }): JSX.Element {
  const { at } = route.value;
  const { value, fault, reload } = useThing(id, () => get("list_instructions", address`/api/instructions/${id}`, at), ["instructions"], id);
  const i = value.value?.items[0];
  if (!i) return fault.value ? <Trouble fault={fault.value} again={reload} /> : <Waiting what="the instruction" />;
  const lives = i.state === "armed" || i.state === "queued" || i.state === "sent";
  return (
    <article class="detail" aria-labelledby="detail-title">
      {fault.value && <Trouble fault={fault.value} again={reload} />}
      <header>
        <h2 id="detail-title" tabIndex={-1}><Text of={firstLine(i.content, 200)} /></h2>
        <p class="under">
          <State of={i.state} note={i.reason} />
          <Id of={i.instruction_id} />
          <Formatting />
        </p>
      </header>
      <Journey of={i} />
      <section>
        <h3>Content</h3>
        <Prose of={i.content} label="Content" />
      </section>
      <section>
        <h3>About it</h3>
        <Facts>
          <Fact name="Session"><a href={link({ view: "instructions", filter: `session:${i.session_id}` })}><Text of={i.session_id} /></a></Fact>
          <Fact name="Ahead of others">{i.priority && "yes"}</Fact>
          <Fact name="Acknowledged by">{i.acknowledged_by === "event" ? "an event that matched" : i.acknowledged_by}</Fact>
          <Fact name="Acknowledged too late">{i.late_ack_at && <At of={i.late_ack_at} />}</Fact>
          <Fact name="An event that makes it due">
            {i.trigger && <code><Text of={[rule(i.trigger), i.trigger.path].filter(Boolean).join(" ")} /></code>}
          </Fact>
          <Fact name="An event that acknowledges it">
            {i.ack_on && <code><Text of={rule(i.ack_on)} /></code>}
          </Fact>
        </Facts>
      </section>
      <section class="buttons" aria-label="Actions">
        {lives && (
          <Act
            label="Cancel the instruction"
            danger
            done="The instruction is cancelled."
            question="It will not be sent again. Cancel it?"
            run={async (key) => {
              await post("cancel_instruction", address`/api/instructions/${id}/cancel`, at, {}, key);
              await reload();
            }}
          />
        )}
        {i.state === "failed" && (
          <Act
            label="Queue it again"
            done="It is queued again, as a new instruction."
            run={async (key) => {
              const again = await post("queue_instruction_with_ack", "/api/instructions", at, repeated(i), key);
              location.hash = link({ view: "instructions", id: again.instruction_id, filter: route.value.filter });
            }}
          />
        )}
      </section>
      <Raw of={i} at={address`/api/instructions/${id}`} />
    </article>
  );
}

/** Queues the same instruction again. The failed one stays in the record. */
export function repeated(i: Instruction) {
  return {
    content: i.content,
    session_id: i.session_id,
    priority: i.priority,
    max_retries: i.sends_max - 1,
    ...(i.ack_on ? { ack_on: i.ack_on } : {}),
  };
}

/** A rule on one line. */
function rule(of: { event_type: string; match?: Record<string, unknown> }): string {
  return of.event_type + (of.match ? " " + JSON.stringify(of.match) : "");
}

/** The history of an instruction: queued, sent, ended. */
function Journey({ of: i }: { of: Instruction }): JSX.Element {
  const end = i.state === "armed" || i.state === "queued" || i.state === "sent" ? "" : i.state;
  const endAt = i.acknowledged_at ?? i.failed_at ?? i.cancelled_at;
  return (
    <ol class="journey" aria-label="How it went">
      <li class="passed">
        <strong>queued</strong>
        <At of={i.created_at} />
      </li>
      <li class={i.sends > 0 ? "passed" : ""}>
        <strong>{i.sends > 0 ? `sent ×${i.sends}` : "not sent"}{i.tracked && ` of ${i.sends_max}`}</strong>
        {i.last_sent_at && <span>last <At of={i.last_sent_at} /></span>}
      </li>
      {(i.tracked || end !== "") && (
        <li class={end === "" ? "" : `passed ended-${end}`}>
          <strong>{end || "not acknowledged yet"}</strong>
          {end !== "" && endAt && <At of={endAt} />}
        </li>
      )}
    </ol>
  );
}
