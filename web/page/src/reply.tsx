// The box in which a person answers a task.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { TaskDetail } from "../../../schema/gen/protocol.ts";
import { announce } from "./announce.tsx";
import { answerTo } from "./answer.ts";
import type { Answer, Outcome } from "./answer.ts";
import { Drafts, maxReplyBytes, replyBytes, sends } from "./drafts.ts";
import { cut } from "./marks.ts";
import { Answered } from "./next.tsx";
import { Dialog, stateWord, Trouble } from "./parts.tsx";
import { route } from "./route.ts";
import { me } from "./settings.ts";
import { Text } from "./text.tsx";
import { address, get, post } from "./wire.ts";
import { bytes, instant } from "./words.ts";

const drafts = new Drafts(sessionStorage);

interface Props {
  detail: TaskDetail;
  /** Reads the task again. */
  reload: () => Promise<void>;
  /** Moves the focus to the title of the task. */
  leave: () => void;
}

const outcomes: Partial<Record<Outcome, string>> = {
  late: "The task no longer waits for a reply. Your text is kept.",
  changed: "Not sent: the task asks something else now. Your text is kept.",
};

/** The answer to a task, the same object for as long as the task is shown. */
function useAnswer(detail: TaskDetail): Answer {
  const id = detail.task.task_id;
  const { at } = route.value;
  const answer = useMemo(() => {
    const look = () => get("get_task", address`/api/tasks/${id}`, at);
    return answerTo(detail, drafts, {
      look,
      post: ({ text, attempt, by, key }) =>
        post("reply", address`/api/tasks/${id}/reply`, at, { reply: text, attempt_id: attempt, ...(by === "" ? {} : { by }) }, key),
    });
  }, [at, id]);
  useLayoutEffect(() => void answer.learn(detail), [answer, detail]);
  return answer;
}

/**
 * The box is there while the task waits for an answer. It stays, read-only, while it has a draft or the focus after
 * that, so that no text vanishes and typing does not become commands.
 */
export function ReplyBox({ detail, reload, leave }: Props): JSX.Element | null {
  const answer = useAnswer(detail);
  const focused = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);

  const { text } = answer.draft.value;
  const waits = answer.waits.value !== undefined;
  const blank = answer.blank.value;
  useLayoutEffect(() => grow(area.current), [text, waits]);

  // The focused element may vanish; then the box gets the focus, or else the title of the task.
  const held = form.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (!held || !lost()) return;
    if (area.current) area.current.focus();
    else leave();
  });

  const done = answer.done.value;
  const before = useRef(done);
  useEffect(() => {
    if (before.current !== done) announce(blank ? "Your answer was accepted. The task continues." : "Your answer was accepted. The text that you typed after it is kept.");
    before.current = done;
  }, [done]);

  const submit = async () => {
    if (answer.strays.value) announce("Not sent: you wrote this text for another question.");
    const outcome = await answer.send(me.value);
    const sentence = outcomes[outcome];
    if (sentence !== undefined) announce(sentence);
    if (outcome !== "blocked" && outcome !== "failed") await reload();
  };

  const options = detail.task.options ?? [];
  // A closed question has no box, unless a text of the person would vanish with it.
  const closed = waits && detail.task.allow_text === false && (blank || options.some((o) => o.label === text));
  const choose = (label: string) => {
    answer.type(label);
    void submit();
  };

  if (answer.answered.value && blank) return <Answered task={detail.task.task_id} />;
  // Some browsers send no event when the focused element vanishes.
  const typing = focused.value && document.activeElement === area.current;
  if (!waits && blank && !typing) return null;
  return (
    <form
      ref={form}
      class="reply"
      aria-label="Reply"
      onSubmit={(e) => {
        e.preventDefault();
        void submit();
      }}
    >
      {(!waits || answer.strays.value) && <Astray answer={answer} />}
      {waits && options.length > 0 && <Options task={detail.task} text={text} blocked={answer.sending.value || answer.strays.value} choose={choose} />}
      {!closed && <textarea
        ref={area}
        id="reply"
        rows={1}
        value={text}
        placeholder="Type your reply..."
        aria-label="Your reply"
        aria-describedby="reply-keys"
        readOnly={!waits}
        spellcheck={true}
        autocomplete="off"
        dir="auto"
        onInput={(e) => {
          if (!answer.type(e.currentTarget.value)) announce("The browser has no room left to keep this draft.");
        }}
        onKeyDown={(e) => {
          if (!sends(e)) return;
          e.preventDefault();
          void submit();
        }}
        onFocus={(e) => {
          focused.value = true;
          // Some browsers scroll only to the typed line.
          e.currentTarget.scrollIntoView({ block: "nearest" });
        }}
        onBlur={(e) => (focused.value = document.activeElement === e.currentTarget)} // still true if the window lost the focus
      />}
      <div class="reply-foot">
        <span id="reply-keys" class="faint">
          {closed ? "" : footnote(waits, blank, replyBytes(text))}
        </span>
        <span class="buttons">
          {waits && !closed && (
            <button type="submit" class="primary" disabled={blank || answer.tooLong.value} aria-disabled={answer.blocked.value}>
              {answer.sending.value ? "Sending…" : "Send reply"}
            </button>
          )}
          {!blank && (!waits || answer.strays.value) && <Discard discard={() => answer.discard()} />}
        </span>
      </div>
      {answer.fault.value && !answer.strays.value && <Trouble fault={answer.fault.value} lead={answer.fault.value.outcome === "not_applied" ? "Not sent, your text is kept." : "Your text is kept."} />}
      <Unknown answer={answer} />
    </form>
  );
}

interface Choice {
  task: TaskDetail["task"];
  text: string;
  blocked: boolean;
  choose: (label: string) => void;
}

/** A button for each option. While a text is typed they rest, so that none of it is lost. */
function Options({ task, text, blocked, choose }: Choice): JSX.Element {
  return (
    <div class="options" role="group" aria-label="Options">
      {task.options?.map(({ label, detail }) => (
        <button type="button" key={label} disabled={blocked || (text.trim() !== "" && text !== label)} onClick={() => choose(label)}>
          <b><Text of={label} /></b>
          {label === task.default && <span class="faint"> default</span>}
          {detail && <span class="faint"><Text of={detail} /></span>}
        </button>
      ))}
      {task.default_at && <p class="hint">Time takes the default at <time dateTime={task.default_at}>{instant(task.default_at)}</time>.</p>}
    </div>
  );
}

/** One press must not destroy a draft. */
function Discard({ discard }: { discard: () => void }): JSX.Element {
  const asking = useSignal(false);
  return (
    <>
      <button type="button" onClick={() => (asking.value = true)}>Discard</button>
      {asking.value && (
        <Dialog title="Discard your text?" close={() => (asking.value = false)}>
          <p>You cannot get it back.</p>
          <p class="buttons">
            <button type="button" class="danger" onClick={discard}>Discard it</button>
            <button type="button" autofocus onClick={() => (asking.value = false)}>Keep it</button>
          </p>
        </Dialog>
      )}
    </>
  );
}

/** Whether no element that takes keys has the focus. */
function lost(): boolean {
  const at = document.activeElement;
  return at === null || at === document.body || at.matches(":disabled");
}

function footnote(waits: boolean, blank: boolean, size: number): string {
  if (!waits) return blank ? "" : "Copy the text that you need.";
  return size > maxReplyBytes ? `${bytes(size)}: an answer may have ${bytes(maxReplyBytes)}` : "Enter sends, Shift+Enter begins a line";
}

/** Says why the text cannot be sent: the task no longer waits, or asks something else. */
function Astray({ answer }: { answer: Answer }): JSX.Element {
  const { question } = answer.draft.value;
  const strays = answer.strays.value;
  return (
    <div class="hint wait astray">
      <p role="alert">
        {strays && (
          <>
            The task asks something else now. You wrote this
            {question === "" ? " for another question" : <> when it asked: <Said of={question} /></>}.{" "}
          </>
        )}
        <Fate answer={answer} />
      </p>
      {strays && <button type="button" onClick={() => answer.readdress()}>Answer this question instead</button>}
    </div>
  );
}

/** The outcome of the question and of the text. */
function Fate({ answer }: { answer: Answer }): JSX.Element | null {
  const { taken, sent } = answer.draft.value;
  if (taken !== undefined) return <>Your answer <Said of={taken} /> was taken. What you typed behind it was not sent and is kept.</>;
  const { status, reply } = answer.fate.value;
  const kept = answer.blank.value ? null : sent ? " Your text is kept." : " Your text was not sent and is kept.";
  if (reply) return <>Answered by {reply.by_time ? "time, with the default" : reply.by ? <Text of={reply.by} /> : "somebody else"}: <Said of={reply.reply} />{kept}</>;
  if (answer.strays.value) return <>{kept}</>;
  return <>The task is {stateWord(status)} now.{kept}</>;
}

/** Says that the outcome of a sent answer is unknown. */
function Unknown({ answer }: { answer: Answer }): JSX.Element | null {
  const { text, attempt, sent } = answer.draft.value;
  if (!sent || answer.sending.value) return null;
  const same = text === sent.text && attempt === sent.attempt;
  return (
    <p class="hint">
      {same ? (
        <>waybill could not find out whether the answer arrived.{answer.waits.value === attempt && " Send it again: it takes effect once."}</>
      ) : (
        <>waybill could not find out whether <Said of={sent.text} />, which you sent before, arrived.</>
      )}
    </p>
  );
}

function Said({ of }: { of: string }): JSX.Element {
  return <q><Text of={cut(of, 400)} /></q>;
}

/** Fits the box to its text, up to the height in the style sheet. */
function grow(area: HTMLTextAreaElement | null): void {
  if (!area || CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
}
