// A draft is an answer that was not sent yet. It lies in the session storage of the tab, which a reload, a lost
// connection and a restart of waybill at the same address do not touch.

export interface Draft {
  text: string;
  /** Goes with the text: sent twice, the same text takes effect once. */
  key: string;
}

type Shelf = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const prefix = "waybill.draft.";

export class Drafts {
  constructor(
    private readonly shelf: Shelf,
    private readonly newKey: () => string,
  ) {}

  get(task: string): Draft {
    const stored = this.shelf.getItem(prefix + task);
    if (stored !== null) {
      try {
        const draft = JSON.parse(stored) as Partial<Draft>;
        if (typeof draft.text === "string" && typeof draft.key === "string") return { text: draft.text, key: draft.key };
      } catch {
        // Somebody else wrote there; it is no draft.
      }
    }
    return { text: "", key: this.newKey() };
  }

  /** Keeps a text. Another text is another answer, so it gets another key. False says that there was no room. */
  put(task: string, text: string): boolean {
    const before = this.get(task);
    try {
      if (text === "") this.shelf.removeItem(prefix + task);
      else if (text !== before.text) this.shelf.setItem(prefix + task, JSON.stringify({ text, key: this.newKey() }));
      return true;
    } catch {
      return false;
    }
  }

  drop(task: string): void {
    this.shelf.removeItem(prefix + task);
  }
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
