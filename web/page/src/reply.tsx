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
import { me } from "./settings.ts";
import { Text } from "./text.tsx";
import { address, get, post } from "./wire.ts";
import { bytes } from "./words.ts";

const drafts = new Drafts(sessionStorage);

interface Props {
  detail: TaskDetail;
  /** Reads the task again. */
  reload: () => Promise<void>;
  /** Gives the focus to the title of the task. */
  leave: () => void;
}

const outcomes: Partial<Record<Outcome, string>> = {
  late: "The task was not waiting any more. Your text is kept.",
  changed: "Not sent: the task asks something else now. Your text is kept.",
};

/** The answer to a task. It stays the same as long as the task is shown. */
function useAnswer(detail: TaskDetail): Answer {
  const id = detail.task.task_id;
  const answer = useMemo(() => {
    const look = () => get("get_task", address`/api/tasks/${id}`);
    return answerTo(detail, drafts, {
      look,
      post: ({ text, attempt, by, key }) =>
        post("reply", address`/api/tasks/${id}/reply`, { reply: text, attempt_id: attempt, ...(by === "" ? {} : { by }) }, key),
    });
  }, [id]);
  useLayoutEffect(() => void answer.learn(detail), [answer, detail]);
  return answer;
}

/**
 * The box is there while the task waits for an answer. It also stays, and takes no more text, when the task waits no
 * more and there is a draft in it, or the focus: what a person has typed does not vanish under their hands, and what
 * they type on does not become commands.
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

  // What has the focus may go with this: then the box gets it, and if that goes, too, the title of the task.
  const held = form.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (!held || !lost()) return;
    if (area.current) area.current.focus();
    else leave();
  });

  const done = answer.done.value;
  const before = useRef(done);
  useEffect(() => {
    if (before.current !== done) announce(blank ? "Your answer was taken. The task goes on." : "Your answer was taken. What you typed behind it is kept.");
    before.current = done;
  }, [done]);

  const submit = async () => {
    if (answer.strays.value) announce("Not sent: you wrote it for another question.");
    const outcome = await answer.send(me.value);
    const sentence = outcomes[outcome];
    if (sentence !== undefined) announce(sentence);
    if (outcome !== "blocked" && outcome !== "failed") await reload();
  };

  if (answer.answered.value && blank) return <Answered task={detail.task.task_id} />;
  // Not every browser tells that the focus left with what had it.
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
      <textarea
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
          // Some browsers only scroll to the line that is typed, and leave the rest of the box out of sight.
          e.currentTarget.scrollIntoView({ block: "nearest" });
        }}
        onBlur={(e) => (focused.value = document.activeElement === e.currentTarget)} // it is if the window has lost the focus
      />
      <div class="reply-foot">
        <span id="reply-keys" class="faint">
          {footnote(waits, blank, replyBytes(text))}
        </span>
        <span class="buttons">
          {waits && (
            <button type="submit" class="primary" disabled={blank || answer.tooLong.value} aria-disabled={answer.blocked.value}>
              {answer.sending.value ? "Sending…" : "Send reply"}
            </button>
          )}
          {!blank && (!waits || answer.strays.value) && <Discard discard={() => answer.discard()} />}
        </span>
      </div>
      {answer.fault.value && !answer.strays.value && <Trouble fault={answer.fault.value} />}
      <Unknown answer={answer} />
    </form>
  );
}

/** What was typed is not destroyed by one press. */
function Discard({ discard }: { discard: () => void }): JSX.Element {
  const asking = useSignal(false);
  return (
    <>
      <button type="button" onClick={() => (asking.value = true)}>Discard</button>
      {asking.value && (
        <Dialog title="Discard your text?" close={() => (asking.value = false)}>
          <p>It cannot be brought back.</p>
          <p class="buttons">
            <button type="button" class="danger" onClick={discard}>Discard it</button>
            <button type="button" autofocus onClick={() => (asking.value = false)}>Keep it</button>
          </p>
        </Dialog>
      )}
    </>
  );
}

/** Whether the focus is nowhere, or on something that takes no keys. */
function lost(): boolean {
  const at = document.activeElement;
  return at === null || at === document.body || at.matches(":disabled");
}

function footnote(waits: boolean, blank: boolean, size: number): string {
  if (!waits) return blank ? "" : "Copy what you need of it.";
  return size > maxReplyBytes ? `${bytes(size)}: an answer may have ${bytes(maxReplyBytes)}` : "Enter sends, Shift+Enter begins a line";
}

/** Says why what is in the box cannot be sent as it is: the task waits no more, or asks something else. */
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

/** What became of the question that the text was written for, and of the text. */
function Fate({ answer }: { answer: Answer }): JSX.Element | null {
  const { taken, sent } = answer.draft.value;
  if (taken !== undefined) return <>Your answer <Said of={taken} /> was taken. What you typed behind it was not sent and is kept.</>;
  const { status, reply } = answer.fate.value;
  const kept = answer.blank.value ? null : sent ? " Your text is kept." : " Your text was not sent and is kept.";
  if (reply) return <>Answered by {reply.by ? <Text of={reply.by} /> : "somebody else"}: <Said of={reply.reply} />{kept}</>;
  if (answer.strays.value) return <>{kept}</>;
  return <>The task is {stateWord(status)} now.{kept}</>;
}

/** Says of an answer that was sent that nobody knows whether it arrived. */
function Unknown({ answer }: { answer: Answer }): JSX.Element | null {
  const { text, attempt, sent } = answer.draft.value;
  if (!sent || answer.sending.value) return null;
  const same = text === sent.text && attempt === sent.attempt;
  return (
    <p class="hint">
      {same ? (
        <>It is not known whether the answer arrived.{answer.waits.value === attempt && " Send it again: it takes effect once."}</>
      ) : (
        <>It is not known whether <Said of={sent.text} /> arrived, which you sent before.</>
      )}
    </p>
  );
}

function Said({ of }: { of: string }): JSX.Element {
  return <q><Text of={cut(of, 400)} /></q>;
}

/** Makes the box as high as its text, up to a height that the style sheet sets; then it scrolls. */
function grow(area: HTMLTextAreaElement | null): void {
  if (!area || CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
}
