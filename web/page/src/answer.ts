// What a person answers to a task: what is typed, which question it is for, and what became of what was sent. It knows
// nothing of how that looks.
//
// The rule: a text goes to the question that was on the page when it was begun, or to the one that the person then
// chooses for it, and to no other; and nothing that was typed is lost without having been sent or given up.
import { computed, signal } from "@preact/signals";
import type { Reply, TaskDetail } from "../../../schema/gen/protocol.ts";
import { maxReplyBytes, noDraft, replyBytes } from "./drafts.ts";
import type { Draft, Drafts, Sent } from "./drafts.ts";
import { cut } from "./marks.ts";
import { asFault, newKey } from "./wire.ts";
import type { Fault } from "./wire.ts";

/** The way to the task. */
export interface Way {
  look(): Promise<TaskDetail>;
  post(sent: Sent): Promise<unknown>;
}

/** What came of sending: "late" if the task waits no more, "changed" if it asks something else. */
export type Outcome = "taken" | "late" | "changed" | "failed" | "blocked";

/** How much of a question is kept to remind of it. */
const reminder = 400;

export class Answer {
  readonly draft;
  readonly sending = signal(false);
  readonly fault = signal<Fault | undefined>(undefined);

  private readonly seen;
  /** What was sent before the last one, and may still arrive. */
  private former: Sent[] = [];
  /** The last attempt that asked, as far as it was seen here. */
  private readonly asked;
  /** The attempt whose question was answered from here last; what was read of the task may be older than that. */
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

  /** Whether the text was written for another question than the one that is asked. */
  readonly strays = computed(() => !this.blank.value && this.waits.value !== undefined && this.draft.value.attempt !== this.waits.value);

  /** Whether nothing can be sent as it stands. */
  readonly blocked = computed(
    () => this.blank.value || this.tooLong.value || this.sending.value || this.strays.value || this.waits.value === undefined,
  );

  /** Whether something was answered from here, and not asked again since. */
  readonly answered = computed(() => this.done.value !== undefined && this.waits.value === undefined);

  /** How the task stands now, and who answered the question that the text was written for. */
  readonly fate = computed((): { status: string; reply: Reply | undefined } => {
    const { task, replies } = this.seen.value;
    const attempt = this.blank.value ? this.asked.value : this.draft.value.attempt;
    return { status: task.status, reply: replies.find((r) => r.attempt_id === attempt) };
  });

  /** Takes in how the task stands, and says whether an answer turns out to have been taken that nobody had known of. */
  learn(detail: TaskDetail): boolean {
    this.seen.value = detail;
    const asking = askerOf(detail);
    if (asking !== undefined) this.asked.value = asking;
    return this.recognise(detail);
  }

  /** Says whether an answer is at the task that nobody had known of whether it had arrived. */
  private recognise(detail: TaskDetail): boolean {
    const replyTo = (sent: Sent) => detail.replies.find((r) => r.attempt_id === sent.attempt);
    const ours = this.unknown().find((sent) => replyTo(sent)?.reply === sent.text && (replyTo(sent)?.by ?? "") === sent.by);
    if (ours) return this.took(ours);
    const { sent } = this.draft.value;
    if (sent && replyTo(sent)) this.forget(sent); // the question has its answer, and it is another one
    return false;
  }

  /** What was sent, and nobody knows whether it was taken. */
  private unknown(): Sent[] {
    const { sent } = this.draft.value;
    return sent ? [sent, ...this.former] : this.former;
  }

  /** Takes what is typed. A text that is begun is for the question that is asked now. False: it could not be stored. */
  type(text: string): boolean {
    const before = this.draft.value;
    if (!this.blank.value) return this.put({ ...before, text });
    return this.put({ ...this.question(), text, sent: before.sent });
  }

  /** Makes the text one for the question that is asked now. */
  readdress(): void {
    const { text, sent } = this.draft.value;
    this.put({ ...this.question(), text, sent });
  }

  discard(): void {
    this.put(noDraft);
    this.fault.value = undefined;
  }

  /** Sends what is there now. What is typed from here on is not part of it. */
  async send(by: string): Promise<Outcome> {
    if (this.blocked.value) return "blocked";
    const { text, attempt, sent: before } = this.draft.value;
    // What may have arrived already goes as it went, before anything is read: only so the answer tells what became of it.
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
    // That the second of two was refused says nothing of the first, unless its key is no good.
    if ((!again && fault.outcome === "not_applied") || fault.code === "IDEMPOTENCY_MISMATCH") this.forget(sent);
    if (fault.status === 409) {
      const fresh = await this.way.look().catch(() => undefined);
      if (fresh && askerOf(fresh) !== sent.attempt) return this.missed(fresh);
    }
    this.fault.value = fault;
    return "failed";
  }

  /** What the task asks now is no question to answer here before it is on the page, which then says so by learn. */
  private missed(fresh: TaskDetail): Outcome {
    if (askerOf(fresh) !== undefined) return this.recognise(fresh) ? "taken" : "changed";
    return this.learn(fresh) ? "taken" : "late";
  }

  /** Notes that an answer was taken. What was typed behind it stays. False: that was known. */
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

/** What is being sent: whoever leaves a task meanwhile and comes back to it goes on with the same. */
const underWay = new Map<string, Answer>();

export function answerTo(detail: TaskDetail, drafts: Drafts, way: Way): Answer {
  const { task_id } = detail.task;
  return underWay.get(task_id) ?? new Answer(task_id, detail, drafts, way);
}
