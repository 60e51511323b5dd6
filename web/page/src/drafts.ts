// A draft is an unsent answer. It is in the session storage of the tab, which survives a reload, a lost connection
// and a restart of waybill at the same address.

export interface Draft {
  text: string;
  /** The attempt of the question, and the beginning of the question; "" without a text. */
  attempt: string;
  question: string;
  /** A sent answer with an unknown outcome. */
  sent?: Sent | undefined;
  /** An accepted answer to the same question while more was typed. */
  taken?: string | undefined;
}

/** The sent request. Repeated with its key, it takes effect once. */
export interface Sent {
  text: string;
  attempt: string;
  /** The name under it, or "". */
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
      return noDraft; // Another program wrote this entry; it is no draft.
    }
  }

  /** Stores a draft. Returns false if there was no room. */
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

/** A draft with unknown fields counts as one for another question, so that it is not sent unseen. */
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

/** The key of a reply that takes no more text, because a press sends it. */
export interface Press {
  key: string;
  shiftKey: boolean;
  altKey: boolean;
  isComposing: boolean;
  keyCode: number;
}

/**
 * Whether a key press sends. During composition with an input method, Enter chooses a word. Browsers report that as
 * isComposing, and one of them only as key code 229.
 */
export function sends(press: Press): boolean {
  return press.key === "Enter" && !press.shiftKey && !press.altKey && !press.isComposing && press.keyCode !== 229;
}

export const maxReplyBytes = 64 * 1024;

export function replyBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
