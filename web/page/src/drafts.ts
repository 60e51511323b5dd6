// A draft is an answer that was not sent yet. It lies in the session storage of the tab, which a reload, a lost
// connection and a restart of waybill at the same address do not touch.

export interface Draft {
  text: string;
  /** The attempt whose question the text is for, and the beginning of that question; "" as long as there is no text. */
  attempt: string;
  question: string;
  /** An answer that was sent, as long as nobody knows whether it was taken. */
  sent?: Sent | undefined;
  /** An answer to the same question that was taken while more was typed. */
  taken?: string | undefined;
}

/** Everything that was sent. Sent again as it is, with its key, it takes effect once. */
export interface Sent {
  text: string;
  attempt: string;
  /** Whose name it bears, or "". */
  by: string;
  key: string;
}

export const noDraft: Draft = { text: "", attempt: "", question: "" };

type Shelf = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const prefix = "waybill.draft.";

export class Drafts {
  constructor(private readonly shelf: Shelf) {}

  get(task: string): Draft {
    const stored = this.shelf.getItem(prefix + task);
    if (stored === null) return noDraft;
    try {
      return draftOf(JSON.parse(stored) as unknown);
    } catch {
      return noDraft; // Somebody else wrote there; it is no draft.
    }
  }

  /** Keeps a draft. False says that there was no room. */
  put(task: string, draft: Draft): boolean {
    try {
      if (draft.text === "" && !draft.sent) this.shelf.removeItem(prefix + task);
      else this.shelf.setItem(prefix + task, JSON.stringify(draft));
      return true;
    } catch {
      return false;
    }
  }
}

/** What is not known of a draft makes it one for another question, which is not sent before it was looked at. */
function draftOf(stored: unknown): Draft {
  const { text, attempt, question, sent, taken } = (stored ?? {}) as Record<string, unknown>;
  if (typeof text !== "string") return noDraft;
  return { text, attempt: word(attempt), question: word(question), sent: sentOf(sent), taken: typeof taken === "string" ? taken : undefined };
}

function sentOf(stored: unknown): Sent | undefined {
  const { text, attempt, by, key } = (stored ?? {}) as Record<string, unknown>;
  if (typeof text !== "string" || typeof attempt !== "string" || typeof by !== "string" || typeof key !== "string") return undefined;
  return { text, attempt, by, key };
}

function word(stored: unknown): string {
  return typeof stored === "string" ? stored : "";
}

/** The key of a reply to which nothing may be added: whoever presses it wants it sent. */
export interface Press {
  key: string;
  shiftKey: boolean;
  altKey: boolean;
  isComposing: boolean;
  keyCode: number;
}

/**
 * Whether a press of a key sends. While an input method composes, Enter chooses a word: browsers say so by
 * isComposing, and one of them, for which composing is over by then, by key code 229 alone.
 */
export function sends(press: Press): boolean {
  return press.key === "Enter" && !press.shiftKey && !press.altKey && !press.isComposing && press.keyCode !== 229;
}

export const maxReplyBytes = 64 * 1024;

export function replyBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
