// The box in which a person answers a task.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Reply, TaskDetail } from "../../../schema/gen/protocol.ts";
import { announce } from "./announce.tsx";
import { Drafts, maxReplyBytes, replyBytes, sends } from "./drafts.ts";
import { cut } from "./marks.ts";
import { stateWord, Trouble } from "./parts.tsx";
import { me } from "./settings.ts";
import { Text } from "./text.tsx";
import { address, asFault, get, newKey, post } from "./wire.ts";
import type { Fault } from "./wire.ts";
import { bytes } from "./words.ts";

export const drafts = new Drafts(sessionStorage, newKey);

interface Props {
  detail: TaskDetail;
  /** Reads the task again. */
  reload: () => Promise<void>;
  /** Called when the answer was taken. */
  sent: () => void;
}

/** Somebody or something else was faster: what is known of it. */
interface Late {
  status: string;
  answer: Reply | undefined;
}

function lateOf({ task, replies }: TaskDetail, asked: string | undefined): Late {
  return { status: task.status, answer: replies.find((r) => r.attempt_id === asked) };
}

/**
 * The box is there while the task waits for an answer. It also stays, and takes no more text, when somebody else
 * answers meanwhile and there is a draft in it: what a person has typed does not vanish under their hands.
 */
export function ReplyBox({ detail, reload, sent }: Props): JSX.Element | null {
  const id = detail.task.task_id;
  const text = useSignal("");
  const sending = useSignal(false);
  const fault = useSignal<Fault | undefined>(undefined);
  const late = useSignal<Late | undefined>(undefined);
  const changed = useSignal(false);
  const area = useRef<HTMLTextAreaElement>(null);
  /** The attempt whose question was read: it is this one that is answered. */
  const asked = useRef(detail.task.current_attempt_id);

  useLayoutEffect(() => {
    text.value = drafts.get(id).text;
    asked.current = detail.task.current_attempt_id;
    fault.value = late.value = undefined;
    changed.value = false;
  }, [id]);
  useLayoutEffect(() => grow(area.current), [text.value, detail.task.status]);

  const waits = detail.task.status === "AWAITING_RESPONSE";
  useEffect(() => {
    if (waits && asked.current !== detail.task.current_attempt_id) {
      changed.value = text.value.trim() !== "";
      asked.current = detail.task.current_attempt_id;
    }
    if (waits) late.value = undefined;
  }, [waits, detail.task.current_attempt_id]);

  if (!waits && text.value.trim() === "" && !late.value) return null;
  const size = replyBytes(text.value);
  const blank = text.value.trim() === "";
  const blocked = blank || sending.value || !waits || size > maxReplyBytes;

  // Whoever is told of it before having sent anything wants to know the same.
  const told = late.value ?? (waits ? undefined : lateOf(detail, asked.current));

  const tooLate = async (fresh: TaskDetail) => {
    late.value = lateOf(fresh, asked.current);
    announce("The task was not waiting any more. Your text is kept.");
    await reload();
  };

  const submit = async () => {
    if (blocked) return;
    sending.value = true;
    fault.value = undefined;
    changed.value = false;
    try {
      const fresh = await get("get_task", address`/api/tasks/${id}`);
      if (fresh.task.status !== "AWAITING_RESPONSE") return await tooLate(fresh);
      if (fresh.task.current_attempt_id !== asked.current) {
        changed.value = true;
        return await reload();
      }
      const body = { reply: text.value, attempt_id: asked.current, ...(me.value === "" ? {} : { by: me.value }) };
      await post("reply", address`/api/tasks/${id}/reply`, body, drafts.get(id).key);
      drafts.drop(id);
      text.value = "";
      late.value = undefined;
      announce("Your answer was taken. The task goes on.");
      sent();
      await reload();
    } catch (thrown) {
      const refused = asFault(thrown);
      const fresh = refused.status === 409 ? await get("get_task", address`/api/tasks/${id}`).catch(() => undefined) : undefined;
      if (fresh && fresh.task.status !== "AWAITING_RESPONSE") await tooLate(fresh);
      else fault.value = refused;
    } finally {
      sending.value = false;
    }
  };

  const type = (typed: string) => {
    text.value = typed;
    if (!drafts.put(id, typed)) announce("The browser has no room left to keep this draft.");
  };

  const discard = () => {
    drafts.drop(id);
    text.value = "";
    late.value = undefined;
  };

  return (
    <form
      class="reply"
      aria-label="Reply"
      onSubmit={(e) => {
        e.preventDefault();
        void submit();
      }}
    >
      {changed.value && (
        <p class="hint wait" role="alert">
          The task asks something else now. Read the question above, then send again or change your text.
        </p>
      )}
      {told && <TooLate late={told} />}
      <textarea
        ref={area}
        id="reply"
        rows={1}
        value={text.value}
        placeholder="Type your reply..."
        aria-label="Your reply"
        aria-describedby="reply-keys"
        readOnly={!waits}
        spellcheck={true}
        autocomplete="off"
        dir="auto"
        // Some browsers only scroll to the line that is typed, and leave the rest of the box out of sight.
        onFocus={(e) => e.currentTarget.scrollIntoView({ block: "nearest" })}
        onInput={(e) => type(e.currentTarget.value)}
        onKeyDown={(e) => {
          if (!sends(e)) return;
          e.preventDefault();
          void submit();
        }}
      />
      <div class="reply-foot">
        <span id="reply-keys" class="faint">
          {footnote(waits, size)}
        </span>
        {waits ? (
          <button type="submit" class="primary" disabled={blank || size > maxReplyBytes} aria-disabled={blocked}>
            {sending.value ? "Sending…" : "Send reply"}
          </button>
        ) : (
          <button type="button" onClick={discard}>Discard</button>
        )}
      </div>
      {fault.value && <Trouble fault={fault.value} />}
      {fault.value?.outcome === "unknown" && <p class="hint">It is not known whether the answer arrived. Send it again: it takes effect once.</p>}
    </form>
  );
}

function footnote(waits: boolean, size: number): string {
  if (!waits) return "Copy what you need of it.";
  return size > maxReplyBytes ? `${bytes(size)}: an answer may have ${bytes(maxReplyBytes)}` : "Enter sends, Shift+Enter begins a line";
}

function TooLate({ late }: { late: Late }): JSX.Element {
  return (
    <p class="hint wait" role="alert">
      {late.answer ? (
        <>
          Answered by {late.answer.by ? <Text of={late.answer.by} /> : "somebody else"}: <q><Text of={cut(late.answer.reply, 400)} /></q> Your text was
          not sent and is kept.
        </>
      ) : (
        <>The task is {stateWord(late.status)} now. Your text was not sent and is kept.</>
      )}
    </p>
  );
}

/** Makes the box as high as its text, up to a height that the style sheet sets; then it scrolls. */
function grow(area: HTMLTextAreaElement | null): void {
  if (!area || CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
}
