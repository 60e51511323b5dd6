// Notices for the host, until they are consumed.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Notice } from "../../../schema/gen/protocol.ts";
import { FilterBar, filterOf } from "./filter.tsx";
import { Formatting, Prose } from "./formatted.tsx";
import { plain, visible } from "./marks.ts";
import { Paged } from "./paged.ts";
import type { Row } from "./paged.ts";
import { Act, Age, At, Empty, Fact, Facts, Id, Raw, stateWord, Waiting } from "./parts.tsx";
import { go, holds, link, route } from "./route.ts";
import type { View } from "./route.ts";
import { Rows } from "./rows.tsx";
import { Split } from "./split.tsx";
import { Text } from "./text.tsx";
import { get, post } from "./wire.ts";

/** The route to the subject of a notice. */
export function whereIs(subject: string): string | undefined {
  const view: View | undefined = ({ tsk_: "tasks", run_: "runs", ins_: "instructions" } as const)[subject.slice(0, 4)];
  return view && link({ view, id: subject });
}

/** A kind such as task.awaiting_response as words. */
function kindWord(kind: string): string {
  return stateWord(kind.replaceAll(".", " "));
}

/** A text about things with long ids, without them. */
export function withoutIds(text: string): string {
  return text.replace(/^\w+ (?:tsk|run|ins)_[\w-]+:? |[:,]? ?\b(?:tsk|run|ins|att)_[0-9a-f]{8}-[\w-]+/g, "");
}

/** Largest number of notices per call. */
const mostMarked = 500;

export function Notices(): JSX.Element {
  const { id, filter, at } = route.value;
  const list = useMemo(() => new Paged<Notice>((cursor) => get("list_notices", "/api/notices", at, { limit: 100, cursor }), (n) => n.notice_id), [at]);
  const { words } = filterOf([]);
  const matches = ({ thing: n }: Row<Notice>) => holds(words, n.text, kindWord(n.kind), n.subject_id, n.session_id);
  const open = list.rows.value.filter((row) => !row.left && matches(row)).map((row) => row.id);
  const marked = open.slice(0, mostMarked);
  const consume = async (ids: string[], key: string) => {
    await post("consume_notices", "/api/notices/consume", at, { notice_ids: ids }, key);
    go({ view: "notices", filter: route.value.filter });
    await list.restart();
  };
  const chosen = list.rows.value.find((row) => row.id === id)?.thing;
  return (
    <Split
      view="notices"
      title="Notices"
      id={id}
      filter={filter}
      head={
        <>
          <FilterBar example="words" />
          {marked.length > 0 && (
            <Act
              label={list.complete.value && marked.length === open.length ? `Mark ${marked.length} as seen` : `Mark the first ${marked.length} as seen`}
              question="A host that has not read them will not be told of them again. Mark them as seen?"
              done="They are marked as seen."
              what={marked.join(" ")}
              run={(key) => consume(marked, key)}
            />
          )}
        </>
      }
      list={
        <Rows
          list={list}
          label="Notices"
          noun="notices"
          topics={["notices"]}
          selected={id}
          keep={words.length > 0 ? matches : undefined}
          href={(row) => link({ view: "notices", id: row.id, filter })}
          row={({ thing: n, left }) => (
            <>
              <span class="row-top">
                <span class="row-title">{kindWord(n.kind)}</span>
                <span class="row-age">{left ? "seen" : <Age of={n.created_at} />}</span>
              </span>
              <span class="row-under"><Text of={plain(withoutIds(n.text), 200)} /><Text of={n.session_id} /></span>
            </>
          )}
          empty={
            words.length > 0 ? <Empty title="No notice matches." /> : <Empty title="No notices are open.">Work that ends or asks leaves a notice here until it is marked as seen.</Empty>
          }
        />
      }
      detail={chosen ? <NoticePane key={chosen.notice_id} of={chosen} consume={consume} /> : list.ready.value ? <Empty title="The notice was marked as seen." /> : <Waiting what="the notice" />}
      nothing={<Empty title="Choose a notice." />}
    />
  );
}

function NoticePane({ of: n, consume }: { of: Notice; consume: (ids: string[], key: string) => Promise<void> }): JSX.Element {
  const where = whereIs(n.subject_id);
  return (
    <article class="detail" aria-labelledby="detail-title">
      <header>
        <h2 id="detail-title" tabIndex={-1}>{kindWord(n.kind)}</h2>
        <p class="under"><span><At of={n.created_at} /></span><Id of={n.notice_id} /><Formatting /></p>
      </header>
      <Prose of={n.text} label="Notice" />
      <Facts>
        <Fact name="About">{where ? <a href={where}>{visible(n.subject_id)}</a> : <Text of={n.subject_id} />}</Fact>
        <Fact name="For session">{n.session_id && <Text of={n.session_id} />}</Fact>
        <Fact name="Handed out">{n.deliveries} ×</Fact>
      </Facts>
      <div class="buttons">
        <Act label="Mark as seen" done="It is marked as seen." run={(key) => consume([n.notice_id], key)} />
      </div>
      <Raw of={n} at="/api/notices" />
    </article>
  );
}
