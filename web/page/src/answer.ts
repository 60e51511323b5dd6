// The answer of a person to a task: the draft, the question that it is for, and the outcome of sending. It does not
// draw.
//
// Rule: a text goes only to the question on the page when it was begun, or to one that the person chooses. No text is
// lost unless it was sent or discarded.
import { computed, signal } from "@preact/signals";
import type { Reply, TaskDetail } from "../../../schema/gen/protocol.ts";
import { maxReplyBytes, noDraft, replyBytes } from "./drafts.ts";
import type { Draft, Drafts, Sent } from "./drafts.ts";
import { cut } from "./marks.ts";
import { asFault, newKey } from "./wire.ts";
import type { Fault } from "./wire.ts";

/** Access to the task. */
export interface Way {
  look(): Promise<TaskDetail>;
  post(sent: Sent): Promise<unknown>;
}

/** Outcome of sending: "late" if the task no longer waits, "changed" if it asks something else. */
export type Outcome = "taken" | "late" | "changed" | "failed" | "blocked";

/** Length of the part of a question that is kept as a reminder. */
const reminder = 400;

export class Answer {
  readonly draft;
  readonly sending = signal(false);
  readonly fault = signal<Fault | undefined>(undefined);

  private readonly seen;
  /** Earlier sends that may still arrive. */
  private former: Sent[] = [];
  /** The last attempt with a question that this page has seen. */
  private readonly asked;
  /** The attempt whose question was answered here last. What was read of the task may be older. */
  readonly done = signal<string | undefined>(undefined);

  constructor(
    private readonly task: string,
    detail: TaskDetail,
    private readonly drafts: Drafts,
    private readonly way: Way,
    private readonly key: () => string = newKey,
  ) {
    this.draft = signal<Draft>(drafts.get(task));
    this.seen = signal(detail);
    this.asked = signal(askerOf(detail) ?? "");
  }

  /** The attempt that waits for an answer, or undefined. */
  readonly waits = computed(() => {
    const asking = askerOf(this.seen.value);
    return asking === this.done.value ? undefined : asking;
  });

  readonly blank = computed(() => this.draft.value.text.trim() === "");

  readonly tooLong = computed(() => replyBytes(this.draft.value.text) > maxReplyBytes);

  /** Whether the text was written for another question than the present one. */
  readonly strays = computed(() => !this.blank.value && this.waits.value !== undefined && this.draft.value.attempt !== this.waits.value);

  /** Whether sending is impossible now. */
  readonly blocked = computed(
    () => this.blank.value || this.tooLong.value || this.sending.value || this.strays.value || this.waits.value === undefined,
  );

  /** Whether the last question was answered here. */
  readonly answered = computed(() => this.done.value !== undefined && this.waits.value === undefined);

  /** The state of the task, and the author of the answer to the question. */
  readonly fate = computed((): { status: string; reply: Reply | undefined } => {
    const { task, replies } = this.seen.value;
    const attempt = this.blank.value ? this.asked.value : this.draft.value.attempt;
    return { status: task.status, reply: replies.find((r) => r.attempt_id === attempt) };
  });

  /** Takes the new state of the task. Returns whether it shows that an uncertain answer has arrived. */
  learn(detail: TaskDetail): boolean {
    this.seen.value = detail;
    const asking = askerOf(detail);
    if (asking !== undefined) this.asked.value = asking;
    return this.recognise(detail);
  }

  /** Returns whether the task has an answer of this page that was uncertain. */
  private recognise(detail: TaskDetail): boolean {
    const replyTo = (sent: Sent) => detail.replies.find((r) => r.attempt_id === sent.attempt);
    const ours = this.unknown().find((sent) => replyTo(sent)?.reply === sent.text && (replyTo(sent)?.by ?? "") === sent.by);
    if (ours) return this.took(ours);
    const { sent } = this.draft.value;
    if (sent && replyTo(sent)) this.forget(sent); // the question has its answer, and it is another one
    return false;
  }

  /** The text that was sent with an unknown outcome. */
  private unknown(): Sent[] {
    const { sent } = this.draft.value;
    return sent ? [sent, ...this.former] : this.former;
  }

  /** Takes the typed text. A new text is for the present question. Returns false if it was not stored. */
  type(text: string): boolean {
    const before = this.draft.value;
    if (!this.blank.value) return this.put({ ...before, text });
    return this.put({ ...this.question(), text, sent: before.sent });
  }

  /** Moves the text to the present question. */
  readdress(): void {
    const { text, sent } = this.draft.value;
    this.put({ ...this.question(), text, sent });
  }

  discard(): void {
    this.put(noDraft);
    this.fault.value = undefined;
  }

  /** Sends the present text. Later typing is not part of it. */
  async send(by: string): Promise<Outcome> {
    if (this.blocked.value) return "blocked";
    const { text, attempt, sent: before } = this.draft.value;
    // An uncertain text is sent again unchanged and first, because only then the reply tells its outcome.
    const again = before?.text === text && before.attempt === attempt;
    const sent = again ? before : { text, attempt, by, key: this.key() };
    this.sending.value = true;
    this.fault.value = undefined;
    underWay.set(this.task, this);
    try {
      if (!again) {
        const fresh = await this.way.look();
        if (askerOf(fresh) !== attempt) return this.missed(fresh);
        if (before) this.former.push(before);
        this.put({ ...this.draft.value, sent });
      }
      await this.way.post(sent);
      this.took(sent);
      return "taken";
    } catch (thrown) {
      return await this.refused(asFault(thrown), sent, again);
    } finally {
      this.sending.value = false;
      underWay.delete(this.task);
    }
  }

  private async refused(fault: Fault, sent: Sent, again: boolean): Promise<Outcome> {
    // A refusal of the second send does not show the outcome of the first, unless its key is invalid.
    if ((!again && fault.outcome === "not_applied") || fault.code === "IDEMPOTENCY_MISMATCH") this.forget(sent);
    if (fault.status === 409) {
      const fresh = await this.way.look().catch(() => undefined);
      if (fresh && askerOf(fresh) !== sent.attempt) return this.missed(fresh);
    }
    this.fault.value = fault;
    return "failed";
  }

  /** A new question must be on the page, by learn, before it can be answered. */
  private missed(fresh: TaskDetail): Outcome {
    if (askerOf(fresh) !== undefined) return this.recognise(fresh) ? "taken" : "changed";
    return this.learn(fresh) ? "taken" : "late";
  }

  /** Records that an answer was accepted. Text typed after it stays. Returns false if that was known. */
  private took(sent: Sent): boolean {
    if (!this.unknown().some(({ key }) => key === sent.key)) return false;
    const { text, attempt, question, sent: last } = this.draft.value;
    const same = attempt === sent.attempt;
    const open = last?.attempt === sent.attempt ? undefined : last; // of one question one answer is taken
    this.former = this.former.filter((other) => other.attempt !== sent.attempt);
    if (text.trim() === "" || (same && text === sent.text)) this.put({ ...noDraft, sent: open });
    else this.put({ text, attempt, question, sent: open, taken: same ? sent.text : undefined });
    this.fault.value = undefined;
    this.done.value = sent.attempt;
    return true;
  }

  private forget(sent: Sent): void {
    if (this.draft.value.sent?.key === sent.key) this.put({ ...this.draft.value, sent: undefined });
  }

  private question(): Pick<Draft, "attempt" | "question"> {
    const { task } = this.seen.value;
    return { attempt: this.waits.value ?? "", question: cut(task.question ?? task.output ?? "", reminder) };
  }

  private put(draft: Draft): boolean {
    this.draft.value = draft;
    return this.drafts.put(this.task, draft);
  }
}

/** The attempt that waits for an answer, or undefined. */
function askerOf({ task }: TaskDetail): string | undefined {
  return task.status === "AWAITING_RESPONSE" ? (task.current_attempt_id ?? "") : undefined;
}

/** Sends in progress, by task, for a person who leaves a task and returns. */
const underWay = new Map<string, Answer>();

export function answerTo(detail: TaskDetail, drafts: Drafts, way: Way): Answer {
  const { task_id } = detail.task;
  return underWay.get(task_id) ?? new Answer(task_id, detail, drafts, way);
}
